package parse

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// generation is one of the three spellings of the markers that are in use.
type generation struct {
	name   string
	mark   string // opens a header
	end    string // opens an end marker
	delim  string // opens a heredoc delimiter
	word   string // in messages
	inline bool   // strict: a delimiter may stand at the end of a content line, and ' behind an end marker
}

var generations = []*generation{
	{name: "sham", mark: "#!SHAM", end: "#!END_SHAM_", delim: "EOT_SHAM_", word: "SHAM"},
	{name: "nesl-upper", mark: "#!NESL", end: "#!END_NESL_", delim: "EOT_NESL_", word: "NESL"},
	{name: "nesl", mark: "#!nesl", end: "#!end_", delim: "EOT_", word: "NESL", inline: true},
}

// usualTag is the tag that headers have.
const usualTag = "three-char-SHA-256"

// shamBlank is the trim set of the grammar, which is that of JavaScript: strings.TrimSpace differs in both directions.
func shamBlank(r rune) bool {
	switch r {
	case '\t', '\v', '\f', ' ', 0xa0, 0xfeff, '\n', '\r', 0x2028, 0x2029:
		return true
	}
	return r > 0x7f && unicode.Is(unicode.Zs, r)
}

func shamTrim(s string) string      { return strings.TrimFunc(s, shamBlank) }
func shamTrimLeft(s string) string  { return strings.TrimLeftFunc(s, shamBlank) }
func shamTrimRight(s string) string { return strings.TrimRightFunc(s, shamBlank) }

// utf16Len counts the UTF-16 code units of s, in which columns and lengths of this dialect are given.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// shamID says what is wrong with an id: its length (in UTF-16 units) or its characters.
func shamID(id string, longest int) (badLength, badCharacters bool) {
	n := utf16Len(id)
	return n < 2 || n > longest, strings.ContainsFunc(id, func(r rune) bool { return !alphanumeric(r) })
}

func alphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// goodID reports whether an id is one.
func goodID(id string, longest int) bool {
	badLength, badCharacters := shamID(id, longest)
	return !badLength && !badCharacters
}

// badKeyRune gives the first character that a key may not have, and its UTF-16 index from 1; 0 if there is none.
func badKeyRune(key string) (r rune, index int) {
	n := 1
	for i, r := range key {
		if r != '_' && !unicode.In(r, unicode.L) && (i == 0 || !unicode.In(r, unicode.N)) {
			return r, n
		}
		n += utf16Len(string(r))
	}
	return 0, 0
}

const longestKey = 256

func validKey(key string) bool {
	_, at := badKeyRune(key)
	return key != "" && at == 0 && utf16Len(key) <= longestKey
}

// header is a line that opens a block, taken apart.
type header struct {
	gen      *generation
	tag, id  string
	tagAt    int // offset of the tag
	idAt     int // offset of the id
	trailing int // offset of the blanks behind it, or -1
}

// readHeader reads a whole line as a header of a generation.
func readHeader(line string, g *generation, strict bool) (h header, ok bool) {
	h = header{gen: g, trailing: -1}
	rest, ok := strings.CutPrefix(line, g.mark+" [@")
	if !ok {
		return h, false
	}
	if !strict {
		if body := shamTrimRight(rest); body != rest {
			h.trailing = len(line) - len(rest) + len(body)
			rest = body
		}
	}
	h.tagAt = len(g.mark) + len(" [@")
	n := strings.Index(rest, ": ")
	if n < 0 || !strings.HasSuffix(rest, "]") {
		return h, false
	}
	h.tag, h.id = rest[:n], rest[n+2:len(rest)-1]
	h.idAt = h.tagAt + n + 2
	if h.id == "" || strings.Contains(h.id, "]") {
		return h, false
	}
	return h, goodTag(h.tag, g, strict)
}

func goodTag(tag string, g *generation, strict bool) bool {
	if strict && !g.inline {
		return tag == usualTag
	}
	return tag != "" && !strings.ContainsFunc(tag, func(r rune) bool {
		return !alphanumeric(r) && r != '-' && (strict || r != '_')
	})
}

// shamLines is a text as lines, with an index of what may end a block or heredoc.
type shamLines struct {
	text    string
	starts  []int // offset of each line
	cut     func(i int) int
	strict  bool
	blank   []int32          // for each line the next one, itself included, that is not blank; made on demand
	words   map[string][]int // lines that end in a delimiter-like word, by word
	exact   map[string][]int // lines that are a delimiter-like word but for blanks in front, by the whole line
	stops   map[string][]int // lines that open a heredoc with a delimiter, or end the block it belongs to, by delimiter
	ends    map[string][]int // end markers without what is forgiven behind them, by the whole line
	closing map[string][]int // lines that end a heredoc of a block that is not indented, by delimiter
	indexed bool
	runs    map[string]int // end of the run of lines with an indentation
}

// newShamLines splits a text at LF and CRLF. A text that ends in LF has one more, empty, last line.
func newShamLines(text string, strict bool) *shamLines {
	t := &shamLines{text: text, strict: strict, starts: []int{0}, cut: func(int) int { return 0 }, runs: map[string]int{}}
	for off := 0; ; {
		n := strings.IndexByte(text[off:], '\n')
		if n < 0 {
			break
		}
		off += n + 1
		t.starts = append(t.starts, off)
	}
	return t
}

func (t *shamLines) count() int { return len(t.starts) }

// raw gives line i with a CR before its LF.
func (t *shamLines) raw(i int) string {
	if i+1 < len(t.starts) {
		return t.text[t.starts[i] : t.starts[i+1]-1]
	}
	return t.text[t.starts[i]:]
}

// line gives line i without line end, "" where there is no such line. A lone CR stays.
func (t *shamLines) line(i int) string {
	if i < 0 || i >= len(t.starts) {
		return ""
	}
	s := t.raw(i)
	if i+1 < len(t.starts) {
		s = strings.TrimSuffix(s, "\r")
	}
	return s
}

// around gives the five lines around line number n (from 1), cut at LF only.
func (t *shamLines) around(n int) string {
	total := t.count()
	start, end := 0, total-1
	if total > 5 {
		start, end = n-3, n+1
		if start < 0 {
			end -= start
			start = 0
		} else if end >= total {
			start -= end - total + 1
			end = total - 1
		}
		start, end = max(start, 0), min(end, total-1)
	}
	last := len(t.text)
	if end+1 < total {
		last = t.starts[end+1] - 1
	}
	return t.text[t.starts[start]:last]
}

// nextText gives the next line at or behind i that is not blank, or -1.
func (t *shamLines) nextText(i int) int {
	if t.blank == nil {
		t.blank = make([]int32, t.count()+1)
		t.blank[t.count()] = -1
		for k := t.count() - 1; k >= 0; k-- {
			t.blank[k] = t.blank[k+1]
			if shamTrim(t.line(k)) != "" {
				t.blank[k] = int32(k)
			}
		}
	}
	if i >= t.count() {
		return -1
	}
	return int(t.blank[i])
}

// index finds delimiter-like words and end markers once for all blocks.
func (t *shamLines) index() {
	if t.indexed {
		return
	}
	t.indexed = true
	t.words, t.exact, t.stops = map[string][]int{}, map[string][]int{}, map[string][]int{}
	t.ends, t.closing = map[string][]int{}, map[string][]int{}
	for i := range t.count() {
		line := t.line(i)
		if !strings.Contains(line, "EOT_") && !strings.Contains(line, "#!") {
			continue
		}
		bare := strings.TrimSuffix(shamTrimRight(line), "'")
		if n := strings.LastIndex(bare, "EOT_"); n >= 0 {
			t.words[bare[n:]] = append(t.words[bare[n:]], i)
			if shamTrim(line[:n]) == "" && n+len(bare[n:]) == len(line) {
				t.exact[line] = append(t.exact[line], i)
			}
		}
		if _, right, ok := strings.Cut(line, "="); ok {
			if d := openerWord(shamTrim(right)); d != "" {
				t.stops[d] = append(t.stops[d], i)
			}
		}
		trimmed := shamTrimLeft(bare)
		for _, g := range generations {
			if id, ok := strings.CutPrefix(trimmed, g.end); ok && goodID(id, 16) {
				t.ends[bare] = append(t.ends[bare], i)
				t.stops[g.delim+id] = append(t.stops[g.delim+id], i)
				break
			}
		}
	}
}

// openerWord gives the delimiter of a heredoc opener in any quoting, or "".
func openerWord(right string) string {
	word, ok := strings.CutPrefix(right, "<<")
	if !ok {
		return ""
	}
	for _, q := range []string{"'", `"`} {
		if len(word) > 2 && strings.HasPrefix(word, q) && strings.HasSuffix(word, q) {
			return word[1 : len(word)-1]
		}
	}
	return word
}

// after gives the first of sorted lines behind i, or -1.
func after(lines []int, i int) int {
	n := sort.SearchInts(lines, i+1)
	if n == len(lines) {
		return -1
	}
	return lines[n]
}

// runEnd gives the line behind the run of lines from i on that are blank or start with an indentation.
func (t *shamLines) runEnd(indent string, i int) int {
	if end, known := t.runs[indent]; known && i < end {
		return end
	}
	k := i
	for k < t.count() && (strings.HasPrefix(t.line(k), indent) || shamTrim(t.line(k)) == "") {
		k++
	}
	t.runs[indent] = k
	return k
}

// firstRune gives the first character of s as a string.
func firstRune(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}
