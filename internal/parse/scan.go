package parse

import (
	"bytes"
	"strconv"
	"strings"
	"unsafe"

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
	liners   []lineDialect
	inliners []inlineDialect
	fencers  []fenceDialect
	opts     Options

	strip  int   // leading blanks that are removed from every line: the indentation of the open fence
	fence  fence // the open fence, if any
	strips map[int]bool
	behind int // first line behind the last block and the last closed fence: what a path line may not stand above

	noThinkEnd   map[string]bool // closing tags that were looked for and do not come any more
	noCommentEnd bool

	marks     map[int]*markTable // of the markers dialect, per strip
	views     map[int]*view      // per strip
	seen      *view              // the one of seenStrip, the last that was asked for
	seenStrip int
	memo      map[string]any // what a dialect keeps between blocks

	fences []fencedLines // the fences of the reply outside blocks
	loose  int           // blocks of aider whose closers do not nest
	passed int           // fences that were looked at whole and turned out to hold blocks

	hadBOM     bool // the reply started with a byte order mark
	sawTags    bool // a block of tags opened
	loneStrays []diag.Problem
	hasClosers int // 0: not known, 1: no, 2: yes

	batch *batch.Batch
	list  *diag.List
}

func newScan(text []byte, o Options, b *batch.Batch, list *diag.List) *scan {
	s := &scan{
		text: text, str: shared(text), opts: o, batch: b, list: list, noThinkEnd: map[string]bool{}, marks: map[int]*markTable{},
		views: map[int]*view{}, strips: map[int]bool{}, memo: map[string]any{},
	}
	for _, d := range registry {
		if !s.reads(d.name()) {
			continue
		}
		s.dialects = append(s.dialects, d)
		if l, ok := d.(lineDialect); ok {
			s.liners = append(s.liners, l)
		}
		if t, ok := d.(inlineDialect); ok {
			s.inliners = append(s.inliners, t)
		}
		if f, ok := d.(fenceDialect); ok && o.Dialect == d.name() {
			s.fencers = append(s.fencers, f)
		}
	}
	s.starts = lineStarts(text)
	return s
}

// reads reports whether a dialect is looked for.
func (s *scan) reads(name string) bool {
	return s.opts.reads(name)
}

// shared gives a text as a string without copying it: a reply is never written to once it is being read.
func shared(text []byte) string { return unsafe.String(unsafe.SliceData(text), len(text)) }

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
	if s.fence.char != 0 {
		s.fences = append(s.fences, fencedLines{s.fence.line, s.lines(), s.fence.info})
	}
	for _, d := range s.dialects {
		if f, ok := d.(finisher); ok {
			f.finish(s)
		}
	}
	s.settleStrays()
	s.warnSameTwice()
}

// step looks at line i, which no block owns, and gives the next line that no block owns.
func (s *scan) step(i int) (next int) {
	line := s.line(i)
	first := firstNonBlank(line)
	if first == 0 {
		return i + 1
	}
	if !mayOpen[first] && !s.fence.lead {
		if s.closers() && bytes.Contains(line, []byte("</")) {
			v := s.view()
			s.stray(int(v.starts[i]), v.lineEnd(i))
		}
		return i + 1
	}
	if s.fence.char == 0 {
		if next, ok := s.openFence(i); ok {
			return next
		}
	}
	if s.fenceLine(line, i) {
		return i + 1
	}
	next = s.open(line, i, first)
	s.fence.lead = false
	return next
}

// mayOpen are the characters with which a line that matters can start, blanks aside: those of openers, fences and what
// may stand before them.
var mayOpen = func() (set [256]bool) {
	for _, c := range []byte("<>-+*#=~`[|d0123456789\\") {
		set[c] = true
	}
	return set
}()

// closers reports whether the text has closing tags at all.
func (s *scan) closers() bool {
	if s.hasClosers == 0 {
		s.hasClosers = 1
		if strings.Contains(s.str, "</") {
			s.hasClosers = 2
		}
	}
	return s.hasClosers == 2
}

// open looks for thinking, a comment or a block that starts on line i.
func (s *scan) open(line []byte, i int, first byte) (next int) {
	if first == '<' {
		if end, ok := s.skipThinking(i); ok {
			return s.after(end)
		}
		if end, ok := s.skipComment(i); ok {
			return s.after(end)
		}
	}
	ignore := s.opts.IgnoreFences && s.fence.char != 0
	for _, d := range s.liners {
		var ok bool
		if ignore {
			next, ok = s.try(func() (int, bool) { return d.open(s, i) })
		} else {
			next, ok = d.open(s, i)
		}
		if ok {
			s.behind = next
			return next
		}
	}
	v := s.view()
	if lead := skipLeadIn(line); len(lead) > 0 && lead[0] == '<' {
		if end, ok := s.inline(int(v.starts[i]) + len(line) - len(lead)); ok {
			return s.after(end)
		}
	}
	if s.closers() {
		s.stray(int(v.starts[i]), v.lineEnd(i))
	}
	return i + 1
}

// after goes on behind a block that ended at offset off of the view: another tag may open directly behind it.
func (s *scan) after(off int) (next int) {
	v := s.view()
	for {
		i := v.lineAt(max(off-1, 0))
		end := v.lineEnd(i)
		s.behind = i + 1
		for off < end && (blank(v.text[off]) || v.text[off] == '\r') {
			off++
		}
		if off >= end {
			return i + 1
		}
		next, ok := s.inline(off)
		if !ok {
			s.stray(off, end)
			return i + 1
		}
		off = next
	}
}

// refuseStray refuses the reply for a closing tag that closes nothing: an earlier block of tags ended too early. Where no
// such block came before it, it can prove nothing; then it waits for what else the reply holds.
func (s *scan) refuseStray(p diag.Problem) {
	if s.sawTags {
		s.list.Problems = append(s.list.Problems, p)
		return
	}
	s.loneStrays = append(s.loneStrays, p)
}

// settleStrays decides about closing tags without any block of tags before them: in a reply that asks for nothing else
// they were meant, else they are text, such as code that is shown.
func (s *scan) settleStrays() {
	nothing := len(s.batch.Tasks)+len(s.batch.Groups)+len(s.list.Problems) == 0
	for _, p := range s.loneStrays {
		if nothing {
			s.list.Problems = append(s.list.Problems, p)
		} else {
			s.list.Warnings = append(s.list.Warnings, diag.Warning{
				Dialect: p.Dialect, Code: NearMiss, Pos: p.Pos, Message: "a closing tag without any block of tags above it is read as prose",
			})
		}
	}
}

// inline asks the dialects whose blocks may open in the middle of a line.
func (s *scan) inline(off int) (end int, ok bool) {
	v := s.view()
	if off >= len(v.text) || v.text[off] != '<' {
		return 0, false
	}
	for _, t := range s.inliners {
		if end, ok := s.try(func() (int, bool) { return t.openAt(s, off) }); ok {
			s.sawTags = true
			return end, true
		}
	}
	return 0, false
}

// stray lets the dialects look at text outside blocks that could be the rest of one.
func (s *scan) stray(lo, hi int) {
	v := s.view()
	if !strings.Contains(v.text[lo:hi], "</") || s.opts.IgnoreFences && s.fence.char != 0 {
		return
	}
	for _, t := range s.inliners {
		if _, ok := s.try(func() (int, bool) { return 0, t.stray(s, lo, hi) }); ok {
			return
		}
	}
}

// try asks one dialect, and takes back what it read where blocks in fences are ignored.
func (s *scan) try(open func() (int, bool)) (next int, ok bool) {
	tasks, groups := len(s.batch.Tasks), len(s.batch.Groups)
	problems, warnings := len(s.list.Problems), len(s.list.Warnings)
	fenced := s.fence.char != 0
	next, ok = open()
	if ok && s.opts.IgnoreFences && fenced {
		s.batch.Tasks, s.batch.Groups = s.batch.Tasks[:tasks], s.batch.Groups[:groups]
		s.list.Problems, s.list.Warnings = s.list.Problems[:problems], s.list.Warnings[:warnings]
	}
	return next, ok
}

// span makes the span of the lines first to last.
func (s *scan) span(first, last int) batch.Span {
	return batch.Span{Start: first + 1, End: last + 1, Lo: int(s.starts[first]), Hi: int(s.starts[last+1])}
}

// addTask gives t the next number.
func (s *scan) addTask(t batch.Task) {
	if s.batch.Tasks == nil {
		s.batch.Tasks = make([]batch.Task, 0, 8+len(s.str)/1024)
	}
	t.Seq = len(s.batch.Tasks) + 1
	t.Fenced = t.Fenced || s.fence.char != 0
	s.batch.Tasks = append(s.batch.Tasks, t)
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
