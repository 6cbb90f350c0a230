package parse

import (
	"bytes"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
)

// mark is a line that the markers dialect may give a meaning to. All other lines are text.
type mark struct {
	line  int32
	run   int32 // length of the run of marker characters
	class class
	word  word
	// end is, for an opener, the index of the mark that closes it when closers must match strictly; none without one.
	end int32
	// after is, for an END or REPLACE closer and an opener, the next closer behind it that no opener takes; none without.
	untaken int32
}

type class uint8

const (
	opener class = iota
	section
	closer
	divider
	gitOpener
	gitCloser
)

// word is the operation on an opener, or what a closer closes.
type word uint8

const (
	noWord word = iota
	wWrite
	wRun
	wSearch
	wEdit
	wStart
	wTasks
	wEnd
	wReplace
)

var openerWords = map[string]word{
	"WRITE": wWrite, "RUN": wRun, "SEARCH": wSearch, "EDIT": wEdit, "SEARCH-START": wStart, "TASKS": wTasks,
}

var closerWords = map[string]word{"END": wEnd, "REPLACE": wReplace, "TASKS": wTasks}

var wordNames = map[word]string{
	wWrite: "WRITE", wRun: "RUN", wSearch: "SEARCH", wEdit: "EDIT", wStart: "SEARCH-START", wTasks: "TASKS",
	wEnd: "END", wReplace: "REPLACE",
}

// closes gives the closer that an opener expects.
func (w word) closes() word {
	switch w {
	case wWrite, wRun:
		return wEnd
	case wTasks:
		return wTasks
	}
	return wReplace
}

const (
	minRun = 7
	none   = int32(-1)
)

// classify says what a line without its line end is. ok is false for text.
func classify(line []byte) (m mark, ok bool) {
	if len(line) < minRun {
		return m, false
	}
	c := line[0]
	if (c != '<' && c != '>' && c != '=') || line[1] != c || line[minRun-1] != c {
		return m, false
	}
	run := runLength(line, c)
	if run < minRun {
		return m, false
	}
	m.run = int32(run)
	rest := line[run:]
	if c == '=' {
		m.class = divider
		return m, onlyBlanks(rest)
	}
	if len(rest) > 0 && !blank(rest[0]) {
		return m, false
	}
	label := bytes.TrimLeft(rest, " \t")
	if c == '<' {
		m.class, m.word = classifyOpener(label)
		return m, true
	}
	if w, known := closerWords[string(bytes.TrimRight(label, " \t"))]; known {
		m.class, m.word = closer, w
		return m, true
	}
	m.class = gitCloser
	return m, true
}

func classifyOpener(label []byte) (class, word) {
	name, rest := cutWord(label)
	if w, known := openerWords[string(name)]; known {
		return opener, w
	}
	if string(name) == "SEARCH-END" && onlyBlanks(rest) {
		return section, noWord
	}
	return gitOpener, noWord
}

// cutWord splits off the first word; rest starts with a blank or is empty.
func cutWord(label []byte) (name, rest []byte) {
	if n := bytes.IndexAny(label, " \t"); n >= 0 {
		return label[:n], label[n:]
	}
	return label, nil
}

func onlyBlanks(line []byte) bool { return firstNonBlank(line) == 0 }

// markTable holds the marks of a reply in order, for one fence indentation.
type markTable struct {
	marks []mark
}

// table gives the marks as they are seen under the present fence indentation.
func (s *scan) table() *markTable {
	if t := s.marks[s.strip]; t != nil {
		return t
	}
	t := &markTable{}
	for i := 0; i < s.lines(); i++ {
		if m, ok := classify(s.line(i)); ok {
			m.line = int32(i)
			t.marks = append(t.marks, m)
		}
	}
	t.balance()
	s.marks[s.strip] = t
	return t
}

// frontier is what lies ahead of a place, among the marks of one run length: for each closer the mark that would
// close a block open at that place, and the next closer that no opener takes.
type frontier struct {
	end     [3]int32
	untaken int32
}

func slot(w word) int {
	switch w {
	case wEnd:
		return 0
	case wReplace:
		return 1
	}
	return 2
}

// balance finds every opener's closer in one pass from the last mark to the first. With strict nesting, what closes a
// block that is open at a place depends only on what follows the place, so each answer is made from later ones.
func (t *markTable) balance() {
	ahead := map[int32]*frontier{}
	behind := make([]frontier, len(t.marks)) // what lies ahead of the place just behind a closer
	for i := int32(len(t.marks)) - 1; i >= 0; i-- {
		m := &t.marks[i]
		m.end, m.untaken = none, none
		f := ahead[m.run]
		if f == nil {
			f = &frontier{end: [3]int32{none, none, none}, untaken: none}
			ahead[m.run] = f
		}
		m.untaken = f.untaken
		switch m.class {
		case opener:
			m.end = f.end[slot(m.word.closes())]
			if m.end == none {
				f.end = [3]int32{none, none, none} // an opener that is never closed takes everything
			} else {
				*f = behind[m.end]
			}
		case closer:
			behind[i] = *f
			f.end[slot(m.word)] = i
			if m.word != wTasks {
				f.untaken = i
			}
		}
	}
}

// at gives the index of the mark on line i.
func (t *markTable) at(i int) (idx int32, ok bool) {
	idx = t.limitAt(i)
	return idx, int(idx) < len(t.marks) && int(t.marks[idx].line) == i
}

// close finds the mark that ends the block which the mark idx opens, looking no further than the mark before limit.
// strict says which of the two passes of the grammar found it.
func (t *markTable) close(idx, limit int32) (end int32, strict bool) {
	m := t.marks[idx]
	if m.end != none && m.end < limit {
		return m.end, true
	}
	return t.closeLoosely(idx, limit), false
}

// closeLoosely is pass B: a closer that is not the innermost one also closes everything inside the block it closes.
func (t *markTable) closeLoosely(idx, limit int32) int32 {
	first := t.marks[idx]
	stack := []word{first.word.closes()}
	var open [wReplace + 1]int
	open[stack[0]]++
	for i := idx + 1; i < limit; i++ {
		m := t.marks[i]
		if m.run != first.run {
			continue
		}
		switch {
		case m.class == opener:
			stack = append(stack, m.word.closes())
			open[m.word.closes()]++
		case m.class == closer && open[m.word] > 0:
			for popped := noWord; popped != m.word; {
				popped = stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				open[popped]--
			}
			if len(stack) == 0 {
				return i
			}
		}
	}
	return none
}

// limitAt gives the index of the first mark at or behind line i.
func (t *markTable) limitAt(i int) int32 {
	lo, hi := 0, len(t.marks)
	for lo < hi {
		mid := (lo + hi) / 2
		if int(t.marks[mid].line) < i {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return int32(lo)
}

// region is an opener with the mark that closed it.
type region struct{ from, to int32 }

// regions walks the marks [from, to) of one block once more and gives the pairs inside it: what is quoted there.
// strict is the pass that found the block's extent; withGit also pairs git's own conflict markers.
func (t *markTable) regions(base word, run, from, to int32, strict, withGit bool) []region {
	w := walk{ours: []int{0}, strict: strict, stack: []open{{base, none}}}
	w.count[base]++
	for i := from; i < to; i++ {
		m := t.marks[i]
		if m.run != run {
			continue
		}
		switch {
		case m.class == opener:
			w.ours = append(w.ours, len(w.stack))
			w.stack = append(w.stack, open{m.word.closes(), i})
			w.count[m.word.closes()]++
		case m.class == gitOpener && withGit:
			w.stack = append(w.stack, open{noWord, i})
		case m.class == gitCloser && withGit:
			w.closeGit(i)
		case m.class == closer:
			w.close(m.word, i)
		}
	}
	return w.found
}

// open is a block that is open at a place; git's conflicts close nothing of ours and have noWord.
type open struct {
	closes word
	at     int32
}

type walk struct {
	stack  []open
	ours   []int // indices into stack of the entries that are not git's; ours[0] is the block itself
	count  [wReplace + 1]int
	strict bool
	found  []region
}

func (w *walk) closeGit(at int32) {
	top := w.stack[len(w.stack)-1]
	if top.closes != noWord {
		return
	}
	w.stack = w.stack[:len(w.stack)-1]
	w.found = append(w.found, region{top.at, at})
}

// close pops the entry that the closer fits and everything above it. The block's own entry stays: its closer is not
// among the marks that are walked.
func (w *walk) close(closes word, at int32) {
	k := len(w.ours) - 1
	if w.count[closes] == 0 || (w.strict && w.stack[w.ours[k]].closes != closes) {
		return
	}
	for w.stack[w.ours[k]].closes != closes {
		w.count[w.stack[w.ours[k]].closes]--
		k--
	}
	if k == 0 {
		w.ours = w.ours[:1]
		return
	}
	w.count[closes]--
	w.found = append(w.found, region{w.stack[w.ours[k]].at, at})
	w.stack = w.stack[:w.ours[k]]
	w.ours = w.ours[:k]
}

// inside marks, for the marks [from, to), those that lie in one of the regions.
func inside(regions []region, from, to int32) []bool {
	depth := make([]int32, to-from+1)
	for _, r := range regions {
		depth[r.from-from]++
		depth[r.to-from+1]--
	}
	covered := make([]bool, to-from)
	sum := int32(0)
	for i := range covered {
		sum += depth[i]
		covered[i] = sum > 0
	}
	return covered
}

// body is the content of lines [first, last), with the offset of each line in text and of the end.
type body struct {
	text   string
	first  int
	starts []int32
}

// body gives the lines [first, last) less the indentation of the fence. Without one it shares the reply's memory.
func (s *scan) body(first, last int) body {
	if s.strip == 0 {
		return body{text: s.str, first: first, starts: s.starts[first : last+1]}
	}
	b := body{first: first, starts: make([]int32, 0, last-first+1)}
	var text []byte
	for i := first; i < last; i++ {
		b.starts = append(b.starts, int32(len(text)))
		text = append(text, s.whole(i)...)
	}
	b.starts = append(b.starts, int32(len(text)))
	b.text = string(text)
	return b
}

// all gives the lines with their line ends.
func (b body) all() string { return b.text[b.starts[0]:b.starts[len(b.starts)-1]] }

// part gives the lines [first, last) joined, without the line end of the last one. empty says that there is no line.
func (b body) part(first, last int) (text string, empty bool) {
	if first >= last {
		return "", true
	}
	text = b.text[b.starts[first-b.first]:b.starts[last-b.first]]
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"), false
}

// expectOf reads the value of a count attribute.
func expectOf(value string) (batch.Expect, bool) {
	if value == "all" || value == "any" {
		return batch.Expect{All: true}, true
	}
	if value == "" || value[0] == '0' || digits([]byte(value)) != len(value) || len(value) > 9 {
		return batch.Expect{}, false
	}
	n := 0
	for _, c := range value {
		n = n*10 + int(c-'0')
	}
	return batch.Expect{Count: n}, true
}
