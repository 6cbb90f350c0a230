package apply

import (
	"fmt"
	"html"
	"strings"
)

// missHint explains why old was not found: where it stands but for something a reader overlooks, or else the text of
// the file that is most like it. Its time is linear in the file.
func (t *text) missHint(old string) string {
	lines := t.fileLines()
	want := oldLines(old)
	for len(want) > 0 && want[len(want)-1] == "" {
		want = want[:len(want)-1]
	}
	for len(want) > 0 && want[0] == "" {
		want = want[1:]
	}
	if len(lines) == 0 || len(want) == 0 {
		return "the file is empty"
	}
	for _, d := range overlooked {
		if at, ok := firstUnder(d.fold, lines, want); ok {
			hint := fmt.Sprintf("differs only in %s at %s\n%s", d.what, LineSpan(at+1, at+len(want)), compare(lines[at:at+len(want)], want, at))
			if len(t.findTrailing(old))+len(t.findShifted(old)) > 0 {
				hint += "\n--match=whitespace accepts that difference"
			}
			return hint
		}
	}
	if at, ok := nearest(lines, want); ok {
		end := min(at+len(want), len(lines))
		return fmt.Sprintf("nearest text at %s (- reply, + file)\n%s", LineSpan(at+1, end), compare(lines[at:end], want, at))
	}
	return "no line of the file resembles it"
}

// LineSpan names the lines first to last: "line 3", "lines 3-5".
func LineSpan(first, last int) string {
	if first == last {
		return fmt.Sprintf("line %d", first)
	}
	return fmt.Sprintf("lines %d-%d", first, last)
}

// overlooked are differences that are hard to see, from the most to the least likely.
var overlooked = []struct {
	what string
	fold func(string) string
}{
	{"trailing blanks or line endings", func(s string) string { return s }}, // both sides are without them already
	{"indentation", func(s string) string { return strings.TrimLeft(s, " \t") }},
	{"white space", func(s string) string { return strings.Join(strings.Fields(s), " ") }},
	{"HTML entities", func(s string) string { return strings.TrimSpace(html.UnescapeString(s)) }},
	{"typographic quotes or dashes", func(s string) string { return strings.TrimSpace(plainQuotes.Replace(s)) }},
	{"upper and lower case", func(s string) string { return strings.ToLower(strings.TrimSpace(s)) }},
}

var plainQuotes = strings.NewReplacer("\u2018", "'", "\u2019", "'", "\u201c", `"`, "\u201d", `"`, "\u2013", "-", "\u2014", "-",
	"\u2026", "...", "\u00a0", " ")

func firstUnder(fold func(string) string, lines []fileLine, want []string) (int, bool) {
	keys := make([]string, len(lines))
	for i, line := range lines {
		keys[i] = fold(line.trimmed)
	}
	folded := make([]string, len(want))
	for i, line := range want {
		folded[i] = fold(line)
	}
	if found := findSequence(keys, folded); len(found) > 0 {
		return found[0], true
	}
	return 0, false
}

// commonLine is how often a line may occur in the file and still say something about a place.
const commonLine = 50

// nearest finds the offset at which most lines agree, or, if no line does, the line most like the longest one.
func nearest(lines []fileLine, want []string) (at int, ok bool) {
	where := map[string][]int{}
	for i, line := range lines {
		key := strings.TrimSpace(line.trimmed)
		if key != "" && len(where[key]) <= commonLine {
			where[key] = append(where[key], i)
		}
	}
	votes := map[int]int{}
	best, most := 0, 0
	for j, line := range want {
		key := strings.TrimSpace(line)
		if places := where[key]; len(places) <= commonLine {
			for _, i := range places {
				start := max(i-j, 0)
				votes[start] += len(key)
				if votes[start] > most {
					best, most = start, votes[start]
				}
			}
		}
	}
	if most > 3 {
		return best, true
	}
	j := longest(want)
	i, ok := mostSimilar(lines, strings.TrimSpace(want[j]))
	return max(i-j, 0), ok
}

func longest(lines []string) int {
	best := 0
	for i, line := range lines {
		if len(strings.TrimSpace(line)) > len(strings.TrimSpace(lines[best])) {
			best = i
		}
	}
	return best
}

// mostSimilar finds the line that shares most letter triples with line; at least half of them must agree.
func mostSimilar(lines []fileLine, line string) (at int, ok bool) {
	const maxLine = 400
	if len(line) < 3 {
		return 0, false
	}
	line = line[:min(len(line), maxLine)]
	want := map[[3]byte]bool{}
	for i := 0; i+3 <= len(line); i++ {
		want[[3]byte{line[i], line[i+1], line[i+2]}] = true
	}
	var seen [1 << 16]bool // a filter in front of the map
	for k := range want {
		seen[triple(k[0], k[1], k[2])] = true
	}
	best := 0.0
	for i := range lines {
		s := lines[i].trimmed
		s = s[:min(len(s), maxLine)]
		hits := 0
		for k := 0; k+3 <= len(s); k++ {
			if seen[triple(s[k], s[k+1], s[k+2])] {
				hits++
			}
		}
		score := float64(min(hits, len(want))) / float64(max(len(want), len(strings.TrimLeft(s, " \t"))-2))
		if score > best {
			best, at = score, i
		}
	}
	return at, best >= 0.5
}

func triple(a, b, c byte) uint16 { return uint16(a)*251 ^ uint16(b)<<5 ^ uint16(c)<<9 }

// maxShown is how many lines a comparison shows.
const maxShown = 20

// compare shows the lines of the reply and of the file side by side where they differ, with white space visible there.
func compare(lines []fileLine, want []string, at int) string {
	var b strings.Builder
	shown := 0
	for i := 0; i < max(len(lines), len(want)) && shown < maxShown; i++ {
		var have, wish string
		if i < len(lines) {
			have = lines[i].trimmed
		}
		if i < len(want) {
			wish = want[i]
		}
		if have == wish && i < len(lines) && i < len(want) {
			fmt.Fprintf(&b, "  %5d  %s\n", at+i+1, clipLine(have))
			shown++
			continue
		}
		if i < len(want) {
			fmt.Fprintf(&b, "-        %s\n", clipLine(visible(wish)))
			shown++
		}
		if i < len(lines) {
			fmt.Fprintf(&b, "+ %5d  %s\n", at+i+1, clipLine(visible(have)))
			shown++
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// visible shows tabs and blanks at the line start.
func visible(line string) string {
	body := strings.TrimLeft(line, " \t")
	indent := line[:len(line)-len(body)]
	return strings.NewReplacer(" ", "·", "\t", "→").Replace(indent) + strings.ReplaceAll(body, "\t", "→")
}

func clipLine(s string) string {
	const most = 160
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
