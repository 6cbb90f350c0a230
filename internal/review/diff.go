// Package review shows what a batch changes.
package review

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hexops/gotextdiff"
	"github.com/hexops/gotextdiff/myers"
	"github.com/rogpeppe/go-internal/diff"

	"github.com/git-clada/git-clada/internal/apply"
)

// Side is a file on one side of a difference.
type Side struct {
	Exists bool
	Exec   bool
	Link   bool
	Data   []byte
}

func (s Side) mode() string {
	switch {
	case s.Link:
		return "120000"
	case s.Exec:
		return "100755"
	}
	return "100644"
}

// maxMyers is the number of lines up to which gotextdiff's algorithm is used: its memory grows with the product of
// length and difference. Larger files get an anchored diff, which is linear.
const maxMyers = 2000

// Unified writes the difference of one file in the form that git apply takes.
func Unified(path string, a, b Side) string {
	var out strings.Builder
	name := quote(path)
	fmt.Fprintf(&out, "diff --git a/%s b/%s\n", name, name)
	from, to := "a/"+name, "b/"+name
	switch {
	case !a.Exists:
		fmt.Fprintf(&out, "new file mode %s\n", b.mode())
		from = "/dev/null"
	case !b.Exists:
		fmt.Fprintf(&out, "deleted file mode %s\n", a.mode())
		to = "/dev/null"
	case a.mode() != b.mode():
		fmt.Fprintf(&out, "old mode %s\nnew mode %s\n", a.mode(), b.mode())
	}
	if bytes.Equal(a.Data, b.Data) {
		return out.String()
	}
	if binary(a.Data) || binary(b.Data) {
		fmt.Fprintf(&out, "Binary files %s and %s differ\n", from, to)
		return out.String()
	}
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", from, to)
	out.WriteString(hunks(string(a.Data), string(b.Data)))
	return out.String()
}

func quote(path string) string {
	for _, r := range path {
		if apply.Invisible(r) || r == '"' || r == '\\' {
			return strings.Trim(fmt.Sprintf("%q", path), `"`)
		}
	}
	return path
}

func binary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 }

// hunks gives the hunks without file headers.
func hunks(a, b string) string {
	if strings.Count(a, "\n")+strings.Count(b, "\n") <= maxMyers {
		edits := myers.ComputeEdits("", a, b)
		return afterHeader(fmt.Sprint(gotextdiff.ToUnified("a", "b", a, edits)))
	}
	return afterHeader(string(diff.Diff("a", []byte(a), "b", []byte(b))))
}

// afterHeader drops everything before the first hunk, and mends the start of an empty side, which both engines write
// as line 1.
func afterHeader(text string) string {
	i := strings.Index(text, "@@ ")
	if i < 0 {
		return ""
	}
	text = text[i:]
	text = strings.Replace(text, "@@ -1,0 ", "@@ -0,0 ", 1)
	first, rest, _ := strings.Cut(text, "\n")
	return strings.Replace(first, " +1,0 @@", " +0,0 @@", 1) + "\n" + rest
}
