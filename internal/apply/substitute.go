package apply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// substitution is one way of carrying out an edit of whole lines.
type substitution struct {
	split   batch.Split
	places  []linePlace
	changes []change // none if it does not fit
}

// editLinesOf carries out an edit whose texts are whole lines: one place in the whole file must match.
func (p *planner) editLinesOf(r *Result, path batch.Path, was *Node, op batch.Edit) *diag.Error {
	if len(op.Splits) > 1 && (was == nil || was.Kind == Regular && was.Size == 0) {
		if i := slices.IndexFunc(op.Splits, func(s batch.Split) bool { return onlyBlankLines(s.Old) }); i >= 0 {
			return p.write(r, batch.Write{Path: op.Path, Content: endedLines(op.Splits[i]), Mode: batch.Fill})
		}
	}
	content, err := p.readable(path, was)
	if err != nil {
		if err.Code == diag.FileNotFound {
			err.Hint = "an empty SEARCH creates a file\n" + err.Hint
			err.Hint = strings.TrimSuffix(err.Hint, "\n")
		}
		return err
	}
	f := newLineFile(content)
	s, ok := f.substitute(op)
	if !ok {
		return f.substitutionMiss(r, content, s, op)
	}
	if _, err := p.store(path, was, []byte(f.rewrite(s.changes))); err != nil {
		return err
	}
	m := &Match{Tier: s.places[0].tier, Count: len(s.places), Lines: numbers(s.places), Divider: s.split.Divider}
	edits := make([]HunkPlace, len(s.places))
	for i, at := range s.places {
		edits[i] = HunkPlace{Tier: at.tier, Line: at.at + 1, By: "context"}
		m.Tier = looser(m.Tier, at.tier)
	}
	if len(s.places) > 1 {
		m.Tier = tierElision
	}
	r.Data = PatchData{Edits: edits}
	p.edited(r, path, m)
	return nil
}

func onlyBlankLines(s string) bool { return strings.Trim(s, " \t\r\n") == "" }

// endedLines gives the new lines of a reading, each with its line end.
func endedLines(s batch.Split) string {
	if s.NoNew {
		return ""
	}
	return s.New + "\n"
}

// substitute tries the readings of an edit in each tier, and then elision. Without success it gives the first reading
// that matches too often, or else the last reading.
func (f *lineFile) substitute(op batch.Edit) (best substitution, ok bool) {
	for _, tier := range lineTiers(op.Match) {
		many := false
		for _, split := range op.Splits {
			if onlyBlankLines(split.Old) {
				continue
			}
			s := substitution{split: split, places: f.places(linesOf(split.Old), tier, 0, len(f.lines))}
			if len(s.places) == 1 {
				if s.changes, ok = f.exchange(s.places[0], split); ok {
					return s, true
				}
			}
			if len(s.places) > 1 {
				many = true
			}
			if len(best.places) == 0 {
				best = s
			}
		}
		if many {
			return best, false
		}
	}
	if op.Elision {
		for _, split := range op.Splits {
			if s, ok := f.elide(split, op.Match); ok {
				return s, true
			}
		}
	}
	return best, false
}

// linesOf splits a text whose last line has no line end.
func linesOf(s string) []rawLine {
	var lines []rawLine
	for line := range strings.SplitSeq(s, "\n") {
		end := "\n"
		if strings.HasSuffix(line, "\r") {
			line, end = line[:len(line)-1], "\r\n"
		}
		lines = append(lines, rawLine{line, end})
	}
	return lines
}

// exchange replaces the old lines at a place by the new ones, shifted alike. It does not if they cannot be shifted.
func (f *lineFile) exchange(at linePlace, split batch.Split) ([]change, bool) {
	c := change{at: at.at, old: strings.Count(split.Old, "\n") + 1}
	if !split.NoNew {
		for line := range strings.SplitSeq(split.New, "\n") {
			text, ok := at.shift.line(line)
			if !ok {
				return nil, false
			}
			c.lines = append(c.lines, newLine{from: -1, text: text})
		}
	}
	return []change{c}, true
}

func isElision(line string) bool { return strings.Trim(line, " \t\r") == "..." }

// pieces cuts a text at its lines of "...".
func pieces(s string, none bool) []batch.Split {
	if none {
		return []batch.Split{{NoNew: true}}
	}
	var all []batch.Split
	var part []string
	flush := func() {
		all = append(all, batch.Split{Old: strings.Join(part, "\n"), NoNew: len(part) == 0})
		part = nil
	}
	for line := range strings.SplitSeq(s, "\n") {
		if isElision(line) {
			flush()
			continue
		}
		part = append(part, line)
	}
	flush()
	return all
}

// elide matches the pieces around lines of "..." one by one. Each must have one place, in rising order.
func (f *lineFile) elide(split batch.Split, loosest batch.MatchTier) (s substitution, ok bool) {
	olds, news := pieces(split.Old, false), pieces(split.New, split.NoNew)
	if len(olds) < 2 || len(olds) != len(news) {
		return s, false
	}
	s.split = split
	behind := 0
	for i, old := range olds {
		if old.NoNew {
			if !news[i].NoNew {
				return s, false
			}
			continue
		}
		at, n := f.only(linesOf(old.Old), loosest, 0, len(f.lines))
		if n != 1 || at.at < behind {
			return s, false
		}
		c, fits := f.exchange(at, batch.Split{Old: old.Old, New: news[i].Old, NoNew: news[i].NoNew})
		if !fits {
			return s, false
		}
		behind = at.at + c[0].old
		s.places, s.changes = append(s.places, at), append(s.changes, c...)
	}
	return s, len(s.places) > 0
}

// only gives the one place that the first tier with any has, and how many it has.
func (f *lineFile) only(old []rawLine, loosest batch.MatchTier, lo, hi int) (linePlace, int) {
	for _, tier := range lineTiers(loosest) {
		if found := f.places(old, tier, lo, hi); len(found) > 0 {
			return found[0], len(found)
		}
	}
	return linePlace{}, 0
}

// substitutionMiss says why an edit of whole lines does not fit.
func (f *lineFile) substitutionMiss(r *Result, content []byte, s substitution, op batch.Edit) *diag.Error {
	t := newText(content)
	r.Match = &Match{Tier: tierExact, Count: len(s.places), Lines: numbers(s.places)}
	if len(s.places) > 0 {
		r.Match.Tier = s.places[0].tier
	}
	if len(op.Splits) > 1 {
		return f.dividersMiss(op)
	}
	err := diag.New(diag.MatchCountMismatch, "found %s, expected 1", plural(len(s.places), "matches"))
	old := op.Splits[0]
	dots, newDots := strings.Count("\n"+old.Old+"\n", "\n...\n"), len(pieces(old.New, old.NoNew))-1
	switch {
	case len(s.places) > 0:
		err.Hint = Lines(numbers(s.places)) + "; put more of the surrounding lines into SEARCH"
		if op.Near > 0 {
			err.Hint += fmt.Sprintf("\nline %d is nearest to the line %d that the block names", nearestTo(s.places, op.Near), op.Near)
		}
	case op.Elision && dots > 0 && dots != newDots:
		err.Hint = fmt.Sprintf("SEARCH has %d `...` lines, REPLACE has %d: they must pair up", dots, newDots)
	case op.Elision && dots > 0:
		f.pieceMiss(err, old, op.Match)
	case len(strings.TrimSpace(old.New)) >= 10 && !old.NoNew && len(f.places(linesOf(old.New), tierExact, 0, len(f.lines))) == 1:
		r.AlreadyApplied = true
		err.Hint = "the new text is already there, at " + Lines(numbers(f.places(linesOf(old.New), tierExact, 0, len(f.lines))))
	default:
		err.Hint = t.missHint(old.Old)
	}
	return err
}

// pieceMiss says which piece of an edit with elisions has not exactly one place.
func (f *lineFile) pieceMiss(err *diag.Error, split batch.Split, loosest batch.MatchTier) {
	olds := pieces(split.Old, false)
	for i, old := range olds {
		if old.NoNew {
			continue
		}
		at, n := f.only(linesOf(old.Old), loosest, 0, len(f.lines))
		if n == 1 {
			continue
		}
		err.Message = fmt.Sprintf("piece %d of %d: found %s, expected 1", i+1, len(olds), plural(n, "matches"))
		err.Hint = "give the lines around the `...` as they are in the file"
		if n > 1 {
			err.Hint = Lines(numbers(f.places(linesOf(old.Old), at.tier, 0, len(f.lines)))) + "; give more lines around the `...`"
		}
		return
	}
	err.Hint = "the pieces around the `...` must stand in the order of the file, and an empty one needs an empty one"
}

func nearestTo(places []linePlace, line int) int {
	best := places[0].at + 1
	for _, p := range places {
		if abs(p.at+1-line) < abs(best-line) {
			best = p.at + 1
		}
	}
	return best
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// dividersMiss lists how often each reading of an edit with several possible dividers matched.
func (f *lineFile) dividersMiss(op batch.Edit) *diag.Error {
	var counts []string
	for _, s := range slices.Backward(op.Splits) {
		n := 0
		if !onlyBlankLines(s.Old) {
			_, n = f.only(linesOf(s.Old), op.Match, 0, len(f.lines))
		}
		if len(counts) < 10 {
			counts = append(counts, fmt.Sprintf("line %d found %s", s.Divider, plural(n, "matches")))
		}
	}
	return diag.New(diag.MatchCountMismatch, "%d possible dividers: %s", len(op.Splits), strings.Join(counts, ", ")).
		WithHint("use a run of 9 for the markers, or escape the line of content: `\\=======`")
}
