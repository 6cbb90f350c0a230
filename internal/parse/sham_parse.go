package parse

import (
	"fmt"
	"sort"
	"strings"
)

// ParseSham reads a text as nothing but this dialect. Strict reading is an exact grammar; lenient reading forgives what
// models get wrong, with a warning for each, and is what apply and check do.
func ParseSham(text string, strict bool) *Sham {
	p := &shamParser{t: nil, doc: &Sham{}, strict: strict}
	if !strict && strings.HasPrefix(text, string(byteOrderMark)) {
		text = strings.TrimPrefix(text, string(byteOrderMark))
		p.t = newShamLines(text, strict)
		p.byteOrderMark()
	}
	if p.t == nil {
		p.t = newShamLines(text, strict)
	}
	for i := 0; i < p.t.count(); {
		next, _ := p.seek(i)
		i = next
	}
	p.doc.settle()
	return p.doc
}

// shamParser reads blocks. Lines count from 0 in it.
type shamParser struct {
	t      *shamLines
	doc    *Sham
	strict bool
	block  *ShamBlock // the open one
	indent string     // taken off every line of it before line indentEnd
	until  int
}

func (p *shamParser) byteOrderMark() {
	p.warn("BOM", 0, 0, 1, nil, "Byte order mark dropped")
}

// settle puts late errors behind the others and warnings in order.
func (d *Sham) settle() {
	d.Errors = append(d.Errors, d.late...)
	d.late = nil
	sort.SliceStable(d.Warnings, func(i, j int) bool {
		a, b := d.Warnings[i], d.Warnings[j]
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Column < b.Column
	})
}

// line gives line i less the indentation of an indented block.
func (p *shamParser) line(i int) string {
	line := p.t.line(i)
	if p.indent != "" && i < p.until {
		if rest, ok := strings.CutPrefix(line, p.indent); ok {
			return rest
		}
		return ""
	}
	return line
}

// note makes a record. at and length are bytes of the line as line gives it; at < 0 is the end of the text.
func (p *shamParser) note(code string, i, at, length int, id *string, message string) ShamNote {
	line := p.line(i)
	column, units := 1, 0
	if i < p.t.count() && i >= 0 {
		at = min(at, len(line))
		units = utf16Len(line[at:min(at+length, len(line))])
		if at+length > len(line) {
			units = max(units, 1) // a place behind the end of the line
		}
		column = utf16Len(line[:at]) + 1 + p.t.cut(i)
		if p.indent != "" && i < p.until && strings.HasPrefix(p.t.line(i), p.indent) {
			column += utf16Len(p.indent)
		}
		if length == 0 {
			units = 0
		}
	}
	return ShamNote{
		Code: code, Line: i + 1, Column: column, Length: units, BlockID: id, Content: p.t.line(i), Context: p.t.around(i + 1), Message: message,
	}
}

// fail records an error of the open block.
func (p *shamParser) fail(code string, i, at, length int, form string, args ...any) {
	p.doc.Errors = append(p.doc.Errors, p.note(code, i, at, length, p.openID(), fmt.Sprintf(form, args...)))
}

func (p *shamParser) warn(code string, i, at, length int, id *string, message string) {
	if !p.strict {
		p.doc.Warnings = append(p.doc.Warnings, p.note(code, i, at, length, id, message))
	}
}

func (p *shamParser) openID() *string {
	if p.block == nil {
		return nil
	}
	return &p.block.ID
}

// longestID is the longest id that is read as one.
func (p *shamParser) longestID() int {
	if p.strict {
		return 8
	}
	return 16
}

// seek looks at line i outside blocks and gives the line to go on with. found says that something of this dialect was
// there: a block, or a header that is wrong.
func (p *shamParser) seek(i int) (next int, found bool) {
	p.block, p.indent = nil, ""
	trimmed := shamTrim(p.t.line(i))
	if !strings.HasPrefix(trimmed, "#!") {
		return i + 1, false
	}
	for _, g := range generations {
		if strings.HasPrefix(trimmed, g.end) {
			if id, _, ok := p.endMarker(p.t.line(i), g); ok && !p.strict {
				p.warn("STRAY_END", i, 0, len(p.t.line(i)), nil, "End marker outside a block")
				_ = id
			}
			return i + 1, false
		}
		if !strings.HasPrefix(trimmed, g.mark+" ") {
			continue
		}
		h, ok := readHeader(p.t.line(i), g, p.strict)
		if !ok && !p.strict {
			h, ok = p.indented(i, g)
		}
		if !ok {
			p.fail("MALFORMED_HEADER", i, 0, len(p.t.line(i)), "Invalid %s header format", g.word)
			return i + 1, true
		}
		return p.open(i, h), true
	}
	return i + 1, false
}

// indented reads the header of a block that is indented as a whole.
func (p *shamParser) indented(i int, g *generation) (h header, ok bool) {
	line := p.t.line(i)
	rest := strings.TrimLeft(line, " \t")
	indent := line[:len(line)-len(rest)]
	if indent == "" {
		return h, false
	}
	if h, ok = readHeader(rest, g, false); !ok || !goodID(h.id, p.longestID()) {
		return h, false
	}
	p.t.index()
	end := p.t.runEnd(indent, i)
	if at := after(p.t.ends[indent+g.end+h.id], i); at < 0 || at >= end {
		return h, false
	}
	p.indent, p.until = indent, end
	return h, true
}

// open opens the block whose header stands on line i, if its id is good, and reads it.
func (p *shamParser) open(i int, h header) (next int) {
	badLength, badCharacters := shamID(h.id, p.longestID())
	if badLength || badCharacters {
		at := 0
		if strings.HasPrefix(p.line(i), h.gen.mark+" [@"+usualTag+": ") {
			at = h.idAt
		}
		message := "Block ID must contain only alphanumeric characters"
		if badLength {
			message = "Block ID must be exactly 3 characters"
		}
		n := p.note("INVALID_BLOCK_ID", i, at, len(h.id), nil, message)
		n.Length = utf16Len(h.id)
		p.doc.Errors = append(p.doc.Errors, n)
		return i + 1
	}
	p.block = &ShamBlock{
		ID: h.id, Generation: h.gen.name, gen: h.gen, StartLine: i + 1, last: i + 1, lines: map[string]int{},
	}
	p.doc.Blocks = append(p.doc.Blocks, p.block)
	id := p.openID()
	if p.indent != "" {
		n := p.note("INDENTED_BLOCK", i, 0, 0, id, "Block '"+h.id+"' is indented")
		n.Column, n.Length = 1, utf16Len(p.indent)
		p.doc.Warnings = append(p.doc.Warnings, n)
	}
	if h.tag != usualTag {
		p.warn("HEADER_TAG", i, h.tagAt, len(h.tag), id, "Header tag is '"+h.tag+"'")
	}
	if n := utf16Len(h.id); n > 8 {
		p.warn("LONG_ID", i, h.idAt, len(h.id), id, fmt.Sprintf("Block ID '%s' has %d characters", h.id, n))
	}
	if h.trailing >= 0 {
		p.warn("TRAILING_BLANKS", i, h.trailing, len(p.line(i))-h.trailing, id, "Trailing blanks after header")
	}
	return p.body(i + 1)
}

// body reads the lines of the open block and gives the line behind it.
func (p *shamParser) body(i int) (next int) {
	b := p.block
	defer func() { b.last = max(b.last, min(next, p.t.count())) }()
	for i < p.t.count() {
		line := p.line(i)
		trimmed := shamTrim(line)
		switch {
		case trimmed == "":
			i++
		case strings.HasPrefix(trimmed, b.gen.end):
			if p.closes(i) {
				return i + 1
			}
			i++
		case strings.HasPrefix(trimmed, b.gen.mark+" "):
			if p.interrupted(i) {
				return i
			}
			i++
		case strings.Contains(line, "="):
			var done bool
			if i, done = p.assignment(i); done {
				return i
			}
		default:
			p.fail("MALFORMED_ASSIGNMENT", i, 0, len(line), "Invalid line format in block '%s': not a valid key-value assignment or empty line", b.ID)
			i++
		}
	}
	p.doc.Errors = append(p.doc.Errors, p.note("UNCLOSED_BLOCK", p.t.count(), 0, 0, p.openID(), "Block '"+b.ID+"' not closed before EOF"))
	return i
}

// interrupted handles a header inside the open block; it reports whether that ends the block.
func (p *shamParser) interrupted(i int) bool {
	b := p.block
	p.doc.Errors = append(p.doc.Errors, p.note("UNCLOSED_BLOCK", i-1, 0, 0, p.openID(), "Block '"+b.ID+"' not closed before new block"))
	if _, ok := readHeader(p.line(i), b.gen, p.strict); ok {
		return true
	}
	p.warn("HEADER_IN_BLOCK", i, 0, len(p.line(i)), p.openID(), "Malformed header inside block '"+b.ID+"'")
	return false
}

// endMarker reads a whole line as an end marker of a generation. behind is what stands behind it: "", "'" or blanks.
func (p *shamParser) endMarker(line string, g *generation) (id, behind string, ok bool) {
	rest, ok := strings.CutPrefix(line, g.end)
	if !ok {
		return "", "", false
	}
	id = rest
	if i := strings.IndexFunc(rest, func(r rune) bool { return !alphanumeric(r) }); i >= 0 {
		id, behind = rest[:i], rest[i:]
	}
	longest := 8
	if p.block != nil && id == p.block.ID {
		longest = 16
	}
	if !goodID(id, longest) {
		return id, behind, false
	}
	return id, behind, behind == "" || behind == "'" && g.inline
}

// closes handles an end line inside the open block and reports whether the block ends there.
func (p *shamParser) closes(i int) bool {
	b, line := p.block, p.line(i)
	id, behind, ok := p.endMarker(line, b.gen)
	at := len(b.gen.end) + len(id)
	if !ok && !p.strict && strings.HasPrefix(line, b.gen.end) && goodID(id, 16) && p.forgiven(behind) && p.nothingGoesOn(i) {
		ok = true
	}
	if !ok {
		p.warn("MALFORMED_END", i, 0, len(line), p.openID(), "End marker not recognised")
		return false
	}
	if strings.HasPrefix(behind, "'") {
		p.warn("TRAILING_APOSTROPHE", i, at, 1, p.openID(), "Apostrophe after end marker")
		at++
	}
	if at < len(line) {
		p.warn("TRAILING_BLANKS", i, at, len(line)-at, p.openID(), "Trailing blanks after end marker")
	}
	if id != b.ID {
		p.fail("MISMATCHED_END", i, 0, len(line), "End marker '%s' doesn't match block ID '%s'", id, b.ID)
	}
	b.EndLine = i + 1
	return true
}

// forgiven reports whether what stands behind a marker may be overlooked: an apostrophe, blanks, or both.
func (p *shamParser) forgiven(behind string) bool {
	return shamTrim(strings.TrimPrefix(behind, "'")) == ""
}

// nothingGoesOn reports whether the next line that is not blank neither ends a block nor is a plain assignment: then an
// end marker with something behind it is meant as one.
func (p *shamParser) nothingGoesOn(i int) bool {
	k := p.t.nextText(i + 1)
	return k < 0 || !p.isEndLine(p.line(k)) && !plainAssignment(p.line(k))
}

func (p *shamParser) isEndLine(line string) bool {
	return strings.HasPrefix(shamTrim(line), p.block.gen.end)
}

// plainAssignment reports whether a line has a valid key in column 1, then =, then " or <<.
func plainAssignment(line string) bool {
	key, value, ok := strings.Cut(line, "=")
	if !ok || !validKey(shamTrimRight(key)) {
		return false
	}
	value = shamTrimLeft(value)
	return strings.HasPrefix(value, `"`) || strings.HasPrefix(value, "<<")
}
