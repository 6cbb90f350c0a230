package parse

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/git-clada/git-clada/internal/diag"
)

// tag is a start tag or end tag in the view: the bytes [lo, hi).
type tag struct {
	name   string
	lo, hi int
	empty  bool // it ends in "/>"
	attrs  []attribute
}

// tagName gives the name at the start of s: letters, digits and -, with a letter first and the end of a name behind it.
func tagName(s string) string {
	n := 0
	for n < len(s) && nameByte(s[n]) {
		n++
	}
	if n == 0 || s[0] == '-' || (s[0] >= '0' && s[0] <= '9') {
		return ""
	}
	if n < len(s) && strings.IndexByte(" \t\r\n>/", s[n]) < 0 {
		return ""
	}
	return s[:n]
}

func nameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

func whiteSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// firstAttribute gives the name of the attribute that stands first in s, behind white space, or "".
func firstAttribute(s string) string {
	n := 0
	for n < len(s) && whiteSpace(s[n]) {
		n++
	}
	if n == 0 {
		return ""
	}
	name := attributeName(s[n:])
	n += len(name)
	for n < len(s) && whiteSpace(s[n]) {
		n++
	}
	if name == "" || n == len(s) || s[n] != '=' {
		return ""
	}
	return name
}

// skipSpace gives the offset of the first byte at or behind off that is neither white space nor in a comment.
func (v *view) skipSpace(off, limit int) int {
	for off < limit {
		switch {
		case whiteSpace(v.text[off]):
			off++
		case strings.HasPrefix(v.text[off:limit], "<!--"):
			end := v.find("-->", off+4, limit)
			if end < 0 {
				return off
			}
			off = end + len("-->")
		default:
			return off
		}
	}
	return limit
}

// readTag reads the start tag at off. Its hi is 0 if it has no end before limit. The error says what is wrong with the
// attributes; the tag's extent is good all the same.
func (v *view) readTag(off, limit int) (t tag, err *diag.Error) {
	t = tag{name: tagName(v.text[off+1 : limit]), lo: off}
	at := off + 1 + len(t.name)
	fail := func(at int, hint, format string, args ...any) {
		if err == nil {
			i := v.lineAt(at)
			err = diag.New(diag.MalformedXML, format, args...).At(diag.Pos{Line: i + 1, Column: at - int(v.starts[i]) + 1}).WithHint("%s", hint)
		}
	}
	for {
		gap := at
		for at < limit && whiteSpace(v.text[at]) {
			at++
		}
		switch {
		case at >= limit, v.text[at] == '<': // another tag opens: this one was never closed
			return t, err
		case v.text[at] == '>':
			t.hi = at + 1
			return t, err
		case strings.HasPrefix(v.text[at:limit], "/>"):
			t.hi, t.empty = at+2, true
			return t, err
		}
		name := attributeName(v.text[at:limit])
		if name == "" || gap == at {
			fail(at, `attributes are written NAME="VALUE", with a blank before each`, "unexpected %q in the tag", clip(firstLine(v.text[at:min(limit, at+80)])))
			at += max(1, len(name))
			continue
		}
		nameAt := at
		at += len(name)
		eq := at
		for eq < limit && whiteSpace(v.text[eq]) {
			eq++
		}
		if eq >= limit || v.text[eq] != '=' {
			fail(nameAt, `write `+name+`="VALUE"`, "the attribute %s has no value", name)
			continue
		}
		at = eq + 1
		for at < limit && whiteSpace(v.text[at]) {
			at++
		}
		value, next, ok := v.attributeValue(at, limit)
		if !ok {
			fail(nameAt, `write `+name+`="VALUE" on one line`, "the value of %s is not quoted", name)
			at = max(at, next)
			continue
		}
		at = next
		for _, a := range t.attrs {
			if a.name == name {
				fail(nameAt, "keep one of them", "attribute %s stands twice", name)
			}
		}
		i := v.lineAt(nameAt)
		t.attrs = append(t.attrs, attribute{name: name, value: value, line: i + 1, column: nameAt - int(v.starts[i]) + 1})
	}
}

// attributeValue reads a quoted value and gives the offset behind it; ok is false if there is none, and then next is
// behind the word that stands there instead.
func (v *view) attributeValue(at, limit int) (value string, next int, ok bool) {
	if at < limit && (v.text[at] == '"' || v.text[at] == '\'') {
		for i := at + 1; i < limit && v.text[i] != '\n'; i++ {
			if v.text[i] == v.text[at] {
				return decodeEntities(v.text[at+1 : i]), i + 1, true
			}
		}
		return "", at + 1, false
	}
	for at < limit && !whiteSpace(v.text[at]) && v.text[at] != '>' && v.text[at] != '/' && v.text[at] != '<' {
		at++
	}
	return "", at, false
}

var entities = map[string]string{"amp": "&", "lt": "<", "gt": ">", "quot": `"`, "apos": "'"}

// decodeEntities decodes the five named entities and numbers; any other & is itself.
func decodeEntities(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "&")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, after, closed := strings.Cut(rest, ";")
		text, known := entities[name]
		if !known && closed && strings.HasPrefix(name, "#") {
			text, known = codePoint(name[1:])
		}
		if !closed || !known {
			b.WriteByte('&')
			s = rest
			continue
		}
		b.WriteString(text)
		s = after
	}
}

func codePoint(number string) (string, bool) {
	base := 10
	if strings.HasPrefix(number, "x") {
		base, number = 16, number[1:]
	}
	n, err := strconv.ParseUint(number, base, 32)
	if err != nil || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		return "", false
	}
	return string(rune(n)), true
}

// endTag finds the end tag of start: the one that balances the start tags of its name. Sections and comments are
// opaque. ok is false if there is none before limit, or a section or comment is not closed.
func (v *view) endTag(start tag, limit int, fold bool) (end tag, ok bool) {
	depth := 1
	for off := start.hi; ; {
		off = v.find("<", off, limit)
		if off < 0 {
			return end, false
		}
		rest := v.text[off:limit]
		switch {
		case strings.HasPrefix(rest, "<![CDATA["):
			if off = v.find("]]>", off+len("<![CDATA["), limit); off < 0 {
				return end, false
			}
			off += len("]]>")
		case strings.HasPrefix(rest, "<!--"):
			if off = v.find("-->", off+len("<!--"), limit); off < 0 {
				return end, false
			}
			off += len("-->")
		case strings.HasPrefix(rest, "</") && named(rest[2:], start.name, fold):
			hi := off + 2 + len(start.name)
			for hi < limit && whiteSpace(v.text[hi]) {
				hi++
			}
			if hi < limit && v.text[hi] == '>' {
				if depth--; depth == 0 {
					return tag{name: start.name, lo: off, hi: hi + 1}, true
				}
			}
			off = hi
		case named(rest[1:], start.name, fold):
			t, _ := v.readTag(off, limit)
			if t.hi == 0 {
				return end, false
			}
			if !t.empty {
				depth++
			}
			off = t.hi
		default:
			off++
		}
	}
}

// named reports whether s starts with a tag name.
func named(s, name string, fold bool) bool {
	if len(s) < len(name) {
		return false
	}
	if s[:len(name)] != name && !(fold && strings.EqualFold(s[:len(name)], name)) {
		return false
	}
	return len(s) == len(name) || strings.IndexByte(" \t\r\n>/", s[len(name)]) >= 0
}

// content gives what the CDATA sections between a start tag and its end tag hold.
func (e *element) content(start, end tag) (string, *diag.Error) {
	if start.empty {
		return "", e.noCDATA(start)
	}
	var parts []string
	for off := start.hi; ; {
		at := e.v.skipSpace(off, end.lo)
		if at >= end.lo {
			break
		}
		if !strings.HasPrefix(e.v.text[at:end.lo], "<![CDATA[") {
			return "", e.malformed("text outside CDATA: %q", clip(firstLine(e.v.text[at:end.lo]))).At(e.pos(at)).
				WithHint(`put the whole content into <![CDATA[ ... ]]>; a "]]>" inside it is written "]]&gt;"`)
		}
		at += len("<![CDATA[")
		stop := e.v.find("]]>", at, end.lo)
		if stop < 0 {
			return "", e.malformed("the CDATA section is not closed").At(e.pos(at)).WithHint("end it with ]]>")
		}
		parts = append(parts, strings.ReplaceAll(e.v.text[at:stop], "]]&gt;", "]]>"))
		off = stop + len("]]>")
	}
	if len(parts) == 0 {
		return "", e.noCDATA(start)
	}
	return strings.Join(parts, ""), nil
}

func (e *element) noCDATA(start tag) *diag.Error {
	return e.malformed("the content of <%s> must be CDATA", start.name).At(e.pos(start.lo)).
		WithHint("write <%s><![CDATA[...]]></%s>; empty content is <![CDATA[]]>", start.name, start.name)
}

// strayTag refuses the reply for an end tag that closes nothing.
func (s *scan) strayTag(lo, hi int, name string) {
	pos := s.pos(lo)
	s.refuseStray(diag.Problem{
		Error: diag.New(diag.MalformedXML, "stray </%s>: an earlier block ended too early; write \"]]>\" inside content as \"]]&gt;\"", name).
			At(pos).WithHint("check the block above line %d", pos.Line),
		Kind: diag.Syntax, Dialect: "cml", BlockStart: pos.Line, BlockEnd: s.pos(max(hi-1, lo)).Line, Refuses: true,
	})
}

// cmlParts are the names of this dialect that are no elements of their own.
var cmlParts = map[string]bool{"search": true, "search-start": true, "search-end": true, "replace": true}

// stray finds a line that consists of end tags only, or that ends a section and an element which it does not open.
func (c cml) stray(s *scan, lo, hi int) bool {
	text := strings.TrimSpace(s.view().text[lo:hi])
	body, names := trailingEndTags(text, func(name string) bool { _, known := cmlRule[name]; return known || cmlParts[name] })
	element := ""
	for _, name := range names {
		if _, known := cmlRule[name]; known {
			element = name
		}
	}
	if element == "" {
		return false
	}
	section := strings.HasSuffix(strings.TrimRight(body, " \t"), "]]>")
	switch {
	case section && body != "" && strings.TrimSpace(strings.TrimSuffix(strings.TrimRight(body, " \t"), "]]>")) != "":
		last := names[len(names)-1]
		if strings.Contains(body, "<"+last) {
			return false
		}
	case body != "" && !section:
		return false
	case !section && s.reads("tags") && sharedNames(names):
		return false // the other dialect of tags has the same names, and says it better
	}
	s.strayTag(lo, hi, element)
	return true
}

func sharedNames(names []string) bool {
	for _, name := range names {
		if name != "edit" && name != "move" && name != "search" && name != "replace" {
			return false
		}
	}
	return true
}

// trailingEndTags cuts the end tags off the end of a line. It gives what stands before them, and their names in order.
func trailingEndTags(text string, known func(string) bool) (body string, names []string) {
	for strings.HasSuffix(text, ">") {
		at := strings.LastIndex(text, "</")
		if at < 0 {
			break
		}
		name := strings.TrimRight(text[at+2:len(text)-1], " \t")
		if !known(name) {
			break
		}
		names = append(names, name)
		text = strings.TrimRight(text[:at], " \t")
	}
	slices.Reverse(names)
	return text, names
}
