package apply

import "strings"

// The tiers behind exact matching compare whole lines. Trailing blanks are ignored in both; the second also takes a
// uniform shift of the indentation, and shifts the new text alike.
const (
	tierExact    = "exact"
	tierTrailing = "trailing-blanks"
	tierIndent   = "indentation"
)

// fileLine is a line of the file: its range without line end, and its content less blanks at the end.
type fileLine struct {
	lo, hi  int
	trimmed string
}

func (t *text) fileLines() []fileLine {
	var all []fileLine
	for lo := 0; lo < len(t.raw); {
		n := strings.IndexByte(t.raw[lo:], '\n')
		next := lo + n + 1
		if n < 0 {
			n, next = len(t.raw)-lo, len(t.raw)
		}
		line := strings.TrimSuffix(t.raw[lo:lo+n], "\r")
		start := lo
		if lo == 0 {
			line = strings.TrimPrefix(line, byteOrderMark)
			start = lo + n - len(line)
			if strings.HasSuffix(t.raw[lo:lo+n], "\r") {
				start--
			}
		}
		all = append(all, fileLine{lo: start, hi: start + len(line), trimmed: strings.TrimRight(line, " \t")})
		lo = next
	}
	return all
}

func oldLines(old string) []string {
	lines := strings.Split(old, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(strings.TrimSuffix(line, "\r"), " \t")
	}
	return lines
}

// findTrailing finds old as whole lines, ignoring blanks at line ends.
func (t *text) findTrailing(old string) []place {
	lines, want := t.fileLines(), oldLines(old)
	keys := make([]string, len(lines))
	for i, line := range lines {
		keys[i] = line.trimmed
	}
	var found []place
	for _, i := range findSequence(keys, want) {
		found = append(found, place{lo: lines[i].lo, hi: lines[i+len(want)-1].hi})
	}
	return found
}

// findShifted finds old as whole lines whose indentation differs by the same blanks on every line.
func (t *text) findShifted(old string) []place {
	lines, want := t.fileLines(), oldLines(old)
	keys := make([]string, len(lines))
	for i, line := range lines {
		keys[i] = strings.TrimLeft(line.trimmed, " \t")
	}
	wantKeys := make([]string, len(want))
	for i, line := range want {
		wantKeys[i] = strings.TrimLeft(line, " \t")
	}
	var found []place
	for _, i := range findSequence(keys, wantKeys) {
		s, ok := shiftBetween(lines[i:i+len(want)], want)
		if ok {
			found = append(found, place{lo: lines[i].lo, hi: lines[i+len(want)-1].hi, shift: &s})
		}
	}
	return found
}

// findSequence gives where want occurs in lines, not overlapping, from the top: Knuth, Morris and Pratt over lines.
func findSequence(lines, want []string) []int {
	fail := prefixes(want)
	var found []int
	k := 0
	for i := range lines {
		for k >= 0 && lines[i] != want[k] {
			k = fail[k]
		}
		k++
		if k == len(want) {
			found = append(found, i-len(want)+1)
			k = 0
		}
	}
	return found
}

// prefixes gives, for each length of a beginning of want, how much of its end is a beginning of want again: the table of
// Knuth, Morris and Pratt.
func prefixes(want []string) []int {
	fail := make([]int, len(want)+1)
	fail[0] = -1
	for i, k := 0, -1; i < len(want); {
		for k >= 0 && want[i] != want[k] {
			k = fail[k]
		}
		i++
		k++
		fail[i] = k
	}
	return fail
}

// shift is what to put before each line, or take away from it.
type shift struct{ add, cut string }

// fits reports whether every line of a text has what is to be taken away.
func (s shift) fits(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if _, ok := s.line(line); !ok {
			return false
		}
	}
	return true
}

func (s shift) apply(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		lines[i] = s.add + strings.TrimPrefix(line, s.cut)
	}
	return strings.Join(lines, "\n")
}

// shiftBetween gives the one shift that turns every line of want into the line of the file.
func shiftBetween(lines []fileLine, want []string) (shift, bool) {
	var s shift
	known := false
	for i, w := range want {
		have := lines[i].trimmed
		if w == "" {
			continue
		}
		var this shift
		switch {
		case strings.HasSuffix(have, w):
			this.add = have[:len(have)-len(w)]
		case strings.HasSuffix(w, have):
			this.cut = w[:len(w)-len(have)]
		default:
			return s, false
		}
		if known && this != s {
			return s, false
		}
		s, known = this, true
	}
	return s, known
}
