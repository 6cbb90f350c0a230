package parse

import (
	"bytes"
	"strings"
)

// fence is an open markdown fence.
type fence struct {
	char   byte // 0: none is open
	run    int
	indent int
	line   int
	info   string // what stands behind the run
	lead   bool   // only blank lines have come since
	end    int    // the line that closes it in the reading of patches, where that is known; else 0
}

// fencedLines are the lines of a fence, those that open and close it included.
type fencedLines struct {
	first, last int
	info        string
}

// openFence asks the dialects in which a fence itself may be a block.
func (s *scan) openFence(i int) (next int, ok bool) {
	for _, f := range s.fencers {
		if next, ok := s.try(func() (int, bool) { return f.openFence(s, i) }); ok {
			s.behind = next
			return next, true
		}
	}
	return 0, false
}

// maxStrips bounds the work that a reply with fences of many different indentations can cause.
const maxStrips = 16

// fenceLine opens or closes a fence. Fences do not nest: inside one, only its closer counts.
func (s *scan) fenceLine(line []byte, i int) bool {
	f, ok := readFence(line)
	if !ok {
		return false
	}
	if s.fence.char != 0 {
		if f.char != s.fence.char || f.run < s.fence.run || f.info != "" {
			return false
		}
		s.fences = append(s.fences, fencedLines{s.fence.line, i, s.fence.info})
		s.fence, s.strip, s.behind = fence{}, 0, i+1
		return true
	}
	if f.char == '`' && strings.IndexByte(f.info, '`') >= 0 {
		return false
	}
	f.line, f.lead = i, true
	s.fence, s.strip = f, f.indent
	if s.strips[s.strip] = true; len(s.strips) > maxStrips {
		delete(s.strips, s.strip)
		s.strip = 0
	}
	return true
}

// readFence reads a line that opens or closes a fence.
func readFence(line []byte) (f fence, ok bool) {
	rest := skipLeadIn(line)
	if len(rest) < 3 || (rest[0] != '`' && rest[0] != '~') {
		return f, false
	}
	run := runLength(rest, rest[0])
	if run < 3 {
		return f, false
	}
	indent := len(line) - len(bytes.TrimLeft(line, " \t"))
	return fence{char: rest[0], run: run, indent: indent, info: string(bytes.TrimSpace(rest[run:]))}, true
}

// skipLeadIn drops blanks, list markers and quote marks with the blanks behind them.
func skipLeadIn(line []byte) []byte {
	for {
		line = bytes.TrimLeft(line, " \t")
		n := listMarker(line)
		if n == 0 || n >= len(line) || !blank(line[n]) {
			return line
		}
		line = line[n:]
	}
}

// listMarker gives the length of a list marker or quote mark at the start of line, or 0.
func listMarker(line []byte) int {
	if len(line) == 0 {
		return 0
	}
	switch line[0] {
	case '-', '*', '+', '>':
		return 1
	case '[':
		if n := digits(line[1:]); n > 0 && 1+n < len(line) && line[1+n] == ']' {
			return n + 2
		}
		return 0
	}
	if n := digits(line); n > 0 && n < len(line) && (line[n] == '.' || line[n] == ')') {
		return n + 1
	}
	return 0
}
