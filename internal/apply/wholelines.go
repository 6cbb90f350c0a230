package apply

import (
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
)

// Formats whose old text is a list of whole lines compare it line by line, through tiers from strict to loose. The first
// tier in which any place matches decides; more than one place there is a failure, never a choice.
const (
	tierPunctuation = "punctuation"
	tierElision     = "elision"
)

// lineTiers gives the tiers up to a loosest one, in order.
func lineTiers(loosest batch.MatchTier) []string {
	return []string{tierExact, tierTrailing, tierIndent, tierPunctuation}[:map[batch.MatchTier]int{
		batch.Exact: 1, batch.Whitespace: 3, batch.Punctuation: 4,
	}[loosest]]
}

// looser gives the looser of two tiers.
func looser(a, b string) string {
	order := []string{tierExact, tierTrailing, tierIndent, tierPunctuation, tierElision}
	for _, tier := range order {
		if tier == a {
			return b
		}
		if tier == b {
			return a
		}
	}
	return a
}

// rawLine is a line with its line end apart: "\n", "\r\n" or "" at the end of a file.
type rawLine struct {
	text, end string
}

// splitLines cuts content into lines. A byte order mark is cut off first.
func splitLines(content string) (bom string, lines []rawLine) {
	if strings.HasPrefix(content, byteOrderMark) {
		bom, content = byteOrderMark, content[len(byteOrderMark):]
	}
	for line := range strings.Lines(content) {
		lines = append(lines, newRawLine(line))
	}
	return bom, lines
}

func newRawLine(line string) rawLine {
	switch {
	case strings.HasSuffix(line, "\r\n"):
		return rawLine{line[:len(line)-2], "\r\n"}
	case strings.HasSuffix(line, "\n"):
		return rawLine{line[:len(line)-1], "\n"}
	}
	return rawLine{line, ""}
}

// lineFile is a file as lines, with the keys by which each tier compares them.
type lineFile struct {
	bom    string
	lines  []rawLine
	keys   map[string][]string
	strict bool // an LF of the reply matches an LF only
}

func newLineFile(content []byte) *lineFile {
	f := &lineFile{keys: map[string][]string{}}
	f.bom, f.lines = splitLines(string(content))
	return f
}

// key is what a tier compares of a line.
func key(tier, line string) string {
	switch tier {
	case tierTrailing:
		return strings.TrimRight(line, " \t\r")
	case tierIndent:
		return strings.Trim(line, " \t\r")
	case tierPunctuation:
		return strings.Trim(plainPunctuation.Replace(line), " \t\r")
	}
	return line
}

// plainPunctuation folds typographic dashes, quotes and spaces, for comparing only.
var plainPunctuation = func() *strings.Replacer {
	var pairs []string
	fold := func(to string, runes ...rune) {
		for _, r := range runes {
			pairs = append(pairs, string(r), to)
		}
	}
	fold("-", 0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2015, 0x2212)
	fold("'", 0x2018, 0x2019, 0x201a, 0x201b)
	fold(`"`, 0x201c, 0x201d, 0x201e, 0x201f)
	fold(" ", 0x00a0, 0x202f, 0x205f, 0x3000)
	for r := rune(0x2002); r <= 0x200a; r++ {
		fold(" ", r)
	}
	return strings.NewReplacer(pairs...)
}()

func (f *lineFile) keysOf(tier string) []string {
	if k := f.keys[tier]; k != nil {
		return k
	}
	keys := make([]string, len(f.lines))
	for i, line := range f.lines {
		keys[i] = key(tier, line.text)
	}
	f.keys[tier] = keys
	return keys
}

// linePlace is where old lines stand: from line at on, with the shift that turns the reply's indentation into the
// file's.
type linePlace struct {
	at    int
	tier  string
	shift shift
}

// places gives all places of old in one tier that start in [lo, hi) and fit into the file, overlapping ones too.
func (f *lineFile) places(old []rawLine, tier string, lo, hi int) []linePlace {
	if hi <= lo {
		return nil
	}
	want := make([]string, len(old))
	for i, line := range old {
		want[i] = key(tier, line.text)
	}
	keys := f.keysOf(tier)
	end := min(len(keys), hi-1+len(old))
	if lo >= end {
		return nil
	}
	var found []linePlace
	for _, i := range findAll(keys[lo:end], want) {
		p := linePlace{at: lo + i, tier: tier}
		switch tier {
		case tierExact:
			if !f.endsAgree(old, p.at) {
				continue
			}
		case tierIndent, tierPunctuation:
			var ok bool
			if p.shift, ok = f.shiftAt(old, p.at, tier == tierPunctuation); !ok {
				continue
			}
		}
		found = append(found, p)
	}
	return found
}

// endsAgree compares line ends: an LF of the reply stands for any line end unless the comparison is strict, a CRLF only
// for a CRLF.
func (f *lineFile) endsAgree(old []rawLine, at int) bool {
	for i, line := range old {
		have := f.lines[at+i].end
		switch {
		case f.strict && line.end != have, line.end == "\r\n" && have != "\r\n":
			return false
		}
	}
	return true
}

// shiftAt gives the one shift of the indentation that turns old into the lines at a place.
func (f *lineFile) shiftAt(old []rawLine, at int, fold bool) (shift, bool) {
	var s shift
	known := false
	for i, line := range old {
		want, have := strings.TrimRight(line.text, " \t\r"), strings.TrimRight(f.lines[at+i].text, " \t\r")
		if fold {
			want, have = strings.TrimRight(plainPunctuation.Replace(want), " \t"), strings.TrimRight(plainPunctuation.Replace(have), " \t")
		}
		if want == "" || have == "" {
			continue
		}
		var this shift
		switch {
		case strings.HasSuffix(have, want) && onlyBlanks(have[:len(have)-len(want)]):
			this.add = have[:len(have)-len(want)]
		case strings.HasSuffix(want, have) && onlyBlanks(want[:len(want)-len(have)]):
			this.cut = want[:len(want)-len(have)]
		default:
			return s, false
		}
		if known && this != s {
			return s, false
		}
		s, known = this, true
	}
	return s, true
}

func onlyBlanks(s string) bool { return strings.Trim(s, " \t") == "" }

// line shifts one new line; ok is false if it lacks what is to be taken away.
func (s shift) line(text string) (string, bool) {
	if onlyBlanks(strings.TrimSuffix(text, "\r")) {
		return text, true
	}
	if !strings.HasPrefix(text, s.cut) {
		return text, false
	}
	return s.add + text[len(s.cut):], true
}

// findAll gives where want occurs in lines, overlapping occurrences too: Knuth, Morris and Pratt over lines.
func findAll(lines, want []string) []int {
	if len(want) == 0 {
		return nil
	}
	fail := prefixes(want)
	var found []int
	k := 0
	for i := range lines {
		for k >= 0 && (k == len(want) || lines[i] != want[k]) {
			k = fail[k]
		}
		k++
		if k == len(want) {
			found = append(found, i-len(want)+1)
		}
	}
	return found
}

// change replaces the lines [at, at+old) by new ones; kept lines among them are those of the file.
type change struct {
	at, old int
	lines   []newLine
	near    string // the first line end of the hunk it is part of, for lines that replace none
}

// newLine is a line of the result: the file's line number from, or else text.
type newLine struct {
	from int // -1: text
	text string
	ends lineEnd
}

// lineEnd says what a new line that becomes the last one of the file ends in.
type lineEnd int

const (
	asBefore lineEnd = iota // what the last line had
	ended
	unended
)

// rewrite makes changes, which are sorted and do not overlap, and gives the new content.
func (f *lineFile) rewrite(changes []change) string {
	type out struct {
		rawLine
		isNew bool
		ends  lineEnd
	}
	var all []out
	next := 0
	keep := func(to int) {
		for ; next < to; next++ {
			all = append(all, out{rawLine: f.lines[next]})
		}
	}
	usual := f.usualEnd()
	for _, c := range changes {
		keep(c.at)
		end := usual
		if e := f.firstEnd(c.at, c.at+c.old); e != "" {
			end = e
		} else if c.near != "" {
			end = c.near
		}
		for _, line := range c.lines {
			if line.from >= 0 {
				all = append(all, out{rawLine: f.lines[line.from]})
				continue
			}
			added := rawLine{line.text, end}
			if line.ends == unended {
				added.end = ""
			} else if strings.HasSuffix(line.text, "\r") {
				added = rawLine{line.text[:len(line.text)-1], "\r\n"}
			} else if f.strict {
				added.end = "\n"
			}
			all = append(all, out{rawLine: added, isNew: true, ends: line.ends})
		}
		next = c.at + c.old
	}
	keep(len(f.lines))
	unfinished := len(f.lines) > 0 && f.lines[len(f.lines)-1].end == ""
	var b strings.Builder
	b.WriteString(f.bom)
	for i, line := range all {
		last := i == len(all)-1
		switch {
		case !last && line.end == "":
			line.end = usual
		case last && line.isNew && (line.ends == unended || line.ends == asBefore && unfinished):
			line.end = ""
		}
		b.WriteString(line.text + line.end)
	}
	return b.String()
}

// usualEnd gives the line end that most lines have; on a tie that of the first line, LF if there is none.
func (f *lineFile) usualEnd() string {
	lf, crlf := 0, 0
	for _, line := range f.lines {
		switch line.end {
		case "\n":
			lf++
		case "\r\n":
			crlf++
		}
	}
	if crlf > lf || crlf == lf && crlf > 0 && f.lines[0].end == "\r\n" {
		return "\r\n"
	}
	return "\n"
}

func (f *lineFile) firstEnd(lo, hi int) string {
	for _, line := range f.lines[lo:min(hi, len(f.lines))] {
		if line.end != "" {
			return line.end
		}
	}
	return ""
}

// numbers gives the line numbers of places, from 1.
func numbers(places []linePlace) []int {
	lines := make([]int, len(places))
	for i, p := range places {
		lines[i] = p.at + 1
	}
	return lines
}
