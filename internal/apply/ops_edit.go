package apply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// attempt is one way of reading and matching an edit.
type attempt struct {
	split batch.Split
	tier  string
	found []place
	open  int // offset of a range's start without end, or -1
}

func (p *planner) edit(r *Result, op batch.Edit) *diag.Error {
	if len(op.Splits) == 1 && op.Splits[0].Old == "" {
		return emptyText("old text")
	}
	path, was, err := p.target(r, op.Path, "")
	if err != nil {
		return err
	}
	if op.Lines {
		return p.editLinesOf(r, path, was, op)
	}
	old, err := p.readable(path, was)
	if err != nil {
		return err
	}
	t := newText(old)
	a, err := p.locate(r, t, op)
	if err != nil {
		return err
	}
	p.warnOverlap(r, path, t, a, op)
	return p.replace(r, path, was, t, a, false)
}

// warnOverlap says when a text that was found once could as well have been found a little further down: matches do not
// overlap, so the first one counted and hid the other.
func (p *planner) warnOverlap(r *Result, path batch.Path, t *text, a attempt, op batch.Edit) {
	if op.Expect.Count != 1 || len(a.found) != 1 || a.tier != tierExact || a.split.Old == "" {
		return
	}
	first := a.found[0]
	if second, ok := t.finder(a.split.Old)(first.lo + 1); ok && second.lo < first.hi {
		p.warnings = append(p.warnings, diag.Warning{
			Dialect: r.Task.Dialect, Code: "OVERLAPPING", Pos: r.Task.Span.Pos(), BlockID: r.Task.ID,
			Message: fmt.Sprintf("in %s the text also stands at line %d, overlapping the place at line %d that was changed", path, t.line(second.lo), t.line(first.lo)),
		})
	}
}

// emptyText refuses an edit before its file is looked at.
func emptyText(what string) *diag.Error {
	return diag.New(diag.InvalidArgument, "the %s is empty", what).WithHint("quote text of the file").With("empty " + what)
}

// locate finds what an edit replaces.
func (p *planner) locate(r *Result, t *text, op batch.Edit) (attempt, *diag.Error) {
	a, ok := choose(op.Splits, op.Expect, op.AllowEmpty, op.Match, func(s batch.Split, tier string) ([]place, int) {
		switch tier {
		case tierTrailing:
			return t.findTrailing(s.Old), -1
		case tierIndent:
			found := t.findShifted(s.Old)
			if slices.ContainsFunc(found, func(p place) bool { return !p.shift.fits(s.New) }) {
				return nil, -1 // the new text cannot be shifted like the old one
			}
			return found, -1
		}
		if op.Aligned {
			if whole := t.findAligned(s.Old); len(whole) > 0 {
				return whole, -1
			}
		}
		return t.find(s.Old), -1
	})
	if !ok {
		return a, p.mismatch(r, t, a, op)
	}
	return a, nil
}

// editSeries makes the edits of a series in memory, each on the result of the one before, and stores the last result.
func (p *planner) editSeries(r *Result, op batch.EditSeries) *diag.Error {
	path, was, content, err := p.file(r, op.Path)
	if err != nil {
		return err
	}
	all := Match{Tier: tierExact}
	for i, edit := range op.Edits {
		t := newText(content)
		a, err := p.locate(r, t, edit)
		if err != nil {
			err.Hint = fmt.Sprintf("this is pair %d of %d; no part of the task was done\n", i+1, len(op.Edits)) + err.Hint
			r.AlreadyApplied = false
			return err
		}
		if err := p.fits(path, t, a); err != nil {
			return err
		}
		content = []byte(t.replace(a.found, a.split.New, a.split.NoNew))
		all.Count += len(a.found)
		all.Lines = append(all.Lines, t.linesOf(a.found)...)
		if a.tier != tierExact {
			all.Tier = a.tier
		}
	}
	if _, err := p.store(path, was, content); err != nil {
		return err
	}
	p.edited(r, path, &all)
	return nil
}

func noPaths() *diag.Error {
	return diag.New(diag.InvalidArgument, "no paths are given").WithHint("give one path on each line").With("no paths")
}

// editFiles makes the same edit to several files. If one fails, all stay as they are, and the failure names each.
func (p *planner) editFiles(r *Result, op batch.EditFiles) *diag.Error {
	if len(op.Paths) == 0 {
		return noPaths()
	}
	if op.Edit.Splits[0].Old == "" {
		return emptyText("old text")
	}
	var failed []string
	var first *diag.Error
	var done []map[string]any
	for _, written := range op.Paths {
		one := &Result{Task: r.Task, Path: written, Facts: map[string]any{"written": written}}
		edit := op.Edit
		edit.Path = written
		if err := p.edit(one, edit); err != nil {
			failed = append(failed, "\n  "+written+": "+r.about(err, written))
			if first == nil {
				first = err
			}
			continue
		}
		count := 0
		if one.Match != nil {
			count = one.Match.Count
		}
		done = append(done, map[string]any{"path": written, "replacements_made": count})
		r.Did = append(r.Did, one.Did...)
		r.Match = one.Match
	}
	if first != nil {
		return diag.New(first.Code, "%d of %d files failed:%s", len(failed), len(op.Paths), strings.Join(failed, "")).
			WithHint("nothing was changed: either all files are changed or none").
			With("several files", "n", len(failed), "list", strings.Join(failed, ""))
	}
	r.Data = map[string]any{"results": done}
	return nil
}

func (p *planner) editRange(r *Result, op batch.EditRange) *diag.Error {
	if op.OnlyOne && op.Start == "" {
		return emptyText("start")
	}
	if op.OnlyOne && op.Splits[0].Old == "" {
		return emptyText("end")
	}
	path, was, old, err := p.file(r, op.Path)
	if err != nil {
		return err
	}
	t := newText(old)
	if op.OnlyOne {
		return p.editOnlyRange(r, path, was, t, op)
	}
	a, ok := choose(op.Splits, op.Expect, op.AllowEmpty, batch.Exact, func(s batch.Split, _ string) ([]place, int) {
		return t.ranges(op.Start, s.Old)
	})
	if !ok {
		return p.rangeMismatch(t, a, op)
	}
	return p.replace(r, path, was, t, a, true)
}

// choose tries the readings of an edit in order, one tier after the other, and gives the first that matches as often
// as it should. Without one it gives the exact attempt of the last reading, the one with the shortest text.
func choose(splits []batch.Split, e batch.Expect, allowEmpty bool, tier batch.MatchTier,
	find func(batch.Split, string) ([]place, int)) (attempt, bool) {
	tiers := []string{tierExact}
	if tier == batch.Whitespace {
		tiers = append(tiers, tierTrailing, tierIndent)
	}
	var miss attempt
	for _, name := range tiers {
		for _, s := range splits {
			if s.Old == "" || (s.NoNew && !allowEmpty) {
				continue
			}
			found, open := find(s, name)
			a := attempt{split: s, tier: name, found: found, open: open}
			if e.All && (len(found) > 0 || e.None && name == tiers[len(tiers)-1]) || !e.All && len(found) == e.Count {
				return a, true
			}
			if name == tierExact {
				miss = a
			}
		}
	}
	return miss, false
}

// fits looks whether a result may become too large before it is built: a short reply can ask for a huge one.
func (p *planner) fits(path batch.Path, t *text, a attempt) *diag.Error {
	if size := int64(len(t.raw)) + int64(len(a.found))*int64(len(a.split.New)); size > 2*p.o.MaxFileSize {
		return tooLarge(path, size, p.o.MaxFileSize)
	}
	return nil
}

func (p *planner) replace(r *Result, path batch.Path, was *Node, t *text, a attempt, ranges bool) *diag.Error {
	if err := p.fits(path, t, a); err != nil {
		return err
	}
	if len(a.found) == 0 { // permitted, so nothing is to do
		r.fact("count", 0)
		r.Match = &Match{Tier: a.tier, Lines: []int{}}
		r.Hint = t.missHint(a.split.Old)
		return p.mayWrite(path, false)
	}
	if _, err := p.store(path, was, []byte(t.replace(a.found, a.split.New, a.split.NoNew))); err != nil {
		return err
	}
	m := &Match{Tier: a.tier, Count: len(a.found), Lines: t.linesOf(a.found), Divider: a.split.Divider}
	if ranges {
		for _, f := range a.found {
			m.Ends = append(m.Ends, t.line(max(f.hi-1, f.lo)))
		}
	}
	p.edited(r, path, m)
	return nil
}

// edited records an edit that was made.
func (p *planner) edited(r *Result, path batch.Path, m *Match) {
	r.Match = m
	r.fact("count", m.Count)
	r.fact("occurrences", plural(m.Count, "occurrences"))
	r.fact("lines", Lines(m.Lines))
	r.Did = append(r.Did, Effect{Verb: "edited", Path: path})
}

func (t *text) linesOf(found []place) []int {
	lines := make([]int, len(found))
	for i, f := range found {
		lines[i] = t.line(f.lo)
	}
	return lines
}

// Lines writes a list of line numbers, at most ten of them.
func Lines(lines []int) string {
	const most = 10
	word := "lines "
	if len(lines) == 1 {
		word = "line "
	}
	shown := make([]string, 0, most)
	for _, n := range lines[:min(len(lines), most)] {
		shown = append(shown, fmt.Sprint(n))
	}
	s := word + strings.Join(shown, ", ")
	if more := len(lines) - len(shown); more > 0 {
		s += fmt.Sprintf(", +%d more", more)
	}
	return s
}

func expected(e batch.Expect) string {
	if e.All {
		return "at least 1"
	}
	return fmt.Sprint(e.Count)
}

// plural writes a count with its noun, which is given in the plural.
func plural(n int, noun string) string {
	if n == 1 {
		switch noun {
		case "matches":
			noun = "match"
		default:
			noun = strings.TrimSuffix(noun, "s")
		}
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func (p *planner) mismatch(r *Result, t *text, a attempt, op batch.Edit) *diag.Error {
	err := diag.New(diag.MatchCountMismatch, "found %s, expected %s", plural(len(a.found), "matches"), expected(op.Expect))
	name := "several matches"
	switch {
	case op.Expect.Count > 1:
		name = "wrong count"
	case len(a.found) == 0:
		name = "no match"
	}
	err.With(name, "n", len(a.found), "expected", op.Expect.Count, "lines", Lines(t.linesOf(a.found)), "text", clipLine(a.split.Old))
	r.Match = &Match{Tier: tierExact, Count: len(a.found), Lines: t.linesOf(a.found)}
	switch {
	case len(op.Splits) > 1 && op.Splits[0].Divider > 0:
		err.Hint = dividerHint(t, op.Splits)
	case len(a.found) > 0:
		err.Hint = Lines(t.linesOf(a.found)) + "; give more context"
		if op.HintCount != "" {
			err.Hint += ", or " + fmt.Sprintf(op.HintCount, len(a.found))
		}
	case inPlace(t, a.split, op.Expect):
		r.AlreadyApplied = true
		err.Hint = "the new text is already there, at " + Lines(t.linesOf(t.find(a.split.New)))
	default:
		err.Hint = t.missHint(a.split.Old)
	}
	return err
}

// dividerHint lists how often each reading of an edit with several possible dividers matched.
func dividerHint(t *text, splits []batch.Split) string {
	var b strings.Builder
	for i := len(splits) - 1; i >= 0; i-- {
		s := splits[i]
		n := 0
		if s.Old != "" {
			n = len(t.find(s.Old))
		}
		fmt.Fprintf(&b, "with the divider at line %d: %s\n", s.Divider, plural(n, "matches"))
	}
	b.WriteString("use longer markers for the whole block, for example 8 characters, to say which ======= divides it")
	return b.String()
}

// inPlace reports whether the new text stands where the old one was looked for, as often as it should. Short texts
// prove nothing: they occur anywhere.
func inPlace(t *text, s batch.Split, e batch.Expect) bool {
	const telling = 10
	if len(strings.TrimSpace(s.New)) < telling {
		return false
	}
	n := len(t.find(s.New))
	if e.All {
		return n > 0
	}
	return n == e.Count
}

func (p *planner) rangeMismatch(t *text, a attempt, op batch.EditRange) *diag.Error {
	message := fmt.Sprintf("found %s, expected %s", plural(len(a.found), "ranges"), expected(op.Expect))
	if a.open >= 0 {
		message += fmt.Sprintf(", start at line %d has no end", t.line(a.open))
	}
	err := diag.New(diag.MatchCountMismatch, "%s", message)
	switch {
	case len(op.Splits) > 1:
		err.Hint = "use longer markers for the whole block, for example 8 characters, to say which ======= divides it"
	case a.open >= 0:
		err.Hint = "the end text: " + t.missHint(a.split.Old)
	case len(a.found) > 0:
		err.Hint = Lines(t.linesOf(a.found)) + fmt.Sprintf("; give more context, or count=\"%d\"", len(a.found))
	default:
		err.Hint = "the start text: " + t.missHint(op.Start)
	}
	return err
}
