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
	if strings.Count(a, "\n")+strings.Count(b, "\n") > maxMyers {
		text := string(diff.Diff("a", []byte(a), "b", []byte(b)))
		return text[max(strings.Index(text, "\n@@ ")+1, 0):]
	}
	var out strings.Builder
	for _, h := range gotextdiff.ToUnified("a", "b", a, myers.ComputeEdits("", a, b)).Hunks {
		writeHunk(&out, h)
	}
	return out.String()
}

// writeHunk prints a hunk. The library's own printer gives an empty side one line, which git apply calls corrupt.
func writeHunk(out *strings.Builder, h *gotextdiff.Hunk) {
	var from, to int
	for _, l := range h.Lines {
		if l.Kind != gotextdiff.Insert {
			from++
		}
		if l.Kind != gotextdiff.Delete {
			to++
		}
	}
	fmt.Fprintf(out, "@@ -%s +%s @@\n", extent(h.FromLine, from), extent(h.ToLine, to))
	for _, l := range h.Lines {
		mark := " "
		switch l.Kind {
		case gotextdiff.Delete:
			mark = "-"
		case gotextdiff.Insert:
			mark = "+"
		}
		out.WriteString(mark + l.Content)
		if !strings.HasSuffix(l.Content, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// extent writes where a side of a hunk is: of an empty side the line before it.
func extent(line, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", line-1)
	case 1:
		return fmt.Sprint(line)
	}
	return fmt.Sprintf("%d,%d", line, count)
}
