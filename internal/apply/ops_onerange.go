package apply

import (
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// editOnlyRange replaces a range whose start must be the only one of its kind, and whose end the only one behind it.
func (p *planner) editOnlyRange(r *Result, path batch.Path, was *Node, t *text, op batch.EditRange) *diag.Error {
	end := op.Splits[0].Old
	if n := countOverlapping(t.lf, op.Start); n != 1 {
		starts := t.find(op.Start)
		err := diag.New(diag.MatchCountMismatch, "the start text was found %d times, expected 1", n).With("several starts", "n", n)
		if n == 0 {
			err.With("no start")
			err.Hint = t.missHint(op.Start)
		} else {
			err.Hint = Lines(t.linesOf(starts)) + "; give more context"
		}
		r.Match = &Match{Tier: tierExact, Count: n, Lines: t.linesOf(starts)}
		return err
	}
	start := t.find(op.Start)[0]
	var ends []place
	for next, from := t.finder(end), start.hi; ; {
		e, ok := next(from)
		if !ok {
			break
		}
		ends = append(ends, e)
		from = e.hi
	}
	if len(ends) != 1 {
		err := diag.New(diag.MatchCountMismatch, "the end text was found %d times behind the start, expected 1", len(ends)).
			With("several ends", "n", len(ends))
		if len(ends) == 0 {
			err.With("no end")
			err.Hint = t.missHint(end)
		} else {
			err.Hint = Lines(t.linesOf(ends)) + "; give more context"
		}
		r.Match = &Match{Tier: tierExact, Count: len(ends), Lines: t.linesOf(ends)}
		return err
	}
	a := attempt{split: op.Splits[0], tier: tierExact, found: []place{{lo: start.lo, hi: ends[0].hi}}}
	return p.replace(r, path, was, t, a, true)
}

// countOverlapping counts all occurrences of sub, also those that overlap, in linear time (Knuth, Morris and Pratt).
// CRLF in sub counts as LF.
func countOverlapping(s, sub string) int {
	sub = strings.ReplaceAll(sub, "\r\n", "\n")
	fail := make([]int, len(sub)+1)
	fail[0] = -1
	for i, k := 0, -1; i < len(sub); {
		for k >= 0 && sub[i] != sub[k] {
			k = fail[k]
		}
		i++
		k++
		fail[i] = k
	}
	n, k := 0, 0
	for i := range len(s) {
		for k >= 0 && (k == len(sub) || s[i] != sub[k]) {
			k = fail[k]
		}
		k++
		if k == len(sub) {
			n++
		}
	}
	return n
}
