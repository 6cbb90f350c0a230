package apply

import (
	"fmt"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// insert puts whole lines before or after the line of an anchor.
func (p *planner) insert(r *Result, op batch.Insert) *diag.Error {
	path, was, old, err := p.file(r, op.Path)
	if err != nil {
		return err
	}
	t := newText(old)
	var found []place
	var anchor string
	for _, anchor = range op.Anchors {
		if op.Aligned {
			found = t.findAligned(anchor)
		}
		if len(found) == 0 {
			found = t.find(anchor)
		}
		if len(found) > 0 {
			break
		}
	}
	if len(found) != 1 {
		edit := batch.Edit{Splits: []batch.Split{{Old: anchor, New: op.Content}}, Expect: batch.Expect{Count: 1}}
		err := p.mismatch(r, t, attempt{split: edit.Splits[0], found: found}, edit)
		r.AlreadyApplied = false
		if len(found) == 0 {
			err.Hint = t.missHint(anchor)
		}
		return err
	}
	content, at := t.wholeLines(found[0], op.Content, op.Before)
	if _, err := p.store(path, was, []byte(t.raw[:at]+content+t.raw[at:])); err != nil {
		return err
	}
	line := t.line(max(found[0].hi-1, found[0].lo))
	r.fact("where", fmt.Sprintf("after line %d", line))
	if op.Before {
		line = t.line(found[0].lo)
		r.fact("where", fmt.Sprintf("before line %d", line))
	}
	r.Match = &Match{Tier: tierExact, Count: 1, Lines: []int{line}}
	r.fact("inserted", plural(lineCount(op.Content), "lines"))
	r.Did = append(r.Did, Effect{Verb: "inserted", Path: path})
	return nil
}

// lineCount counts lines as git does: the last one may lack its end.
func lineCount(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// wholeLines gives the text to insert beside a match so that it stands on lines of its own, and the offset for it.
func (t *text) wholeLines(found place, content string, before bool) (text string, at int) {
	eol := ending(t.raw)
	content = withEnding(content, eol)
	ended := strings.HasSuffix(content, "\n")
	if before {
		if !ended {
			content += eol
		}
		start := strings.LastIndexByte(t.raw[:found.lo], '\n') + 1
		if start == 0 && strings.HasPrefix(t.raw, byteOrderMark) {
			start = len(byteOrderMark)
		}
		return content, start
	}
	n := strings.IndexByte(t.raw[max(found.hi-1, found.lo):], '\n')
	if n < 0 {
		return eol + content, len(t.raw)
	}
	if !ended {
		content += eol
	}
	return content, max(found.hi-1, found.lo) + n + 1
}
