package parse

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// newContent gives the file that the added lines of hunks make.
func newContent(hunks []batch.Hunk) string {
	var b strings.Builder
	for _, h := range hunks {
		for _, line := range h.Lines {
			if line.Kind != '-' {
				b.WriteString(line.Text)
				if !line.NoNewline {
					b.WriteByte('\n')
				}
			}
		}
	}
	return b.String()
}

// endsInCR reports whether the hunks know of CRs, so that line ends are to be taken byte for byte.
func endsInCR(hunks []batch.Hunk) bool {
	for _, h := range hunks {
		for _, line := range h.Lines {
			if strings.HasSuffix(line.Text, "\r") {
				return true
			}
		}
	}
	return false
}

// onlyAdds reports whether there is one hunk, for line 0, without any old line.
func onlyAdds(hunks []batch.Hunk) bool {
	if len(hunks) != 1 || !strings.Contains(hunks[0].Header, "-0,0") {
		return false
	}
	for _, line := range hunks[0].Lines {
		if line.Kind != '+' {
			return false
		}
	}
	return true
}

// hunkHeader is the numbered form.
var hunkHeader = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`) })

// hunk reads the hunk whose header stands at line at, by its counts if they are right, else by its shape.
func (d *diffText) hunk(at int) (batch.Hunk, int) {
	header := d.bare(at)
	h := batch.Hunk{Header: header}
	if m := hunkHeader().FindStringSubmatch(header); m != nil {
		h.Line, _ = strconv.Atoi(m[1])
		h.Header = m[0]
		if lines, next, ok := d.counted(at+1, countOf(m[2]), countOf(m[4])); ok {
			h.Lines, h.Counted = lines, true
			return h, next
		}
	}
	next := at + 1
	h.Lines, next = d.shaped(next)
	if len(h.Lines) == 0 {
		d.problem(at, diag.MalformedStructure, "the hunk of line %d has no lines", "give the changed lines behind it", at+1)
	}
	return h, next
}

func countOf(s string) int {
	if s == "" {
		return 1
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// counted reads lines until both counts are used up; ok is false if a line cannot be of the hunk, or more follows.
func (d *diffText) counted(at, old, new int) (lines []batch.HunkLine, next int, ok bool) {
	if n := max(old, new); n > 0 {
		lines = make([]batch.HunkLine, 0, min(n, d.hi-at, 256))
	}
	for at < d.hi && (old > 0 || new > 0) {
		line := d.raw(at)
		if rest, isMark := strings.CutPrefix(line, `\ `); isMark && len(lines) > 0 && rest != "" {
			lines[len(lines)-1].NoNewline = true
			at++
			continue
		}
		kind, text, good := hunkLine(line)
		if !good {
			return nil, 0, false
		}
		if kind != '+' {
			old--
		}
		if kind != '-' {
			new--
		}
		if old < 0 || new < 0 {
			return nil, 0, false
		}
		lines = append(lines, batch.HunkLine{Kind: kind, Text: text})
		at++
	}
	if old != 0 || new != 0 || len(lines) == 0 {
		return nil, 0, false
	}
	if at < d.hi && strings.HasPrefix(d.raw(at), `\ `) {
		lines[len(lines)-1].NoNewline = true
		at++
	}
	if at < d.hi {
		if line := d.raw(at); line != "" && strings.IndexByte(" +-", line[0]) >= 0 && !d.opensNames(at) && !d.isSignature(at) {
			return nil, 0, false
		}
	}
	return lines, at, true
}

// hunkLine reads a line of a hunk.
func hunkLine(line string) (kind byte, text string, ok bool) {
	if line == "" || line == "\r" {
		return ' ', line, true
	}
	if strings.IndexByte(" +-", line[0]) < 0 {
		return 0, "", false
	}
	return line[0], line[1:], true
}

// shaped reads lines up to what can be no line of a hunk. Bare blank lines at its end do not belong to it.
func (d *diffText) shaped(at int) (lines []batch.HunkLine, next int) {
	bare := 0
	for ; at < d.hi; at++ {
		line := d.raw(at)
		if isHunkHeader(line) || d.opensNames(at) || d.isSignature(at) || strings.HasPrefix(line, "diff --") || strings.HasPrefix(line, "From ") && mailStart().MatchString(line) {
			break
		}
		if strings.HasPrefix(line, `\ `) && len(lines) > 0 {
			lines[len(lines)-1].NoNewline = true
			bare = 0
			continue
		}
		kind, text, good := hunkLine(line)
		if !good {
			if bare == 0 && !strings.HasPrefix(line, "Index: ") {
				d.problem(at, diag.MalformedStructure, "line %d starts with none of blank, `+`, `-`, `\\`", "write context lines with one blank in front", at+1)
			}
			break
		}
		if strings.TrimSuffix(line, "\r") == "" {
			bare++
		} else {
			bare = 0
		}
		lines = append(lines, batch.HunkLine{Kind: kind, Text: text})
	}
	return lines[:len(lines)-bare], at - bare
}
