package parse

import (
	"sort"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// view is the reply as it is seen inside the open fence: each line less the fence's indentation. Its lines have the
// numbers that they have in the reply.
type view struct {
	text   string
	starts []int32        // offset of each line in text, and one more for the end
	none   map[string]int // from which offset on a text does not occur any more
}

// view gives the reply as it is seen now.
func (s *scan) view() *view {
	if s.seen != nil && s.seenStrip == s.strip {
		return s.seen
	}
	s.seenStrip = s.strip
	if s.seen = s.views[s.strip]; s.seen != nil {
		return s.seen
	}
	v := &view{text: s.str, starts: s.starts, none: map[string]int{}}
	if s.strip > 0 {
		v.starts = make([]int32, 0, len(s.starts))
		var b strings.Builder
		b.Grow(len(s.str))
		for i := range s.lines() {
			v.starts = append(v.starts, int32(b.Len()))
			b.Write(s.whole(i))
		}
		v.starts = append(v.starts, int32(b.Len()))
		v.text = b.String()
	}
	s.views[s.strip], s.seen = v, v
	return v
}

// lineAt gives the line that holds offset off; the end of the text belongs to the last line.
func (v *view) lineAt(off int) int {
	i := sort.Search(len(v.starts)-1, func(i int) bool { return int(v.starts[i+1]) > off })
	return max(0, min(i, len(v.starts)-2))
}

// raw gives line i of the view without its line feed; a CR stays.
func (s *scan) raw(i int) string {
	v := s.view()
	return strings.TrimSuffix(v.text[v.starts[i]:v.starts[i+1]], "\n")
}

// bare gives line i of the view without line end.
func (s *scan) bare(i int) string { return strings.TrimSuffix(s.raw(i), "\r") }

// lineEnd gives the offset of the end of line i, before its line end.
func (v *view) lineEnd(i int) int {
	end := int(v.starts[i+1])
	if end > int(v.starts[i]) && v.text[end-1] == '\n' {
		end--
		if end > int(v.starts[i]) && v.text[end-1] == '\r' {
			end--
		}
	}
	return end
}

// find gives the offset of sub at or behind off and before limit, or -1. From where on there is none up to the end of
// the text is remembered, so that looking often costs little.
func (v *view) find(sub string, off, limit int) int {
	if off > limit {
		return -1
	}
	if from, known := v.none[sub]; known && off >= from {
		return -1
	}
	n := strings.Index(v.text[off:limit], sub)
	if n < 0 {
		if limit == len(v.text) {
			v.none[sub] = off
		}
		return -1
	}
	return off + n
}

// pos gives the place of an offset of the view in the reply.
func (s *scan) pos(off int) diag.Pos {
	v := s.view()
	i := v.lineAt(off)
	cut := (int(s.starts[i+1]) - int(s.starts[i])) - (int(v.starts[i+1]) - int(v.starts[i]))
	return diag.Pos{Line: i + 1, Column: off - int(v.starts[i]) + cut + 1}
}

// between makes the span of the bytes [lo, hi) of the view.
func (s *scan) between(lo, hi int) batch.Span {
	a, b := s.pos(lo), s.pos(max(lo, hi-1))
	return batch.Span{
		Start: a.Line, End: b.Line,
		Lo: int(s.starts[a.Line-1]) + a.Column - 1, Hi: min(int(s.starts[b.Line-1])+b.Column, len(s.text)),
	}
}
