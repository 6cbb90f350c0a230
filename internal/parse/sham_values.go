package parse

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// This file reads what stands on the right of an assignment: quoted strings and heredocs.

// assignment reads the assignment on line i, with the heredoc that it may open, and gives the line behind it. done says
// that the block ended with it.
func (p *shamParser) assignment(i int) (next int, done bool) {
	line := p.line(i)
	eq := strings.IndexByte(line, '=')
	if strings.HasPrefix(line[eq:], "=>") {
		p.fail("INVALID_VALUE", i, eq, 2, "Value must be a quoted string or heredoc")
		return i + 1, false
	}
	left, right := line[:eq], line[eq+1:]
	value := shamTrim(right)
	at := eq + 1 + len(right) - len(shamTrimLeft(right))
	if op := strings.Index(line, ":="); op >= 0 {
		if !p.insideQuotes(value, op-at) {
			p.fail("INVALID_ASSIGNMENT_OPERATOR", i, op, 2, "Invalid assignment operator ':=' - only '=' is allowed")
			return i + 1, false
		}
		p.warn("OPERATOR_IN_VALUE", i, op, 2, p.openID(), "':=' inside a quoted value")
	}
	key := shamTrim(left)
	switch {
	case key == "":
		p.fail("EMPTY_KEY", i, eq, 1, "Assignment without key name")
	case value == "":
		n := p.note("INVALID_VALUE", i, len(line), 1, p.openID(), "Value must be a quoted string or heredoc")
		n.Length = 1
		p.doc.Errors = append(p.doc.Errors, n)
	case value[0] == '"':
		p.quotedValue(i, left, at)
	case p.opener(value) != "":
		return p.heredocValue(i, left, p.opener(value), at, value)
	default:
		p.fail("INVALID_VALUE", i, at, len(value), "Value must be a quoted string or heredoc")
	}
	return i + 1, false
}

// insideQuotes reports whether an offset lies in a quoted value; one without a closing quote goes to the end.
func (p *shamParser) insideQuotes(value string, off int) bool {
	if p.strict || off <= 0 || value == "" || value[0] != '"' {
		return false
	}
	end := closingQuote(value)
	return end < 0 || off < end
}

// closingQuote gives the offset of the quote that closes the one at the start of s, or -1.
func closingQuote(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// opener gives the delimiter of a heredoc opener, or "".
func (p *shamParser) opener(value string) string {
	rest, ok := strings.CutPrefix(value, "<<")
	if !ok {
		return ""
	}
	if n := len(rest); n > 2 && rest[0] == '\'' && rest[n-1] == '\'' && !strings.Contains(rest[1:n-1], "'") {
		return rest[1 : n-1]
	}
	if d := p.delimiter(); !p.strict && (rest == d || rest == `"`+d+`"`) {
		return d
	}
	return ""
}

// delimiter is the heredoc delimiter of the open block.
func (p *shamParser) delimiter() string { return p.block.gen.delim + p.block.ID }

// quotedValue reads the quoted string at offset at of line i.
func (p *shamParser) quotedValue(i int, left string, at int) {
	line := p.line(i)
	end := closingQuote(line[at:])
	if end < 0 {
		p.fail("UNCLOSED_QUOTE", i, at, len(line)-at, "Unclosed quoted string")
		return
	}
	quoted := line[at : at+end+1]
	var value string
	if err := json.Unmarshal([]byte(quoted), &value); err != nil {
		p.fail("INVALID_VALUE", i, at, len(quoted), "Value must be a quoted string or heredoc")
		return
	}
	key := shamTrim(left)
	if rest := line[at+end+1:]; shamTrim(rest) != "" {
		behind := at + end + 1 + len(rest) - len(shamTrimLeft(rest))
		p.fail("TRAILING_CONTENT", i, behind, len(line)-behind, "Unexpected content after quoted value")
		if _, twice := p.block.Value(key); validKey(key) && !twice {
			p.block.set(key, value, i+1)
		}
		return
	}
	if p.checkKey(i, left) {
		p.block.set(key, value, i+1)
	}
}

// checkKey reports what is wrong with a key and whether its value counts: it does if the key is only there twice.
func (p *shamParser) checkKey(i int, left string) bool {
	key := shamTrim(left)
	if lead := len(left) - len(shamTrimLeft(left)); lead > 0 {
		p.fail("INVALID_KEY", i, 0, lead+len(key), "Key contains invalid character '%s' at position 1", firstRune(left))
		return false
	}
	if r, index := badKeyRune(key); index > 0 {
		p.fail("INVALID_KEY", i, 0, len(key), "Key contains invalid character '%s' at position %d", string(r), index)
		return false
	}
	if utf16Len(key) > longestKey {
		p.fail("INVALID_KEY", i, 0, len(key), "Key exceeds %d character limit", longestKey)
		return false
	}
	if _, twice := p.block.Value(key); twice {
		p.fail("DUPLICATE_KEY", i, 0, len(key), "Duplicate key '%s' in block '%s'", key, p.block.ID)
	}
	return true
}

// heredocValue reads the heredoc that line i opens with delimiter x.
func (p *shamParser) heredocValue(i int, left, x string, at int, value string) (next int, done bool) {
	key := shamTrim(left)
	p.checkKey(i, left)
	if !validKey(key) {
		return i + 1, false
	}
	d := p.delimiter()
	if x != d {
		p.fail("INVALID_HEREDOC_DELIMITER", i, strings.Index(p.line(i), x), len(x), "Heredoc delimiter must be '%s'", d)
		return i + 1, false
	}
	if value != "<<'"+d+"'" {
		p.warn("HEREDOC_QUOTING", i, at, len(value), p.openID(), "Heredoc opener without single quotes")
	}
	end, before := p.heredocEnd(i, d)
	if end < 0 {
		return p.unclosedHeredoc(i, d)
	}
	p.block.set(key, p.heredocText(i+1, end, before), i+1)
	return end + 1, false
}

// heredocText joins the lines [first, last) of a heredoc, and what stands before its delimiter.
func (p *shamParser) heredocText(first, last int, before string) string {
	if first < last && before == "" && p.indent == "" {
		if text := p.t.text[p.t.starts[first] : p.t.starts[last]-1]; !strings.Contains(text, "\r") {
			return text
		}
	}
	lines := make([]string, 0, last-first+1)
	for k := first; k < last; k++ {
		lines = append(lines, p.line(k))
	}
	if before != "" {
		lines = append(lines, before)
	}
	return strings.Join(lines, "\n")
}

// heredocEnd gives the line that ends the heredoc opened on line i, or -1, and the content that stands before the
// delimiter on it.
func (p *shamParser) heredocEnd(i int, d string) (end int, before string) {
	if p.strict {
		for k := i + 1; k < p.t.count(); k++ {
			line := p.line(k)
			if line == d {
				return k, ""
			}
			if !p.block.gen.inline {
				continue
			}
			if b, a, found := strings.Cut(line, d); found && !strings.Contains(b, "<<") && (a == "" || a == "'") {
				return k, b
			}
		}
		return -1, ""
	}
	p.t.index()
	end = after(p.closingLines(d), i)
	if end < 0 {
		return -1, ""
	}
	line := p.line(end)
	if line == d {
		return end, ""
	}
	b, a, _ := strings.Cut(line, d)
	if b == "" && !strings.HasPrefix(a, "'") {
		p.warn("TRAILING_BLANKS", end, len(d), len(a), p.openID(), "Trailing blanks after heredoc delimiter")
	} else {
		p.warn("INLINE_DELIMITER", end, len(b), len(d), p.openID(), "Heredoc delimiter is not alone on its line")
	}
	return end, b
}

// closingLines gives all lines that end a heredoc with delimiter d, which depends on nothing that comes before them.
func (p *shamParser) closingLines(d string) []int {
	if p.indent != "" {
		return p.closingInRun(d)
	}
	if lines, known := p.t.closing[d]; known {
		return lines
	}
	var lines []int
	for _, k := range p.t.words[d] {
		if p.endsHeredoc(k, d) {
			lines = append(lines, k)
		}
	}
	p.t.closing[d] = lines
	return lines
}

// closingInRun is closingLines for an indented block, whose lines are other ones as far as the indentation reaches. What
// lies behind that cannot end it: the block's end marker does not.
func (p *shamParser) closingInRun(d string) []int {
	b := p.block
	if b.closing == nil {
		b.closing = []int{}
		words := p.t.words[d]
		for n := sort.SearchInts(words, b.StartLine); n < len(words) && words[n] < p.until; n++ {
			if p.endsHeredoc(words[n], d) {
				b.closing = append(b.closing, words[n])
			}
		}
	}
	return b.closing
}

// endsHeredoc reports whether line k ends a heredoc. A line that is the delimiter alone does always. Another one with
// the delimiter at its end does if it opens nothing, if what follows goes on with the block, and if no line that is the
// delimiter alone would be left over.
func (p *shamParser) endsHeredoc(k int, d string) bool {
	line := p.line(k)
	if line == d {
		return true
	}
	before, behind, found := strings.Cut(line, d)
	if !found || !p.forgiven(behind) || strings.Contains(before, "<<") {
		return false
	}
	next := p.t.nextText(k + 1)
	if next < 0 {
		return true
	}
	if !p.isEndLine(p.line(next)) && !plainAssignment(p.line(next)) {
		return false
	}
	alone := after(p.t.exact[p.indent+d], next-1)
	stop := after(p.t.stops[d], next-1)
	return alone < 0 || stop >= 0 && stop < alone
}

// unclosedHeredoc reports a heredoc without end. The block is taken to end at an end marker of its own, if there is one
// that nothing of the block follows; else it takes the rest.
func (p *shamParser) unclosedHeredoc(i int, d string) (next int, done bool) {
	b := p.block
	n := p.note("UNCLOSED_HEREDOC", p.t.count(), 0, 0, p.openID(), "Heredoc '"+d+"' not closed before EOF")
	if p.strict {
		p.doc.Errors = append(p.doc.Errors, n)
		return p.t.count(), true
	}
	p.doc.late = append(p.doc.late, n)
	defer func() { b.lookalike = p.lookalike(i+1, next, d) }()
	for k := after(p.t.ends[p.indent+b.gen.end+b.ID], i); k >= 0; k = after(p.t.ends[p.indent+b.gen.end+b.ID], k) {
		if p.nothingOfBlock(k + 1) {
			p.warn("HEREDOC_RECOVERED", k, 0, len(p.line(k)), p.openID(), "Heredoc '"+d+"' not closed; block '"+b.ID+"' taken to end here")
			return k + 1, true
		}
	}
	return p.t.count(), true
}

// lookalike says which line was probably meant as the delimiter: one that differs from it only in case or in what is
// neither letter nor digit.
func (p *shamParser) lookalike(first, last int, d string) string {
	plain := func(s string) string {
		return strings.Map(func(r rune) rune {
			if alphanumeric(r) {
				return r
			}
			return -1
		}, asciiLower(s))
	}
	for k := first; k < last; k++ {
		if line := p.line(k); len(line) <= len(d)+10 && plain(line) == plain(d) {
			return fmt.Sprintf("line %d has `%s`", k+1, shamTrim(line))
		}
	}
	return ""
}

// nothingOfBlock reports whether line k shows that the block is over: it is blank, a fence, a header, or not there.
func (p *shamParser) nothingOfBlock(k int) bool {
	if k >= p.t.count() {
		return true
	}
	trimmed := shamTrim(p.line(k))
	if trimmed == "" || strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
		return true
	}
	for _, g := range generations {
		if strings.HasPrefix(trimmed, g.mark+" ") {
			return true
		}
	}
	return false
}
