package parse

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// This file is about lines that are not what they were meant to be: stray closers, near misses, blocks without end.

// refuse records a problem that puts the extents of blocks in doubt.
func (s *scan) refuse(err *diag.Error, i, group int) {
	err.Pos = diag.Pos{Line: i + 1, Column: 1}
	s.list.Problems = append(s.list.Problems, diag.Problem{
		Error: err, Kind: diag.Syntax, Dialect: "markers", BlockStart: i + 1, BlockEnd: i + 1, Group: group, Refuses: true,
	})
}

func (s *scan) strayCloser(i int, m mark, group int) {
	s.refuse(diag.New(diag.MalformedStructure,
		"stray %s: an earlier block ended too early; if content contains such a line, use longer markers for the whole block",
		bytes.TrimSpace(s.line(i))).WithHint("a block may use any run of 7 or more characters, the same throughout"), i, group)
}

// openerWithoutBlank refuses <<<<<<<WRITE: it was meant as an opener, but how far it reaches cannot be known.
func (s *scan) openerWithoutBlank(i, group int) bool {
	line := s.line(i)
	run := runLength(line, '<')
	if run < minRun {
		return false
	}
	name, _ := cutWord(line[run:])
	if _, known := openerWords[string(name)]; !known {
		return false
	}
	s.refuse(diag.New(diag.MalformedStructure, "blank missing between %s and %s", line[:run], name).
		WithHint("write %s %s", line[:run], name), i, group)
	return true
}

// nearOpener looks at what git would take for the start of a conflict: an operation in another case, or an unknown one.
func (s *scan) nearOpener(t *markTable, idx, limit int32, group int, version bool) (next int, ok bool) {
	m := t.marks[idx]
	i := int(m.line)
	name, rest := cutWord(bytes.TrimLeft(s.line(i)[m.run:], " \t"))
	upper := strings.ToUpper(string(name))
	_, known := openerWords[upper]
	attr := hasAttribute(rest)
	switch {
	case known && attr:
		s.refuse(diag.New(diag.MalformedStructure, "%q: operation names are upper case", name).WithHint("write %s", upper), i, group)
	case known && string(name) != upper:
		s.warn("markers", NearMiss, i+1, fmt.Sprintf("%q looks like an opener and is read as prose: operation names are upper case", name))
	case !attr || !isOperationName(name):
		return 0, false
	case version:
		return s.skipUnknown(t, idx, limit, string(name)), true
	default:
		s.refuse(diag.New(diag.MalformedStructure, "unknown operation %s", name).
			WithHint("known: WRITE, SEARCH, EDIT, SEARCH-START, RUN, TASKS; to move or remove files use RUN with mv or rm"), i, group)
	}
	return i + 1, true
}

// hasAttribute reports whether name= stands first in rest.
func hasAttribute(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t")
	name := attributeName(string(rest))
	if name == "" {
		return false
	}
	return bytes.HasPrefix(bytes.TrimLeft(rest[len(name):], " \t"), []byte("="))
}

func isOperationName(name []byte) bool {
	for _, c := range name {
		if (c < 'A' || c > 'Z') && c != '-' && c != '_' {
			return false
		}
	}
	return len(name) > 0
}

// maxOwnCloser bounds the search for a closer that repeats an unknown operation's name.
const maxOwnCloser = 1000

// skipUnknown skips an operation of a later protocol version, through the first closer that no opener takes.
func (s *scan) skipUnknown(t *markTable, idx, limit int32, name string) (next int) {
	m := t.marks[idx]
	s.warn("markers", UnknownElement, int(m.line)+1, "unknown operation "+name+" is skipped")
	end := m.untaken
	if end == none || end >= limit {
		end = none
	}
	last := limit
	if end != none {
		last = end
	}
	last = min(last, idx+maxOwnCloser)
	for i := idx + 1; i < last; i++ {
		c := t.marks[i]
		if c.run == m.run && c.class == gitCloser && string(bytes.TrimSpace(s.line(int(c.line))[c.run:])) == name {
			end = i
			break
		}
	}
	if end == none {
		return int(m.line) + 1
	}
	return int(t.marks[end].line) + 1
}

// indentedMarker warns about a line that would be an opener if it stood at the line start.
func (s *scan) indentedMarker(line []byte, i int) {
	trimmed := bytes.TrimLeft(line, " \t")
	if len(trimmed) < minRun || trimmed[0] != '<' {
		return
	}
	if m, ok := classify(trimmed); ok && m.class == opener {
		s.warn("markers", NearMiss, i+1, "an indented opener is read as prose: markers stand at the line start")
	}
}

// unterminated reports a block without closer. It takes everything up to limit: resuming inside it could execute what
// was only quoted.
func (b *block) unterminated(limit int32) (next int) {
	m := b.t.marks[b.idx]
	next = b.lines()
	if int(limit) < len(b.t.marks) {
		next = int(b.t.marks[limit].line)
	}
	want := strings.Repeat(">", int(m.run)) + " " + wordNames[m.word.closes()]
	err := b.malformed("%s at line %d is never closed: expected %s", wordNames[m.word], m.line+1, want)
	hints := b.closerHints(next, limit)
	if len(hints) == 0 {
		hints = []string{"close it with that line, at the line start"}
	}
	err.Hint = strings.Join(hints, "\n")
	if m.word == wTasks && b.group == 0 {
		b.batch.Groups = append(b.batch.Groups, batch.Group{
			Dialect: "markers", Span: b.span(b.first(), next-1), Malformed: true,
		})
		b.group = len(b.batch.Groups)
	}
	b.problem(err, diag.Syntax, next-1)
	return next
}

// closerHints names the lines that may have been meant as the closer.
func (b *block) closerHints(next int, limit int32) []string {
	m := b.t.marks[b.idx]
	var hints []string
	for i := b.idx + 1; i < limit; i++ {
		if c := b.t.marks[i]; c.run == m.run && c.class == opener && c.word.closes() == m.word.closes() {
			hints = append(hints, fmt.Sprintf("line %d opens %s, which may have taken the closer", c.line+1, wordNames[c.word]))
			break
		}
	}
	const most = 5
	near := 0
	for i := b.first() + 1; i < next && near < most; i++ {
		if b.nearlyCloses(b.line(i), m) {
			hints = append(hints, fmt.Sprintf("line %d has %s", i+1, clip(strings.TrimSpace(string(b.line(i))))))
			near++
		}
	}
	return hints
}

// nearlyCloses reports whether a line resembles the closer of m: another word or case, text behind it, indented, or a
// run of another length.
func (b *block) nearlyCloses(line []byte, m mark) bool {
	trimmed := bytes.TrimLeft(line, " \t")
	run := runLength(trimmed, '>')
	if run < 6 {
		return false
	}
	name, rest := cutWord(bytes.TrimSpace(trimmed[run:]))
	upper := strings.ToUpper(string(name))
	if _, known := closerWords[upper]; !known {
		return false
	}
	exact := len(trimmed) == len(line) && run == int(m.run) && string(name) == upper && len(rest) == 0
	return !exact || closerWords[upper] != m.word.closes()
}
