package parse

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"strconv"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// scan is one pass over the lines of a reply. Lines count from 0 inside this package and from 1 in everything that
// leaves it.
type scan struct {
	text     []byte
	str      string  // the same
	starts   []int32 // offset of each line, and one more for the end of the text
	dialects []dialect
	opts     Options

	strip int   // leading blanks that are removed from every line: the indentation of the open fence
	fence fence // the open fence, if any

	noThinkEnd   map[string]bool // closing tags that were looked for and do not come any more
	noCommentEnd bool

	marks map[int]*markTable // of the markers dialect, per strip

	batch *batch.Batch
	list  *diag.List
}

// fence is an open markdown fence.
type fence struct {
	char byte // 0: none is open
	run  int
}

func newScan(text []byte, o Options, b *batch.Batch, list *diag.List) *scan {
	s := &scan{text: text, str: string(text), opts: o, batch: b, list: list, noThinkEnd: map[string]bool{}, marks: map[int]*markTable{}}
	for _, d := range registry {
		if o.Dialect == "" || o.Dialect == "auto" || o.Dialect == d.name() {
			s.dialects = append(s.dialects, d)
		}
	}
	s.starts = lineStarts(text)
	return s
}

func lineStarts(text []byte) []int32 {
	starts := make([]int32, 1, 2+bytes.Count(text, []byte("\n")))
	for off := 0; off < len(text); {
		n := bytes.IndexByte(text[off:], '\n')
		if n < 0 {
			off = len(text)
		} else {
			off += n + 1
		}
		starts = append(starts, int32(off))
	}
	return starts
}

// lines is the number of lines, counted as git counts them.
func (s *scan) lines() int { return len(s.starts) - 1 }

// whole gives line i with its line end, less the indentation of the fence.
func (s *scan) whole(i int) []byte {
	line := s.text[s.starts[i]:s.starts[i+1]]
	for n := 0; n < s.strip && len(line) > 0 && blank(line[0]); n++ {
		line = line[1:]
	}
	return line
}

// line gives line i without its line end and without one CR before it.
func (s *scan) line(i int) []byte { return chomp(s.whole(i)) }

func chomp(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r"))
}

// run goes over the reply once.
func (s *scan) run() {
	for i := 0; i < s.lines(); {
		i = s.step(i)
	}
	s.warnSameTwice()
}

func (s *scan) step(i int) (next int) {
	line := s.line(i)
	first := firstNonBlank(line)
	if first == 0 {
		return i + 1
	}
	if s.fenceLine(line) {
		return i + 1
	}
	if first == '<' {
		if next, ok := s.skipThinking(i); ok {
			return next
		}
		if next, ok := s.skipComment(i); ok {
			return next
		}
	}
	for _, d := range s.dialects {
		if next, ok := s.open(d, i); ok {
			return next
		}
	}
	return i + 1
}

// open asks one dialect, and takes back what it read where blocks in fences are ignored.
func (s *scan) open(d dialect, i int) (next int, ok bool) {
	tasks, groups := len(s.batch.Tasks), len(s.batch.Groups)
	problems, warnings := len(s.list.Problems), len(s.list.Warnings)
	next, ok = d.open(s, i)
	if ok && s.opts.IgnoreFences && s.fence.char != 0 {
		s.batch.Tasks, s.batch.Groups = s.batch.Tasks[:tasks], s.batch.Groups[:groups]
		s.list.Problems, s.list.Warnings = s.list.Problems[:problems], s.list.Warnings[:warnings]
	}
	return next, ok
}

// fenceLine opens or closes a fence. Fences do not nest: inside one, only its closer counts.
func (s *scan) fenceLine(line []byte) bool {
	indent := len(line) - len(bytes.TrimLeft(line, " \t"))
	rest := skipLeadIn(line)
	if len(rest) < 3 || (rest[0] != '`' && rest[0] != '~') {
		return false
	}
	run := runLength(rest, rest[0])
	if run < 3 {
		return false
	}
	info := bytes.TrimSpace(rest[run:])
	if s.fence.char != 0 {
		if rest[0] != s.fence.char || run < s.fence.run || len(info) > 0 {
			return false
		}
		s.fence, s.strip = fence{}, 0
		return true
	}
	if rest[0] == '`' && bytes.IndexByte(info, '`') >= 0 {
		return false
	}
	s.fence, s.strip = fence{char: rest[0], run: run}, indent
	return true
}

// skipLeadIn drops blanks, list markers and quote marks with the blanks behind them.
func skipLeadIn(line []byte) []byte {
	for {
		line = bytes.TrimLeft(line, " \t")
		n := listMarker(line)
		if n == 0 || n >= len(line) || !blank(line[n]) {
			return line
		}
		line = line[n:]
	}
}

// listMarker gives the length of a list marker or quote mark at the start of line, or 0.
func listMarker(line []byte) int {
	if len(line) == 0 {
		return 0
	}
	switch line[0] {
	case '-', '*', '+', '>':
		return 1
	case '[':
		if n := digits(line[1:]); n > 0 && 1+n < len(line) && line[1+n] == ']' {
			return n + 2
		}
		return 0
	}
	if n := digits(line); n > 0 && n < len(line) && (line[n] == '.' || line[n] == ')') {
		return n + 1
	}
	return 0
}

// skipThinking skips a <think> section. What a model thinks is not what it asks for.
func (s *scan) skipThinking(i int) (next int, ok bool) {
	line := bytes.TrimLeft(s.line(i), " \t")
	for _, name := range []string{"think", "thinking"} {
		if foldPrefix(line, "</"+name+">") {
			s.warn("", ReasoningAbove, i+1, "</"+name+"> without <"+name+">: the text above may be reasoning")
			return i + 1, true
		}
		if !foldPrefix(line, "<"+name+">") {
			continue
		}
		known := s.noThinkEnd[name]
		end := s.closingTag(i, name)
		if end < 0 && known {
			return i + 1, true // said once already
		}
		if end < 0 {
			s.warn("", UnclosedThink, i+1, "<"+name+"> is never closed: what follows is read")
			return i + 1, true
		}
		return s.lineAt(end) + 1, true
	}
	return 0, false
}

// closingTag gives the offset of the next </name> at or behind line i, or -1. A miss is remembered: there is none
// further down either.
func (s *scan) closingTag(i int, name string) int {
	if s.noThinkEnd[name] {
		return -1
	}
	tag := "</" + name + ">"
	for off := int(s.starts[i]); ; {
		n := bytes.Index(s.text[off:], []byte("</"))
		if n < 0 {
			s.noThinkEnd[name] = true
			return -1
		}
		off += n
		if foldPrefix(s.text[off:], tag) {
			return off
		}
		off += 2
	}
}

// skipComment skips <!-- ... -->, so that what is commented out is not applied.
func (s *scan) skipComment(i int) (next int, ok bool) {
	if !bytes.HasPrefix(bytes.TrimLeft(s.line(i), " \t"), []byte("<!--")) || s.noCommentEnd {
		return 0, false
	}
	off := int(s.starts[i])
	n := bytes.Index(s.text[off:], []byte("-->"))
	if n < 0 {
		s.noCommentEnd = true
		return 0, false
	}
	return s.lineAt(off+n) + 1, true
}

// lineAt gives the line that holds offset off.
func (s *scan) lineAt(off int) int {
	lo, hi := 0, s.lines()
	for lo < hi {
		mid := (lo + hi) / 2
		if int(s.starts[mid+1]) > off {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// span makes the span of the lines first to last.
func (s *scan) span(first, last int) batch.Span {
	return batch.Span{Start: first + 1, End: last + 1, Lo: int(s.starts[first]), Hi: int(s.starts[last+1])}
}

// addTask gives t the next number.
func (s *scan) addTask(t batch.Task) {
	t.Seq = len(s.batch.Tasks) + 1
	t.Fenced = s.fence.char != 0
	s.batch.Tasks = append(s.batch.Tasks, t)
}

// warnSameTwice points at tasks that ask for exactly what an earlier one asked for.
func (s *scan) warnSameTwice() {
	seed := maphash.MakeSeed()
	seen := make(map[uint64]int, len(s.batch.Tasks))
	for i := range s.batch.Tasks {
		t := &s.batch.Tasks[i]
		var h maphash.Hash
		h.SetSeed(seed)
		for _, part := range opKey(t.Op) {
			h.WriteString(strconv.Itoa(len(part)) + ":")
			h.WriteString(part)
		}
		if first, ok := seen[h.Sum64()]; ok {
			s.warn(t.Dialect, SameTwice, t.Span.Start, "task "+strconv.Itoa(t.Seq)+" is the same as task "+strconv.Itoa(first))
			continue
		}
		seen[h.Sum64()] = t.Seq
	}
}

// opKey gives the texts of an op without the line numbers in it.
func opKey(op batch.Op) []string {
	switch o := op.(type) {
	case batch.Edit:
		return splitKey([]string{op.Name(), o.Path, fmt.Sprint(o.Expect)}, o.Splits)
	case batch.EditRange:
		return splitKey([]string{op.Name(), o.Path, fmt.Sprint(o.Expect), o.Start}, o.Splits)
	case batch.Write:
		return []string{op.Name(), o.Path, fmt.Sprint(o.Mode), string(o.Content)}
	case batch.Append:
		return []string{op.Name(), o.Path, string(o.Content)}
	}
	return []string{op.Name(), fmt.Sprintf("%q", op)}
}

func splitKey(key []string, splits []batch.Split) []string {
	if len(splits) > 0 {
		key = append(key, splits[0].Old, splits[0].New)
	}
	return key
}

func lineRef(n int) string { return "line " + strconv.Itoa(n) }

func blank(c byte) bool { return c == ' ' || c == '\t' }

func firstNonBlank(line []byte) byte {
	for _, c := range line {
		if !blank(c) {
			return c
		}
	}
	return 0
}

func runLength(line []byte, c byte) int {
	n := 0
	for n < len(line) && line[n] == c {
		n++
	}
	return n
}

func digits(line []byte) int {
	n := 0
	for n < len(line) && line[n] >= '0' && line[n] <= '9' {
		n++
	}
	return n
}

func foldPrefix(line []byte, prefix string) bool {
	return len(line) >= len(prefix) && bytes.EqualFold(line[:len(prefix)], []byte(prefix))
}
