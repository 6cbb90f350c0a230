package parse

import (
	"slices"
	"strings"
)

// token is a tag of the tags dialect in the view: "<", perhaps "/", a name, blanks, ">".
type token struct {
	lo, hi int32
	name   tagWord
	closes bool
}

// tagWord is a name that the dialect gives a meaning to; 0 is every other name.
type tagWord uint8

var (
	tagWords   = map[string]tagWord{} // by lower-case name
	tagStrings = []string{""}
)

func word2tag(name string) tagWord {
	w, ok := tagWords[name]
	if !ok {
		w = tagWord(len(tagStrings))
		tagWords[name] = w
		tagStrings = append(tagStrings, name)
	}
	return w
}

// tagIndex is all tokens of a view, and what is asked about them often enough to be worked out once.
type tagIndex struct {
	v      *view
	tokens []token
	named  map[tagWord][]int32       // the tokens of each name
	rank   []int32                   // the place of each token among those of its name
	match  []int32                   // for each opening token the one that closes it, names apart; none
	follow []int32                   // index of the token that follows a token, white space and comments aside; none
	bodies map[[2]tagWord]*bodyIndex // by operation and child
	opens  []int32                   // for each token the next one, itself included, that opens an operation; made on demand
	ends   map[tagWord][]int32       // for each token of a name the next closing one that nothing in between opens
	last   map[tagWord]int32         // offset of the last closing token
}

// tags gives the index of the present view.
func (s *scan) tags() *tagIndex {
	v := s.view()
	if x, ok := s.memo["tags"].(map[*view]*tagIndex); ok && x[v] != nil {
		return x[v]
	}
	x := &tagIndex{v: v, named: map[tagWord][]int32{}, bodies: map[[2]tagWord]*bodyIndex{}, ends: map[tagWord][]int32{}, last: map[tagWord]int32{}}
	x.read()
	all, _ := s.memo["tags"].(map[*view]*tagIndex)
	if all == nil {
		all = map[*view]*tagIndex{}
		s.memo["tags"] = all
	}
	all[v] = x
	return x
}

func (x *tagIndex) read() {
	text := x.v.text
	for off := 0; ; {
		n := strings.IndexByte(text[off:], '<')
		if n < 0 {
			break
		}
		off += n
		if t, ok := readToken(text, off); ok {
			x.tokens = append(x.tokens, t)
			if t.closes {
				x.last[t.name] = t.lo
			}
		}
		off++
	}
	x.rank = make([]int32, len(x.tokens))
	x.match = make([]int32, len(x.tokens))
	x.follow = make([]int32, len(x.tokens))
	stacks := map[tagWord][]int32{}
	for i, t := range x.tokens {
		x.rank[i] = int32(len(x.named[t.name]))
		x.named[t.name] = append(x.named[t.name], int32(i))
		x.match[i] = none
		if !t.closes {
			stacks[t.name] = append(stacks[t.name], int32(i))
		} else if st := stacks[t.name]; len(st) > 0 {
			x.match[st[len(st)-1]] = int32(i)
			stacks[t.name] = st[:len(st)-1]
		}
		x.follow[i] = x.tokenAt(x.v.skipSpace(int(t.hi), len(text)), i+1)
	}
}

// tokenAt gives the index of the token at an offset, or none; i is the first that it can be.
func (x *tagIndex) tokenAt(off, i int) int32 {
	if i < len(x.tokens) && int(x.tokens[i].lo) < off { // a comment with tags in it
		i = int(x.next(off))
	}
	if i < len(x.tokens) && int(x.tokens[i].lo) == off {
		return int32(i)
	}
	return none
}

// readToken reads the tag at off if it has a name that means something.
func readToken(text string, off int) (token, bool) {
	t := token{lo: int32(off)}
	i := off + 1
	if i < len(text) && text[i] == '/' {
		t.closes = true
		i++
	}
	start := i
	for i < len(text) && nameByte(text[i]) && i-start < 20 {
		i++
	}
	t.name = tagWords[strings.ToLower(text[start:i])]
	if t.name == 0 {
		return t, false
	}
	for i < len(text) && blank(text[i]) {
		i++
	}
	if i == len(text) || text[i] != '>' {
		return t, false
	}
	t.hi = int32(i + 1)
	return t, true
}

// next gives the index of the first token at or behind an offset.
func (x *tagIndex) next(off int) int32 {
	lo, hi := 0, len(x.tokens)
	for lo < hi {
		mid := (lo + hi) / 2
		if int(x.tokens[mid].lo) < off {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return int32(lo)
}

// bodyIndex answers, for one child of one operation, where a body ends. A closing tag is plausible if what follows it
// may stand behind it. Each list has an entry for every tag of the child's name and one for the end; none is "not any
// more".
type bodyIndex struct {
	level []int32 // the closing tag at the level of a body that starts before this one
	any   []int32 // the next plausible closing tag
}

// body makes or gives the index for child c of operation op.
func (x *tagIndex) body(op *tagOp, c tagWord) *bodyIndex {
	key := [2]tagWord{op.word, c}
	if b := x.bodies[key]; b != nil {
		return b
	}
	own := x.named[c]
	n := len(own)
	b := &bodyIndex{level: make([]int32, n+1), any: make([]int32, n+1)}
	b.level[n], b.any[n] = none, none
	for k := n - 1; k >= 0; k-- {
		i := own[k]
		b.level[k], b.any[k] = b.level[k+1], b.any[k+1]
		switch {
		case x.tokens[i].closes && x.plausible(op, i):
			b.level[k], b.any[k] = i, i
		case !x.tokens[i].closes:
			b.level[k] = none
			if m := x.match[i]; m != none {
				b.level[k] = b.level[x.rank[m]+1]
			}
		}
	}
	x.bodies[key] = b
	return b
}

// from gives where, among the tags of a name, those at or behind token i start.
func (x *tagIndex) from(name tagWord, i int32) int {
	n, _ := slices.BinarySearch(x.named[name], i)
	return n
}

// plausible reports whether what follows the closing tag i may stand behind a child of op: another child's opening tag,
// or the closing tag of an operation.
func (x *tagIndex) plausible(op *tagOp, i int32) bool {
	f := x.follow[i]
	if f == none {
		return false
	}
	t := x.tokens[f]
	if t.closes {
		return opsByWord[t.name] != nil
	}
	_, child := op.child(t.name)
	return child
}

// end gives the closing token of a name that ends the level on which token i stands, or none.
func (x *tagIndex) end(name tagWord, i int32) int32 {
	ends := x.ends[name]
	if ends == nil {
		own := x.named[name]
		n := len(own)
		ends = make([]int32, n+1)
		ends[n] = none
		for k := n - 1; k >= 0; k-- {
			switch m := x.match[own[k]]; {
			case x.tokens[own[k]].closes:
				ends[k] = own[k]
			case m != none:
				ends[k] = ends[x.rank[m]+1]
			default:
				ends[k] = none
			}
		}
		x.ends[name] = ends
	}
	return ends[x.from(name, i)]
}

// nextOp gives the next token at or behind i that opens an operation: at an allowed place, with a tag behind it.
func (x *tagIndex) nextOp(i int32) int32 {
	if x.opens == nil {
		n := len(x.tokens)
		x.opens = make([]int32, n+1)
		x.opens[n] = none
		for k := n - 1; k >= 0; k-- {
			x.opens[k] = x.opens[k+1]
			t := x.tokens[k]
			if !t.closes && opsByWord[t.name] != nil && x.tagFollows(int(t.hi)) && x.allowed(int32(k)) {
				x.opens[k] = int32(k)
			}
		}
	}
	return x.opens[i]
}

// tagFollows reports whether a tag follows, white space and comments aside.
func (x *tagIndex) tagFollows(off int) bool {
	at := x.v.skipSpace(off, len(x.v.text))
	rest := x.v.text[at:]
	if len(rest) < 2 || rest[0] != '<' {
		return false
	}
	c := rest[1] | 0x20
	return rest[1] == '/' || c >= 'a' && c <= 'z'
}

// allowed reports whether a token stands where an operation may open: behind lead-in, or directly behind the closing
// tag of an operation.
func (x *tagIndex) allowed(k int32) bool {
	t := x.tokens[k]
	line := x.v.lineAt(int(t.lo))
	before := x.v.text[x.v.starts[line]:t.lo]
	if len(before) <= 200 && len(skipLeadIn([]byte(before+"<"))) == 1 {
		return true
	}
	if k == 0 {
		return false
	}
	p := x.tokens[k-1]
	return p.closes && opsByWord[p.name] != nil && onlyBlanks([]byte(x.v.text[p.hi:t.lo]))
}
