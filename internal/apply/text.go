package apply

import (
	"bytes"
	"sort"
	"strings"
)

// sniffLength is how far into a file a NUL is looked for, as git does it.
const sniffLength = 8000

// isBinary reports whether content is binary: a NUL among the first 8000 bytes.
func isBinary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), sniffLength)], 0) >= 0
}

const byteOrderMark = "\xef\xbb\xbf"

// text is a file that is being searched. A line feed in a search text matches LF and CRLF, so the search runs over lf,
// where every CRLF is an LF, and its offsets are translated back.
type text struct {
	raw string
	lf  string
	crs []int // for each CR that was dropped, the offset in lf of the LF behind it
	nl  []int // offsets of the line feeds in raw, made when first asked for
}

func newText(content []byte) *text {
	t := &text{raw: string(content)}
	t.lf = t.raw
	if !strings.Contains(t.raw, "\r\n") {
		return t
	}
	var b strings.Builder
	b.Grow(len(t.raw))
	rest := t.raw
	for {
		i := strings.Index(rest, "\r\n")
		if i < 0 {
			b.WriteString(rest)
			break
		}
		b.WriteString(rest[:i])
		t.crs = append(t.crs, b.Len())
		rest = rest[i+1:]
	}
	t.lf = b.String()
	return t
}

// offset translates an offset of lf into raw. An LF that was a CRLF starts at its CR.
func (t *text) offset(lf int) int {
	return lf + sort.SearchInts(t.crs, lf)
}

// lfOffset translates an offset of raw into lf.
func (t *text) lfOffset(raw int) int {
	dropped := sort.Search(len(t.crs), func(k int) bool { return t.crs[k]+k >= raw })
	return raw - dropped
}

// line gives the number of the line, from 1, that holds the byte at raw offset off.
func (t *text) line(off int) int {
	if t.nl == nil {
		t.nl = []int{}
		for i := 0; ; {
			n := strings.IndexByte(t.raw[i:], '\n')
			if n < 0 {
				break
			}
			t.nl = append(t.nl, i+n)
			i += n + 1
		}
	}
	return 1 + sort.SearchInts(t.nl, off)
}

// ending gives the line ending that most lines of content have; on a tie that of the first line, LF if there is none.
func ending(content string) string {
	lf := strings.Count(content, "\n")
	crlf := strings.Count(content, "\r\n")
	switch {
	case 2*crlf > lf, 2*crlf == lf && lf > 0 && firstEnding(content) == "\r\n":
		return "\r\n"
	}
	return "\n"
}

// firstEnding gives the first line ending in content, or "".
func firstEnding(content string) string {
	i := strings.IndexByte(content, '\n')
	switch {
	case i < 0:
		return ""
	case i > 0 && content[i-1] == '\r':
		return "\r\n"
	}
	return "\n"
}

// withEnding writes the line feeds of s as eol. A CRLF that stands in s stays.
func withEnding(s, eol string) string {
	if eol == "\n" || !strings.Contains(s, "\n") {
		return s
	}
	const kept = "\r\n"
	if !strings.Contains(s, kept) {
		return strings.ReplaceAll(s, "\n", eol)
	}
	parts := strings.Split(s, kept)
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], "\n", eol)
	}
	return strings.Join(parts, kept)
}
