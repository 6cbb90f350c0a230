package parse

import (
	"slices"
	"strconv"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// aider is the dialect of SEARCH/REPLACE blocks whose path stands on a line of its own above them:
//
//	block   = path-part opener [ hint ] { line } divider { line } closer
//	opener  = 5*9"<" WS "SEARCH" [ ">" ]     or with dashes
//	divider = 5*9"="
//	closer  = 5*9">" WS "REPLACE" [ ">" ]    or with plus signs
//	hint    = [ ":start_line:" N ] [ ":end_line:" N ] [ 5*9"-" ]
//
// What differs from the markers dialect is that nothing follows SEARCH. aider_path.go finds paths, aider_whole.go reads
// whole files and shell fences.
type aider struct{}

func (aider) name() string { return "aider" }

func (aider) openers() []string { return []string{"a path line, then <<<<<<< SEARCH"} }

// searchBlock is one block being read.
type searchBlock struct {
	*scan
	first, last int // lines of the opener and of the closer
	run         int32
	path        string
	t           *markTable // the one that found the extent
	idx, end    int32      // of opener and closer in it
	strict      bool
	near        int
}

func (a aider) open(s *scan, i int) (next int, ok bool) {
	line := s.line(i)
	m := aiderMark(line)
	switch {
	case m.run == 0 || m.class == divider:
		s.aiderNearMiss(line, i)
		return 0, false
	case m.class == closer:
		if m.run >= minRun && m.run < aiderRun && s.reads("markers") {
			return 0, false // that dialect says the same
		}
		s.strayReplace(i)
		return i + 1, true
	}
	b := &searchBlock{scan: s, first: i, run: m.run}
	return b.read(), true
}

// read reads the block and gives the line behind it.
func (b *searchBlock) read() int {
	pathErr := b.findPath()
	t := b.aiderTables()
	for _, b.t = range []*markTable{t.same, t.any} {
		var found bool
		if b.idx, found = b.t.at(b.first); !found {
			continue
		}
		if b.end, b.strict = b.close(); b.end != none {
			break
		}
	}
	if b.end == none {
		b.last = b.lines() - 1
		b.problem(diag.New(diag.MalformedStructure, "SEARCH of line %d is not closed", b.first+1).
			WithHint("end the block with `%s`", b.closer()), diag.Syntax)
		return b.lines()
	}
	b.last = int(b.t.marks[b.end].line)
	if pathErr != nil {
		b.problem(pathErr, diag.Validation)
		return b.last + 1
	}
	if err := b.task(); err != nil {
		b.problem(err, diag.Syntax)
	}
	return b.last + 1
}

// maxLoose bounds how many blocks whose closers do not nest are looked at to the end of the reply.
const maxLoose = 100

// close finds the closer in the block's table. Only runs of 7 and more have other blocks among them, so only there a
// closer may have to close more than one.
func (b *searchBlock) close() (end int32, strict bool) {
	m := b.t.marks[b.idx]
	if m.end != none {
		return m.end, true
	}
	if m.run < minRun || m.run > aiderRun || b.loose >= maxLoose {
		return none, true
	}
	b.loose++
	return b.t.closeLoosely(b.idx, int32(len(b.t.marks))), false
}

func (b *searchBlock) closer() string {
	if b.run > aiderRun {
		return strings.Repeat("+", int(b.run)-aiderRun) + " REPLACE"
	}
	return strings.Repeat(">", int(b.run)) + " REPLACE"
}

func (b *searchBlock) problem(err *diag.Error, kind diag.Kind) {
	if err.Pos.IsZero() {
		err.At(diag.Pos{Line: b.first + 1, Column: 1})
	}
	b.list.Problems = append(b.list.Problems, diag.Problem{
		Error: err, Kind: kind, Dialect: "aider", BlockStart: b.first + 1, BlockEnd: b.last + 1,
	})
}

// task makes a task of the block.
func (b *searchBlock) task() *diag.Error {
	start := b.hint()
	dividers := b.dividers(start)
	switch {
	case len(dividers) == 0:
		return diag.New(diag.MalformedStructure, "no divider between SEARCH (line %d) and REPLACE (line %d)", b.first+1, b.last+1).
			WithHint("a line `=======` separates the old lines from the new")
	case len(dividers) > 1 && b.opts.StrictDividers:
		return diag.New(diag.MalformedStructure, "several lines may be the divider: %s", lineList(plusOne(dividers))).
			WithHint("use a run of 9 for the markers, or escape the line of content: `\\=======`")
	case len(dividers) > maxDividers:
		return diag.New(diag.MalformedStructure, "%d lines may be the divider, at most %d are tried", len(dividers), maxDividers).
			WithHint("use a run of 9 for the markers, or escape the lines of content: `\\=======`")
	}
	t := batch.Task{
		Dialect: "aider", Action: "search_replace", Params: []batch.Param{param("path", b.path)}, Span: b.span(b.first, b.last),
	}
	splits := make([]batch.Split, 0, len(dividers))
	for _, at := range slices.Backward(dividers) {
		old, _ := b.unescaped(start, at)
		text, none := b.unescaped(at+1, b.last)
		splits = append(splits, batch.Split{Divider: at + 1, Old: old, New: text, NoNew: none})
	}
	if len(splits) > 1 {
		t.Params = append(t.Params, param("dividers", plusOne(dividers)))
	} else {
		splits[0].Divider = 0
		t.Params = append(t.Params, param("search", splits[0].Old), param("replace", splits[0].New))
	}
	if len(splits) == 1 && strings.Trim(splits[0].Old, " \t\r\n") == "" {
		content := splits[0].New
		if !splits[0].NoNew {
			content += "\n"
		}
		t.Op = batch.Write{Path: b.path, Content: content, Mode: batch.Fill}
	} else {
		t.Op = batch.Edit{
			Path: b.path, Splits: splits, Expect: batch.Expect{Count: 1}, Lines: true, Elision: true, AllowEmpty: true,
			Near: b.near, Match: b.peerTier(batch.Whitespace),
		}
	}
	if hasConflict(splits[0].New) {
		b.warn("aider", ConflictMarks, b.first+1, "the new content has git conflict markers")
	}
	b.addTask(t)
	return nil
}

// peerTier is the loosest tier of a dialect that is loose by itself: only exact if that was asked for.
func (s *scan) peerTier(usual batch.MatchTier) batch.MatchTier {
	if s.opts.OnlyExact {
		return batch.Exact
	}
	return usual
}

func plusOne(lines []int) []int {
	all := make([]int, len(lines))
	for i, n := range lines {
		all[i] = n + 1
	}
	return all
}

// hint passes over the lines that say where the text was believed to be, and gives the first line of SEARCH.
func (b *searchBlock) hint() int {
	i := b.first + 1
	found := false
	for _, label := range []string{":start_line:", ":end_line:"} {
		if i >= b.last {
			break
		}
		rest, ok := strings.CutPrefix(b.bare(i), label)
		n, err := strconv.Atoi(strings.Trim(rest, " \t"))
		if !ok || err != nil {
			continue
		}
		if label == ":start_line:" {
			b.near = n
		}
		found = true
		i++
	}
	if found && i < b.last {
		if line := b.line(i); runLength(line, '-') >= 5 && runLength(line, '-') <= 9 && onlyBlanks(line[runLength(line, '-'):]) {
			i++
		}
	}
	return i
}

// dividers gives the lines that may divide the block: those of its own run that are not quoted, else those of any run
// that are not quoted, else all.
func (b *searchBlock) dividers(from int) []int {
	t, idx, end, strict := b.t, b.idx, b.end, b.strict
	if b.run > aiderRun { // git's conflicts have another run than a dash form
		t = b.aiderTables().any
		var ok bool
		if idx, ok = t.at(b.first); ok {
			end = t.limitAt(b.last)
		}
	}
	quoted := inside(t.regions(wReplace, t.marks[idx].run, idx+1, end, strict, true), idx+1, end)
	hidden := map[int32]bool{}
	for k, q := range quoted {
		if q {
			hidden[t.marks[idx+1+int32(k)].line] = true
		}
	}
	own := b.run % aiderRun
	var sameFree, anyFree, all []int
	for i := from; i < b.last; i++ {
		m := aiderMark(b.line(i))
		if m.run == 0 || m.class != divider {
			continue
		}
		all = append(all, i)
		if hidden[int32(i)] {
			continue
		}
		anyFree = append(anyFree, i)
		if m.run == own {
			sameFree = append(sameFree, i)
		}
	}
	switch {
	case len(sameFree) > 0:
		return sameFree
	case len(anyFree) > 0:
		return anyFree
	}
	return all
}

// unescaped gives the lines [first, last) joined, each less the backslash that kept it from being structure.
func (b *searchBlock) unescaped(first, last int) (text string, empty bool) {
	if first >= last {
		return "", true
	}
	v := b.view()
	if whole := v.text[v.starts[first]:v.starts[last]]; !strings.HasPrefix(whole, `\`) && !strings.Contains(whole, "\n\\") {
		return strings.TrimSuffix(whole, "\n"), false
	}
	lines := make([]string, 0, last-first)
	for i := first; i < last; i++ {
		line := b.raw(i)
		if strings.HasPrefix(line, `\`) && escapable(strings.TrimLeft(line, `\`)) {
			line = line[1:]
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n"), false
}
