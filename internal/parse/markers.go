package parse

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// markers is the dialect of blocks that look like git's conflict markers:
//
//	document = { prose-line | block }
//	block    = tasks | write | run | search | range
//	tasks    = OPEN(k,"TASKS",[version]) { prose-line | write | run | search | range } CLOSE(k,"TASKS")
//	write    = OPEN(k,"WRITE",path,[append],[final-newline])  content  CLOSE(k,"END")
//	run      = OPEN(k,"RUN",[dir])                            content  CLOSE(k,"END")
//	search   = OPEN(k,"SEARCH"|"EDIT",path,[count])           content  DIV(k) content CLOSE(k,"REPLACE")
//	range    = OPEN(k,"SEARCH-START",path,[count])  content  SECTION(k) content  DIV(k) content CLOSE(k,"REPLACE")
//
// k is the length of the run of marker characters, at least 7 and the same throughout a block; runs of any other
// length are text in it. markers_lines.go finds extents, this file reads what is in them.
type markers struct{}

func (markers) name() string { return "markers" }

func (markers) openers() []string {
	return []string{`<<<<<<< WRITE path="..."`, `<<<<<<< SEARCH path="..."`, `<<<<<<< RUN`, `<<<<<<< TASKS`}
}

// block is one block being read.
type block struct {
	*scan
	t       *markTable
	idx     int32 // of the opener in t
	end     int32 // of the closer
	strict  bool
	group   int
	version bool // the group has a version: unknown operations are skipped
}

func (markers) open(s *scan, i int) (next int, ok bool) {
	line := s.line(i)
	if len(line) < minRun {
		return 0, false
	}
	if c := line[0]; c != '<' && c != '>' {
		if blank(c) {
			s.indentedMarker(line, i)
		}
		return 0, false
	}
	if m := aiderMark(line); m.class == opener && m.run > 0 && s.reads("aider") {
		return 0, false // a bare SEARCH belongs to that dialect, with a path or without
	}
	return s.atLevel(s.table(), i, int32(len(s.table().marks)), 0, false)
}

// atLevel reads what stands at line i at block level: at the top, or directly in a group. limit is the mark that ends
// the region.
func (s *scan) atLevel(t *markTable, i int, limit int32, group int, version bool) (next int, ok bool) {
	idx, isMark := t.at(i)
	if !isMark {
		return i + 1, s.openerWithoutBlank(i, group)
	}
	m := t.marks[idx]
	switch m.class {
	case section, closer:
		s.strayCloser(i, m, group)
		return i + 1, true
	case gitOpener:
		return s.nearOpener(t, idx, limit, group, version)
	case opener:
		b := &block{scan: s, t: t, idx: idx, group: group, version: version}
		return b.read(limit), true
	}
	return 0, false
}

// read reads one block and gives the line behind it.
func (b *block) read(limit int32) (next int) {
	m := b.t.marks[b.idx]
	b.end, b.strict = b.t.close(b.idx, limit)
	if b.end == none {
		return b.unterminated(limit)
	}
	if m.word == wTasks {
		b.readGroup()
	} else {
		b.readTask()
	}
	return int(b.t.marks[b.end].line) + 1
}

func (b *block) first() int { return int(b.t.marks[b.idx].line) }
func (b *block) last() int  { return int(b.t.marks[b.end].line) }

// problem records what is wrong with the block, which has the lines from its opener to last.
func (b *block) problem(err *diag.Error, kind diag.Kind, last int) {
	if err.Pos.Line == 0 {
		err.Pos.Line = b.first() + 1
	}
	if err.Pos.Column == 0 {
		err.Pos.Column = 1
	}
	b.list.Problems = append(b.list.Problems, diag.Problem{
		Error: err, Kind: kind, Dialect: "markers", BlockStart: b.first() + 1, BlockEnd: last + 1, Group: b.group,
	})
}

func (b *block) malformed(format string, args ...any) *diag.Error {
	return diag.New(diag.MalformedStructure, format, args...)
}

// attributes reads the attributes of the opener.
func (b *block) attributes() ([]attribute, *diag.Error) {
	line := string(b.line(b.first()))
	name := wordNames[b.t.marks[b.idx].word]
	at := strings.Index(line, name) + len(name)
	return readAttributes(line[at:], at+1)
}

var (
	pathRule   = rule{required: true, nonEmpty: true}
	countRule  = rule{kind: countValue, allowed: "a positive number, all"}
	boolRule   = rule{kind: boolValue, allowed: "true, false"}
	dirRule    = rule{nonEmpty: true}
	markerRule = map[word]map[string]rule{
		wWrite:  {"path": pathRule, "append": boolRule, "final-newline": boolRule},
		wSearch: {"path": pathRule, "count": countRule},
		wEdit:   {"path": pathRule, "count": countRule},
		wStart:  {"path": pathRule, "count": countRule},
		wRun:    {"dir": dirRule, "path": dirRule},
		wTasks:  {"version": {kind: versionValue, allowed: "1.0, 1.0.0, 1.1, 0.0.1"}},
	}
)

func versionValue(s string) (any, bool) {
	return s, slices.Contains([]string{"1.0", "1.0.0", "1.1", "0.0.1"}, s)
}

func sortedNames(rules map[string]rule) []string { return slices.Sorted(maps.Keys(rules)) }
func names(rules map[string]rule) string         { return strings.Join(sortedNames(rules), ", ") }

// readTask reads a block that is not a group and adds its task, or says why it cannot.
func (b *block) readTask() {
	w := b.t.marks[b.idx].word
	attrs, err := b.attributes()
	kind := diag.Syntax
	var params []batch.Param
	if err == nil {
		params, err, kind = checkAttributes(attrs, markerRule[w], wordNames[w])
	}
	if err != nil {
		if w == wSearch && len(attrs) == 0 {
			err.WithHint(`write <<<<<<< SEARCH path="FILE"`)
		}
		b.problem(err, kind, b.last())
		return
	}
	t := batch.Task{
		Group: b.group, Dialect: "markers", Action: wordNames[w], Params: params, Span: b.span(b.first(), b.last()),
	}
	if err := b.readContent(&t, w); err != nil {
		b.problem(err, diag.Syntax, b.last())
		return
	}
	b.addTask(t)
}

func (b *block) readContent(t *batch.Task, w word) *diag.Error {
	values := map[string]any{}
	for _, p := range t.Params {
		values[p.Name] = p.Value
	}
	path, _ := values["path"].(string)
	switch w {
	case wWrite:
		return b.readWrite(t, path, values)
	case wRun:
		return b.readRun(t, values)
	}
	expect := batch.Expect{Count: 1}
	if n, ok := values["count"].(int); ok {
		expect.Count = n
	} else if _, ok := values["count"].(string); ok {
		expect = batch.Expect{All: true}
	}
	if w == wStart {
		return b.readRange(t, path, expect)
	}
	return b.readSearch(t, path, expect)
}

func (b *block) readWrite(t *batch.Task, path string, values map[string]any) *diag.Error {
	body := b.body(b.first()+1, b.last())
	content := strings.TrimPrefix(body.all(), string(byteOrderMark))
	if final, given := values["final-newline"].(bool); given && !final {
		content = strings.TrimSuffix(strings.TrimSuffix(content, "\n"), "\r")
	}
	t.Params = append(t.Params, batch.Param{Name: "content", Value: content})
	if values["append"] == true {
		t.Op = batch.Append{Path: path, Content: content, FreshLine: true}
	} else {
		t.Op = batch.Write{Path: path, Content: content}
	}
	b.warnConflict(content)
	return nil
}

func (b *block) readRun(t *batch.Task, values map[string]any) *diag.Error {
	dir, hasDir := values["dir"].(string)
	path, hasPath := values["path"].(string)
	if hasDir && hasPath && dir != path {
		return b.malformed("dir and path name different directories").WithHint("keep dir")
	}
	if !hasDir {
		dir = path
	}
	command, _ := b.body(b.first()+1, b.last()).part(b.first()+1, b.last())
	if strings.TrimSpace(command) == "" {
		return b.malformed("empty RUN").WithHint("put one command between RUN and END")
	}
	t.Op = batch.Run{Command: command, Dir: dir}
	t.Params = append(t.Params, batch.Param{Name: "command", Value: command})
	return nil
}

func (b *block) readSearch(t *batch.Task, path string, expect batch.Expect) *diag.Error {
	splits, dividers, err := b.splits(b.idx+1, "search")
	if err != nil {
		return err
	}
	t.Op = batch.Edit{
		Path: path, Splits: splits, Expect: expect, AllowEmpty: b.opts.AllowEmptyReplace, Match: b.opts.Match, HintCount: `count="%d"`,
	}
	t.Params = append(t.Params, partParams("search", splits, dividers)...)
	b.warnConflict(splits[0].New)
	return nil
}

func (b *block) readRange(t *batch.Task, path string, expect batch.Expect) *diag.Error {
	sec := b.section()
	if sec == none {
		return b.malformed("no SEARCH-END in the SEARCH-START block").
			WithHint("put <<<<<<< SEARCH-END between the start text and the end text")
	}
	first, last := b.first()+1, int(b.t.marks[sec].line)
	start, _ := b.body(first, last).part(first, last)
	if start == "" {
		return b.malformed("empty search: the start part has no text").At(diag.Pos{Line: first + 1}).
			WithHint("quote the first line of the range")
	}
	splits, dividers, err := b.splits(sec+1, "end")
	if err != nil {
		return err
	}
	t.Op = batch.EditRange{
		Path: path, Start: start, Splits: splits, Expect: expect, AllowEmpty: b.opts.AllowEmptyReplace, Match: b.opts.Match,
	}
	t.Params = append(t.Params, batch.Param{Name: "start", Value: start})
	t.Params = append(t.Params, partParams("end", splits, dividers)...)
	b.warnConflict(splits[0].New)
	return nil
}

// partParams are the parts of an edit, or the lines that may divide it if the file has to decide.
func partParams(old string, splits []batch.Split, dividers []int) []batch.Param {
	if len(splits) > 1 {
		return []batch.Param{{Name: "dividers", Value: dividers}}
	}
	return []batch.Param{{Name: old, Value: splits[0].Old}, {Name: "replace", Value: splits[0].New}}
}

// section finds the SEARCH-END of a range: the first that is not quoted.
func (b *block) section() int32 {
	m := b.t.marks[b.idx]
	quoted := inside(b.t.regions(m.word.closes(), m.run, b.idx+1, b.end, b.strict, false), b.idx+1, b.end)
	for i := b.idx + 1; i < b.end; i++ {
		if c := b.t.marks[i]; c.run == m.run && c.class == section && !quoted[i-b.idx-1] {
			return i
		}
	}
	return none
}

// maxDividers bounds the readings of one edit that the file is asked about.
const maxDividers = 1000

// splits gives the possible readings of an edit whose old text starts behind the mark from-1, the one to try first
// first, and the line numbers of their dividers.
func (b *block) splits(from int32, what string) ([]batch.Split, []int, *diag.Error) {
	candidates := b.dividers(from)
	if len(candidates) == 0 {
		return nil, nil, b.malformed("no ======= line in the %s block", wordNames[b.t.marks[b.idx].word]).
			WithHint("put a line of %d equals signs between the old text and the new text", b.t.marks[b.idx].run)
	}
	lines := make([]int, len(candidates))
	for i, c := range candidates {
		lines[i] = int(b.t.marks[c].line) + 1
	}
	if len(candidates) > 1 && b.opts.StrictDividers {
		return nil, nil, b.malformed("several lines may be the divider: %s", lineList(lines)).
			WithHint("use longer markers for the whole block, for example 8 characters")
	}
	if len(candidates) > maxDividers {
		return nil, nil, b.malformed("%d lines may be the divider, at most %d are tried", len(candidates), maxDividers).
			WithHint("use longer markers for the whole block, for example 8 characters")
	}
	first := int(b.t.marks[from-1].line) + 1
	body := b.body(first, b.last())
	splits := make([]batch.Split, 0, len(candidates))
	for i := len(candidates) - 1; i >= 0; i-- {
		at := lines[i] - 1
		old, _ := body.part(first, at)
		text, noNew := body.part(at+1, b.last())
		splits = append(splits, batch.Split{Divider: lines[i], Old: old, New: text, NoNew: noNew})
	}
	if len(splits) > 1 {
		return splits, lines, nil
	}
	if err := b.checkSplit(splits[0], what); err != nil {
		return nil, nil, err
	}
	splits[0].Divider = 0
	return splits, lines, nil
}

func (b *block) checkSplit(s batch.Split, what string) *diag.Error {
	if s.Old == "" {
		return b.malformed("empty search: the %s part has no text", what).
			WithHint("to make or fill a file use WRITE; to find a place quote a line of the file")
	}
	if s.NoNew && !b.opts.AllowEmptyReplace {
		return b.malformed("empty replace").At(diag.Pos{Line: s.Divider}).
			WithHint("to delete text, repeat a neighbouring line in both parts, or allow empty replacements (--allow-empty-replace)")
	}
	return nil
}

// dividers gives the marks behind from-1 that may divide the edit: those that are not quoted, else all.
func (b *block) dividers(from int32) []int32 {
	m := b.t.marks[b.idx]
	quoted := inside(b.t.regions(m.word.closes(), m.run, from, b.end, b.strict, true), from, b.end)
	var free, all []int32
	for i := from; i < b.end; i++ {
		if c := b.t.marks[i]; c.run != m.run || c.class != divider {
			continue
		}
		all = append(all, i)
		if !quoted[i-from] {
			free = append(free, i)
		}
	}
	if len(free) > 0 {
		return free
	}
	return all
}

// readGroup reads a TASKS block. One malformed task makes the whole group malformed.
func (b *block) readGroup() {
	b.batch.Groups = append(b.batch.Groups, batch.Group{Dialect: "markers", Span: b.span(b.first(), b.last())})
	number := len(b.batch.Groups)
	tasks, problems := len(b.batch.Tasks), len(b.list.Problems)
	b.group = number
	attrs, err := b.attributes()
	kind := diag.Syntax
	if err == nil {
		_, err, kind = checkAttributes(attrs, markerRule[wTasks], "TASKS")
	}
	if err != nil {
		b.problem(err, kind, b.last())
	}
	for i := b.first() + 1; i < b.last(); {
		i = b.stepInGroup(i, len(attrs) > 0)
	}
	if len(b.list.Problems) > problems {
		b.batch.Tasks = b.batch.Tasks[:tasks]
		b.batch.Groups[number-1].Malformed = true
	}
}

func (b *block) stepInGroup(i int, version bool) (next int) {
	line := b.line(i)
	if len(line) >= minRun && blank(line[0]) {
		b.indentedMarker(line, i)
	}
	if len(line) < minRun || (line[0] != '<' && line[0] != '>') {
		return i + 1
	}
	if idx, isMark := b.t.at(i); isMark && b.t.marks[idx].class == opener && b.t.marks[idx].word == wTasks {
		inner := &block{scan: b.scan, t: b.t, idx: idx, group: b.group}
		inner.end, _ = b.t.close(idx, b.end)
		if inner.end == none {
			return inner.unterminated(b.end)
		}
		inner.problem(b.malformed("TASKS in TASKS").WithHint("groups do not nest; to quote a group put it into a WRITE"), diag.Syntax, inner.last())
		return inner.last() + 1
	}
	if next, ok := b.atLevel(b.t, i, b.end, b.group, version); ok {
		return next
	}
	return i + 1
}

// warnConflict points at content that git would take for an unresolved conflict.
func (b *block) warnConflict(content string) {
	if hasConflict(content) {
		b.warn("markers", ConflictMarks, b.first()+1, "the new content has git conflict markers")
	}
}

func hasConflict(content string) bool {
	if !strings.Contains(content, "<<<<<<<") || !strings.Contains(content, ">>>>>>>") {
		return false
	}
	seen := 0
	for line := range bytes.Lines([]byte(content)) {
		m, ok := classify(chomp(line))
		if !ok || m.run != minRun {
			continue
		}
		switch {
		case m.class == gitOpener && seen == 0, m.class == divider && seen == 1:
			seen++
		case m.class == gitCloser && seen == 2:
			return true
		}
	}
	return false
}

func lineList(lines []int) string {
	shown := lines[:min(len(lines), 10)]
	var b strings.Builder
	b.WriteString("line")
	if len(lines) != 1 {
		b.WriteString("s")
	}
	for i, n := range shown {
		sep := ", "
		if i == 0 {
			sep = " "
		}
		fmt.Fprintf(&b, "%s%d", sep, n)
	}
	if more := len(lines) - len(shown); more > 0 {
		fmt.Fprintf(&b, ", +%d more", more)
	}
	return b.String()
}
