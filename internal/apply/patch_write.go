package apply

import (
	"sort"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// addedLines gives the file that hunks without old lines make.
func addedLines(hunks []batch.Hunk) string {
	var b strings.Builder
	for _, h := range hunks {
		for _, line := range h.Lines {
			b.WriteString(line.Text)
			if !line.NoNewline {
				b.WriteString("\n")
			}
		}
	}
	return b.String()
}

func (p *planner) patchDelete(r *Result, path batch.Path, f *lineFile, all []placed) *diag.Error {
	gone := make([]bool, len(f.lines))
	for _, h := range all {
		i := h.at
		for _, line := range h.lines {
			if line.Kind == '-' {
				gone[i] = true
			}
			if line.Kind != '+' {
				i++
			}
		}
	}
	var left []int
	for i, g := range gone {
		if !g {
			left = append(left, i+1)
		}
	}
	if len(left) > 0 {
		return diag.New(diag.MatchCountMismatch, "the deletion leaves %s", Lines(left)).WithHint("a deletion must remove every line")
	}
	return p.remove(r, string(path), "", batch.Remove{})
}

// changes turns placed hunks into changes, in the order of the file. Hunks may share context lines; a line that one
// removes may not be in another.
func (f *lineFile) changes(all []placed) ([]change, *diag.Error) {
	owner := map[int]int{}   // line → hunk that has it
	removed := map[int]int{} // line → hunk that removes it
	type edit struct {
		at, order int
		c         change
	}
	var edits []edit
	for n, h := range all {
		i := h.at
		near := f.firstEnd(h.at, h.at+len(oldLinesOf(h.lines, false)))
		var run *change
		flush := func() {
			if run != nil {
				edits = append(edits, edit{run.at, len(edits), *run})
				run = nil
			}
		}
		start := func() {
			if run == nil {
				run = &change{at: i, near: near}
			}
		}
		for _, line := range h.lines {
			switch line.Kind {
			case '+':
				start()
				text, ok := h.shift.line(line.Text)
				if !ok {
					return nil, diag.New(diag.MatchCountMismatch, "the added lines cannot be shifted like the old ones").
						WithHint("indent them like the lines around them")
				}
				run.lines = append(run.lines, newLine{from: -1, text: text, ends: endOf(line, h)})
			case '-':
				if other, taken := owner[i]; taken && other != n {
					return nil, overlap(i)
				}
				owner[i], removed[i] = n, n
				start()
				run.old++
				i++
			default:
				if other, gone := removed[i]; gone && other != n {
					return nil, overlap(i)
				}
				flush()
				owner[i] = n
				i++
			}
		}
		flush()
	}
	sort.SliceStable(edits, func(a, b int) bool {
		if edits[a].at != edits[b].at {
			return edits[a].at < edits[b].at
		}
		return edits[a].order < edits[b].order
	})
	changes := make([]change, 0, len(edits))
	for _, e := range edits {
		if n := len(changes); n > 0 && changes[n-1].at+changes[n-1].old > e.at {
			return nil, overlap(e.at)
		}
		changes = append(changes, e.c)
	}
	return changes, nil
}

// endOf says how a new line ends. Only the exact tier of a patch speaks of that; elsewhere the file's state stays.
func endOf(line batch.HunkLine, h placed) lineEnd {
	switch {
	case h.tier != tierExact || h.hunk.Contexts != nil || h.hunk.Header == "":
		return asBefore
	case line.NoNewline:
		return unended
	}
	return ended
}

func overlap(line int) *diag.Error {
	return diag.New(diag.MatchCountMismatch, "two hunks change line %d", line+1).
		WithHint("put changes that touch each other into one hunk")
}
