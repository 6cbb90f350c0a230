package apply

import (
	"regexp"
	"strings"
)

// place is a range [lo, hi) of raw bytes that a search found.
type place struct {
	lo, hi int
	shift  *shift // how the indentation of the new text is changed on its way in; nil leaves it alone
}

// finder makes a function that gives the first place of old at or behind a raw offset.
func (t *text) finder(old string) func(from int) (place, bool) {
	if strings.Contains(old, "\r\n") {
		return t.strictFinder(old)
	}
	return func(from int) (place, bool) {
		at := t.lfOffset(from)
		i := strings.Index(t.lf[at:], old)
		if i < 0 {
			return place{}, false
		}
		lo := at + i
		return place{lo: t.offset(lo), hi: t.endOffset(lo, lo+len(old))}, true
	}
}

// strictFinder finds a text with CRLF in it: those match only CRLF, a lone LF matches both.
func (t *text) strictFinder(old string) func(from int) (place, bool) {
	parts := strings.Split(old, "\r\n")
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(regexp.QuoteMeta(p), "\n", `\r?\n`)
	}
	re, err := regexp.Compile(strings.Join(parts, `\r\n`))
	return func(from int) (place, bool) {
		if err != nil { // longer than the engine takes
			return place{}, false
		}
		m := re.FindStringIndex(t.raw[from:])
		if m == nil {
			return place{}, false
		}
		return place{lo: from + m[0], hi: from + m[1]}, true
	}
}

// find gives the places of old, not overlapping, from the left.
func (t *text) find(old string) []place {
	next := t.finder(old)
	var found []place
	for from := 0; ; {
		p, ok := next(from)
		if !ok {
			return found
		}
		found = append(found, p)
		from = p.hi
	}
}

// findAligned gives the places where old stands as whole lines, not overlapping, from the top.
func (t *text) findAligned(old string) []place {
	next := t.finder(old)
	var found []place
	for from := 0; ; {
		p, ok := next(from)
		if !ok {
			return found
		}
		if t.startsLine(p.lo) && t.endsLine(p.hi) {
			found = append(found, p)
			from = max(p.hi, p.lo+1)
			continue
		}
		n := strings.IndexByte(t.raw[p.lo:], '\n')
		if n < 0 {
			return found
		}
		from = p.lo + n + 1
	}
}

func (t *text) startsLine(off int) bool {
	return off == 0 || t.raw[off-1] == '\n' || (off == len(byteOrderMark) && strings.HasPrefix(t.raw, byteOrderMark))
}

func (t *text) endsLine(off int) bool {
	rest := t.raw[off:]
	return rest == "" || rest[0] == '\n' || strings.HasPrefix(rest, "\r\n")
}

// endOffset translates the end of a match: behind its last byte, so that a CR belongs to the LF behind it.
func (t *text) endOffset(lo, hi int) int {
	if hi == lo {
		return t.offset(hi)
	}
	end := t.offset(hi-1) + 1
	if t.lf[hi-1] == '\n' && t.raw[end-1] == '\r' {
		end++
	}
	return end
}

// ranges gives the complete ranges from start to the nearest end behind it, and the offset of the first start that has
// no end, or -1.
func (t *text) ranges(start, end string) (found []place, open int) {
	nextStart, nextEnd := t.finder(start), t.finder(end)
	for from := 0; ; {
		s, ok := nextStart(from)
		if !ok {
			return found, -1
		}
		e, ok := nextEnd(s.hi)
		if !ok {
			return found, s.lo
		}
		found = append(found, place{lo: s.lo, hi: e.hi})
		from = e.hi
	}
}

// replace puts text in the place of each of found. removeLine also removes the line end behind a match that starts a
// line and does not end one: that is what deleting a line means.
func (t *text) replace(found []place, text string, removeLine bool) string {
	var b strings.Builder
	dominant := ""
	at := 0
	for _, p := range found {
		b.WriteString(t.raw[at:p.lo])
		in := text
		if p.shift != nil {
			in = p.shift.apply(in)
		}
		eol := firstEnding(t.raw[p.lo:p.hi])
		if eol == "" {
			if dominant == "" {
				dominant = ending(t.raw)
			}
			eol = dominant
		}
		b.WriteString(withEnding(in, eol))
		at = p.hi
		if removeLine {
			at = t.behindLine(p)
		}
	}
	b.WriteString(t.raw[at:])
	return b.String()
}

func (t *text) behindLine(p place) int {
	endsLine := p.hi > p.lo && t.raw[p.hi-1] == '\n'
	if !t.startsLine(p.lo) || endsLine {
		return p.hi
	}
	for _, eol := range []string{"\r\n", "\n"} {
		if strings.HasPrefix(t.raw[p.hi:], eol) {
			return p.hi + len(eol)
		}
	}
	return p.hi
}
