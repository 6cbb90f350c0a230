package parse

import (
	"bytes"
	"fmt"
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

// aiderRun tells the two forms of a marker apart in a mark's run: dash forms count from here.
const aiderRun = 100

// aiderMark says what a line is in this dialect, with run 0 for a line that is nothing.
func aiderMark(line []byte) (m mark) {
	if len(line) < 5 {
		return m
	}
	c := line[0]
	n := runLength(line, c)
	if n < 5 || n > 9 {
		return m
	}
	rest := line[n:]
	if c == '=' {
		if onlyBlanks(rest) {
			return mark{run: int32(n), class: divider}
		}
		return m
	}
	label := string(bytes.TrimRight(bytes.TrimLeft(rest, " \t"), " \t"))
	if len(rest) == 0 || !blank(rest[0]) {
		return m
	}
	label = strings.TrimSuffix(label, ">")
	switch {
	case c == '<' && label == "SEARCH":
		return mark{run: int32(n), class: opener, word: wSearch}
	case c == '-' && label == "SEARCH":
		return mark{run: int32(n) + aiderRun, class: opener, word: wSearch}
	case c == '>' && label == "REPLACE":
		return mark{run: int32(n), class: closer, word: wReplace}
	case c == '+' && label == "REPLACE":
		return mark{run: int32(n) + aiderRun, class: closer, word: wReplace}
	}
	return m
}

// aiderTables are the marks of a view: once each run for itself, once all runs and forms taken for the same.
type aiderTables struct{ same, any *markTable }

func (s *scan) aiderTables() *aiderTables {
	all, _ := s.memo["aider"].(map[int]*aiderTables)
	if all == nil {
		all = map[int]*aiderTables{}
		s.memo["aider"] = all
	}
	if t := all[s.strip]; t != nil {
		return t
	}
	t := &aiderTables{same: &markTable{}, any: &markTable{}}
	for i := range s.lines() {
		line := s.line(i)
		m := aiderMark(line)
		if m.run == 0 {
			var ok bool
			if m, ok = classify(line); !ok || m.class == section {
				continue
			}
		}
		m.line = int32(i)
		t.same.marks = append(t.same.marks, m)
		if m.class == opener && m.word != wSearch || m.class == closer && m.word != wReplace {
			continue
		}
		m.run = 1
		t.any.marks = append(t.any.marks, m)
	}
	t.same.balance()
	t.any.balance()
	all[s.strip] = t
	return t
}

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
		if b.end, b.strict = b.t.close(b.idx, int32(len(b.t.marks))); b.end != none {
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
		if hidden[int32(i)] || b.insideRegion(quoted, t, idx, i) {
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

// insideRegion reports whether a line that is no mark of the table lies between two marks of the same quoted region.
func (b *searchBlock) insideRegion(quoted []bool, t *markTable, idx int32, line int) bool {
	k := int(t.limitAt(line) - idx - 1)
	return k > 0 && k < len(quoted) && quoted[k] && quoted[k-1] && int(t.marks[int(idx)+1+k].line) != line
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

// escapable reports whether a line would be structure, or could be taken for it.
func escapable(line string) bool {
	text := []byte(strings.TrimSuffix(line, "\r"))
	if aiderMark(text).run > 0 || strings.HasPrefix(line, ":start_line:") || strings.HasPrefix(line, ":end_line:") {
		return true
	}
	if n := runLength(text, '-'); n >= 5 && n <= 9 && onlyBlanks(text[n:]) {
		return true
	}
	for _, c := range []byte("<>") {
		if n := runLength(text, c); n == minRun && (len(text) == n || blank(text[n])) {
			return true
		}
	}
	return false
}

func (s *scan) strayReplace(i int) {
	err := diag.New(diag.MalformedStructure, "REPLACE marker outside a block").At(diag.Pos{Line: i + 1, Column: 1})
	err.WithHint("the block above ended too early or its opener is wrong")
	for _, w := range slices.Backward(s.list.Warnings) {
		if w.Dialect == "aider" && w.Code == NearMiss {
			err.WithHint("the block above ended too early or its opener is wrong: line %d has `%s`", w.Pos.Line, clip(s.bare(w.Pos.Line-1)))
			break
		}
	}
	s.list.Problems = append(s.list.Problems, diag.Problem{
		Error: err, Kind: diag.Syntax, Dialect: "aider", BlockStart: i + 1, BlockEnd: i + 1, Refuses: true,
	})
}

// aiderNearMiss warns about lines that were meant as openers or closers and are not.
func (s *scan) aiderNearMiss(line []byte, i int) {
	trimmed := bytes.TrimLeft(line, " \t")
	if len(trimmed) < 9 || (trimmed[0] != '<' && trimmed[0] != '>') {
		return
	}
	n := runLength(trimmed, trimmed[0])
	if n < 3 {
		return
	}
	label := strings.TrimSuffix(strings.TrimSpace(string(trimmed[n:])), ">")
	upper := strings.ToUpper(label)
	var why string
	switch {
	case upper != "SEARCH" && upper != "REPLACE" && label != "ORIGINAL" && label != "UPDATED":
		return
	case (label == "SEARCH" || label == "REPLACE") && s.reads("markers") && n >= minRun:
		return // that dialect has its own words for it
	case label == "ORIGINAL" || label == "UPDATED":
		why = "the words are SEARCH and REPLACE"
	case label != upper:
		why = "the words are upper case"
	case len(trimmed) != len(line):
		why = "markers stand at the line start"
	case n < 5 || n > 9:
		why = "a marker has 5 to 9 characters"
	default:
		why = "a blank stands before the word"
	}
	s.warn("aider", NearMiss, i+1, fmt.Sprintf("%s looks like a marker and is read as prose: %s", clip(string(trimmed)), why))
}
