package apply

import (
	"fmt"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// store puts content at path, making parents. It reports whether anything changed.
func (p *planner) store(path batch.Path, was *Node, content []byte) (changed bool, err *diag.Error) {
	if err := p.mayWrite(path, was == nil); err != nil {
		return false, err
	}
	if int64(len(content)) > p.o.MaxFileSize {
		return false, tooLarge(path, int64(len(content)), p.o.MaxFileSize)
	}
	n := &Node{Kind: Regular, Perm: 0o666 &^ p.o.Umask, Data: content, Size: int64(len(content))}
	if was != nil {
		n.Perm = was.Perm
		if was.Size == n.Size {
			old, err := p.tree.content(path, was)
			if err != nil {
				return false, err
			}
			if string(old) == string(content) {
				return false, nil
			}
		}
	} else if err := p.tree.makeParents(path); err != nil {
		return false, err
	}
	return true, p.tree.set(path, n)
}

func (p *planner) write(r *Result, op batch.Write) *diag.Error {
	path, was, err := p.target(r, op.Path, "")
	if err != nil {
		return err
	}
	if strings.HasSuffix(op.Path, "/") {
		return diag.New(diag.IsDirectory, "%s names a directory", op.Path).In(string(path))
	}
	if was != nil {
		if err := regular(path, was); err != nil {
			return err
		}
		if op.Mode == batch.Create {
			return diag.New(diag.FileExists, "%s exists already", path).In(string(path))
		}
	} else if op.Mode == batch.Overwrite {
		return notFound(path)
	}
	changed, err := p.store(path, was, op.Content)
	if err != nil || !changed {
		return err
	}
	verb := "created"
	if was != nil {
		verb = "overwrote"
		p.warnEOL(r, path, was, op.Content)
	}
	r.Did = append(r.Did, Effect{Verb: verb, Path: path, Bytes: len(op.Content)})
	return nil
}

// warnEOL says when a whole-file write changes the line endings of a file.
func (p *planner) warnEOL(r *Result, path batch.Path, was *Node, content []byte) {
	if was.Size > p.o.MaxFileSize || len(content) == 0 {
		return
	}
	old, err := p.tree.content(path, was)
	if err != nil || firstEnding(string(old)) == "" || isBinary(old) {
		return
	}
	if before, after := ending(string(old)), ending(string(content)); before != after {
		name := map[string]string{"\n": "LF", "\r\n": "CRLF"}
		p.warnings = append(p.warnings, diag.Warning{
			Dialect: r.Task.Dialect, Code: "EOL_CHANGED", Pos: r.Task.Span.Pos(),
			Message: fmt.Sprintf("%s had %s line ends and now has %s", path, name[before], name[after]),
		})
	}
}

func (p *planner) append(r *Result, op batch.Append) *diag.Error {
	path, was, err := p.target(r, op.Path, "")
	if err != nil {
		return err
	}
	if was == nil {
		if _, err := p.store(path, nil, op.Content); err != nil {
			return err
		}
		r.Did = append(r.Did, Effect{Verb: "appended", Path: path, Bytes: len(op.Content)})
		return nil
	}
	old, err := p.readable(path, was)
	if err != nil {
		return err
	}
	if len(op.Content) == 0 {
		return p.mayWrite(path, false)
	}
	eol := ending(string(old))
	added := withEnding(string(op.Content), eol)
	if op.FreshLine && len(old) > 0 && old[len(old)-1] != '\n' {
		added = eol + added
	}
	if _, err := p.store(path, was, append(old[:len(old):len(old)], added...)); err != nil {
		return err
	}
	r.Did = append(r.Did, Effect{Verb: "appended", Path: path, Bytes: len(added)})
	return nil
}

// attempt is one way of reading and matching an edit.
type attempt struct {
	split batch.Split
	tier  string
	found []place
	open  int // offset of a range's start without end, or -1
}

func (p *planner) edit(r *Result, op batch.Edit) *diag.Error {
	path, was, err := p.target(r, op.Path, "")
	if err != nil {
		return err
	}
	old, err := p.readable(path, was)
	if err != nil {
		return err
	}
	t := newText(old)
	a, ok := choose(op.Splits, op.Expect, op.AllowEmpty, op.Match, func(s batch.Split, tier string) ([]place, int) {
		switch tier {
		case tierTrailing:
			return t.findTrailing(s.Old), -1
		case tierIndent:
			return t.findShifted(s.Old), -1
		}
		return t.find(s.Old), -1
	})
	if !ok {
		return p.mismatch(r, t, a, op.Splits, op.Expect, "matches")
	}
	return p.replace(r, path, was, t, a, false)
}

func (p *planner) editRange(r *Result, op batch.EditRange) *diag.Error {
	path, was, err := p.target(r, op.Path, "")
	if err != nil {
		return err
	}
	old, err := p.readable(path, was)
	if err != nil {
		return err
	}
	t := newText(old)
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
			if e.All && len(found) > 0 || !e.All && len(found) == e.Count {
				return a, true
			}
			if name == tierExact {
				miss = a
			}
		}
	}
	return miss, false
}

func (p *planner) replace(r *Result, path batch.Path, was *Node, t *text, a attempt, ranges bool) *diag.Error {
	// A short reply can ask for a huge result: look before it is built.
	if size := int64(len(t.raw)) + int64(len(a.found))*int64(len(a.split.New)); size > 2*p.o.MaxFileSize {
		return tooLarge(path, size, p.o.MaxFileSize)
	}
	if _, err := p.store(path, was, []byte(t.replace(a.found, a.split.New, a.split.NoNew))); err != nil {
		return err
	}
	r.Match = &Match{Tier: a.tier, Count: len(a.found), Lines: t.linesOf(a.found), Divider: a.split.Divider}
	if ranges {
		for _, f := range a.found {
			r.Match.Ends = append(r.Match.Ends, t.line(max(f.hi-1, f.lo)))
		}
	}
	r.Did = append(r.Did, Effect{Verb: "edited", Path: path})
	return nil
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

func (p *planner) mismatch(r *Result, t *text, a attempt, splits []batch.Split, e batch.Expect, noun string) *diag.Error {
	err := diag.New(diag.MatchCountMismatch, "found %s, expected %s", plural(len(a.found), noun), expected(e))
	switch {
	case len(splits) > 1:
		err.Hint = dividerHint(t, splits)
	case len(a.found) > 0:
		err.Hint = Lines(t.linesOf(a.found)) + fmt.Sprintf("; give more context, or count=\"%d\"", len(a.found))
	case inPlace(t, a.split, e):
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

func (p *planner) editLines(r *Result, op batch.EditLines) *diag.Error {
	path, was, err := p.target(r, op.Path, "")
	if err != nil {
		return err
	}
	old, err := p.readable(path, was)
	if err != nil {
		return err
	}
	t := newText(old)
	lines := t.fileLines()
	if op.First < 1 || op.Last < op.First || op.Last > len(lines) {
		return diag.New(diag.InvalidArgument, "lines %d to %d are not in %s, which has %d", op.First, op.Last, path, len(lines))
	}
	at := place{lo: lines[op.First-1].lo, hi: lines[op.Last-1].hi}
	a := attempt{split: batch.Split{New: strings.TrimSuffix(op.New, "\n"), NoNew: op.New == ""}, tier: tierExact, found: []place{at}}
	return p.replace(r, path, was, t, a, true)
}

func (p *planner) insert(r *Result, op batch.Insert) *diag.Error {
	path, was, err := p.target(r, op.Path, "")
	if err != nil {
		return err
	}
	old, err := p.readable(path, was)
	if err != nil {
		return err
	}
	if op.Anchor == "" {
		return diag.New(diag.MalformedStructure, "the anchor is empty")
	}
	t := newText(old)
	one := batch.Expect{Count: 1}
	found := t.find(op.Anchor)
	if len(found) != 1 {
		return p.mismatch(r, t, attempt{split: batch.Split{Old: op.Anchor}, found: found}, nil, one, "matches")
	}
	at := found[0].hi
	if op.Before {
		at = found[0].lo
	}
	content := withEnding(op.Content, ending(t.raw))
	if _, err := p.store(path, was, []byte(t.raw[:at]+content+t.raw[at:])); err != nil {
		return err
	}
	r.Match = &Match{Tier: tierExact, Count: 1, Lines: t.linesOf(found)}
	r.Did = append(r.Did, Effect{Verb: "edited", Path: path})
	return nil
}
