package parse

import (
	"bytes"
	"strings"
)

// skipThinking skips a <think> section and gives the offset in the view behind it. What a model thinks is not what it
// asks for.
func (s *scan) skipThinking(i int) (end int, ok bool) {
	v := s.view()
	line := bytes.TrimLeft(s.line(i), " \t")
	off := int(v.starts[i]) + len(s.line(i)) - len(line)
	for _, name := range []string{"think", "thinking"} {
		if foldPrefix(line, "</"+name+">") {
			s.warn("", ReasoningAbove, i+1, "</"+name+"> without <"+name+">: the text above may be reasoning")
			return off + len(name) + 3, true
		}
		if !foldPrefix(line, "<"+name+">") {
			continue
		}
		known := s.noThinkEnd[name]
		end := s.closingTag(off, name)
		if end < 0 {
			if !known {
				s.warn("", UnclosedThink, i+1, "<"+name+"> is never closed: what follows is read")
			}
			return off + len(name) + 2, true
		}
		return end, true
	}
	return 0, false
}

// closingTag gives the offset behind the next </name> at or behind off, or -1. A miss is remembered: there is none
// further down either.
func (s *scan) closingTag(off int, name string) int {
	if s.noThinkEnd[name] {
		return -1
	}
	v := s.view()
	tag := "</" + name + ">"
	for {
		n := strings.Index(v.text[off:], "</")
		if n < 0 {
			s.noThinkEnd[name] = true
			return -1
		}
		off += n
		if len(v.text) >= off+len(tag) && strings.EqualFold(v.text[off:off+len(tag)], tag) {
			return off + len(tag)
		}
		off += 2
	}
}

// skipComment skips <!-- ... --> and gives the offset in the view behind it, so that what is commented out is not
// applied.
func (s *scan) skipComment(i int) (end int, ok bool) {
	if !bytes.HasPrefix(bytes.TrimLeft(s.line(i), " \t"), []byte("<!--")) || s.noCommentEnd {
		return 0, false
	}
	v := s.view()
	off := int(v.starts[i])
	n := strings.Index(v.text[off:], "-->")
	if n < 0 {
		s.noCommentEnd = true
		return 0, false
	}
	return off + n + len("-->"), true
}
