package parse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// tags is the dialect of nested tags without attributes: an operation is a tag, its parts are child tags, and what is
// in them is raw text. A body ends at the first closing tag that is followed by a tag which may legally come next;
// balanced pairs of the same tag are skipped. tags_index.go works that out, tags_ops.go has the table of operations and
// tags_values.go turns bodies into values.
type tags struct{}

func (tags) name() string { return "tags" }

func (tags) openers() []string { return []string{"<edit><file>", "<create><file>"} }

// operation is one operation being read.
type operation struct {
	*scan
	x     *tagIndex
	op    *tagOp
	open  int32 // its opening token; none if the opening tag has attributes
	lo    int
	hi    int // offset behind it
	parts []part
	wrong *diag.Error // what strict reading does not forgive
}

// part is one child: the text between its tags as it stands, and where it starts.
type part struct {
	child *tagChild
	body  string
	cdata []string // its sections, in CDATA form
	lo    int
}

func (t tags) openAt(s *scan, off int) (end int, ok bool) {
	v := s.view()
	name := strings.ToLower(tagName(v.text[off+1:]))
	if unexecuted[name] {
		return s.unexecuted(off, name)
	}
	op := tagOps[name]
	if op == nil {
		return 0, false
	}
	x := s.tags()
	if first := firstAttribute(v.text[off+1+len(name):]); first != "" {
		return s.withAttributes(x, op, off)
	}
	i := x.tokenAt(off, int(x.next(off)))
	if i == none {
		return 0, false
	}
	if !x.tagFollows(int(x.tokens[i].hi)) {
		if x.last[op.word] > int32(off) {
			s.warnTag(off, NearMiss, "<"+name+"> without a tag behind it is read as prose")
		}
		return 0, false
	}
	o := &operation{scan: s, x: x, op: op, open: i, lo: off}
	return o.read(), true
}

func (s *scan) warnTag(off int, code, message string) {
	s.list.Warnings = append(s.list.Warnings, diag.Warning{Dialect: "tags", Code: code, Pos: s.pos(off), Message: message})
}

// withAttributes reads an operation whose tag has attributes, which it must not.
func (s *scan) withAttributes(x *tagIndex, op *tagOp, off int) (end int, ok bool) {
	v := s.view()
	t, _ := v.readTag(off, len(v.text))
	if t.hi == 0 {
		return 0, false
	}
	o := &operation{scan: s, x: x, op: op, open: none, lo: off, hi: t.hi}
	if !t.empty {
		// The tag is no token, so the level behind it is the one to be closed.
		m := x.end(op.word, x.next(t.hi))
		if m == none {
			o.hi = len(v.text)
			o.malformed(off, "<%s> is never closed, and attributes are not allowed", op.name)
			return o.hi, true
		}
		o.hi = int(x.tokens[m].hi)
		if op.name == "read" && len(t.attrs) == 1 && t.attrs[0].name == "force" {
			return o.children(t.hi), true
		}
	}
	o.malformed(off, "attributes are not allowed, use a <%s> child", op.children[0].name)
	return o.hi, true
}

// read reads the operation from its opening tag on and gives the offset behind it.
func (o *operation) read() int {
	t := o.x.tokens[o.open]
	if o.op.name == "edit" {
		at := o.x.v.skipSpace(int(t.hi), len(o.x.v.text))
		if name := tagName(o.x.v.text[min(at+1, len(o.x.v.text)):]); name == "search" || name == "search-start" {
			if !o.reads("cml") {
				o.hi = o.extent()
				o.problem(diag.New(diag.InvalidArgument, "edit needs path").At(o.pos(o.lo)), diag.Validation)
				return o.hi
			}
		}
	}
	return o.children(int(t.hi))
}

// extent gives the end of a malformed operation: its closing tag, or the end of the reply.
func (o *operation) extent() int {
	if o.open != none {
		if m := o.x.match[o.open]; m != none {
			return int(o.x.tokens[m].hi)
		}
		return len(o.x.v.text)
	}
	return o.hi
}

// children reads the children from off on, up to the operation's end.
func (o *operation) children(off int) int {
	for {
		at := o.x.v.skipSpace(off, len(o.x.v.text))
		i := o.x.tokenAt(at, int(o.x.next(at)))
		if i == none {
			return o.unexpected(at)
		}
		t := o.x.tokens[i]
		if t.closes {
			if t.name != o.op.word && (opsByWord[t.name] == nil || len(o.parts) == 0) {
				return o.unexpected(at)
			}
			if t.name != o.op.word {
				o.forgive(at, WrongCloser, fmt.Sprintf("</%s> closes <%s>", tagStrings[t.name], o.op.name))
			}
			o.hi = int(t.hi)
			o.finish()
			return o.hi
		}
		child, known := o.op.child(t.name)
		if !known {
			return o.unexpected(at)
		}
		if alias := tagStrings[t.name]; alias != child.name {
			o.forgive(at, Alias, fmt.Sprintf("<%s> is read as <%s>", alias, child.name))
		}
		o.hi = o.extent() // where it ends if this child is malformed
		next, ok := o.child(child, i)
		if !ok {
			return o.hi
		}
		off = next
	}
}

// forgive warns about a form that is read although it is not right; where reading is strict it is an error.
func (o *operation) forgive(at int, code, message string) {
	if o.opts.Strict && o.wrong == nil {
		o.wrong = diag.New(diag.MalformedStructure, "%s", message).At(o.pos(at))
	}
	if !o.opts.Strict {
		o.warnTag(at, code, message)
	}
}

// unexpected reports what stands where only a child or the end may stand.
func (o *operation) unexpected(at int) int {
	o.hi = o.extent()
	if at >= len(o.x.v.text) {
		o.malformed(o.lo, "<%s> is never closed", o.op.name)
		return o.hi
	}
	what := fmt.Sprintf("unexpected text %q in <%s>", clip(firstLine(o.x.v.text[at:])), o.op.name)
	if name := tagName(strings.TrimPrefix(o.x.v.text[at+1:], "/")); o.x.v.text[at] == '<' && name != "" {
		slash := ""
		if o.x.v.text[at+1] == '/' {
			slash = "/"
		}
		what = fmt.Sprintf("unexpected <%s%s> in <%s>", slash, name, o.op.name)
		if name == "content" && o.op.name == "edit" {
			what += "; use <create_overwrite> to replace a whole file"
		}
	}
	o.malformed(at, "%s", what)
	return o.hi
}

// child reads one child from its opening token on and gives the offset behind it.
func (o *operation) child(c *tagChild, i int32) (next int, ok bool) {
	t := o.x.tokens[i]
	p := part{child: c, lo: int(t.lo)}
	if !c.text {
		return o.value(p, t)
	}
	b := o.x.body(o.op, t.name)
	if at := o.x.v.skipSpaceOnly(int(t.hi)); strings.HasPrefix(o.x.v.text[at:], "<![CDATA[") {
		if next, ok := o.cdata(p, t, b, at); ok {
			return next, true
		}
	}
	end := o.bodyEnd(b, i)
	if end == none {
		o.unclosed(c, t, i)
		return 0, false
	}
	p.body = o.x.v.text[t.hi:o.x.tokens[end].lo]
	o.parts = append(o.parts, p)
	return int(o.x.tokens[end].hi), true
}

// value reads a child that is a single value: it ends at its first closing tag.
func (o *operation) value(p part, t token) (next int, ok bool) {
	i := o.x.next(int(t.hi))
	for int(i) < len(o.x.tokens) && !(o.x.tokens[i].closes && o.x.tokens[i].name == t.name) {
		if m := o.x.tokens[i]; opsByWord[m.name] != nil {
			break // a path with tags in it is no path
		}
		i++
	}
	if int(i) == len(o.x.tokens) || !o.x.tokens[i].closes || o.x.tokens[i].name != t.name {
		o.malformed(int(t.lo), "<%s> is not closed", tagStrings[t.name])
		return 0, false
	}
	p.body = o.x.v.text[t.hi:o.x.tokens[i].lo]
	o.parts = append(o.parts, p)
	return int(o.x.tokens[i].hi), true
}

// bodyEnd gives the closing token of the body that starts behind token i: at its level, else any before the operation
// ends, else one behind that end if no operation opens in between.
func (o *operation) bodyEnd(b *bodyIndex, i int32) int32 {
	z := o.x.end(o.op.word, i+1)
	inside := func(k int32) bool { return k != none && (z == none || k < z) }
	behind := o.x.from(o.x.tokens[i].name, i+1)
	if k := b.level[behind]; inside(k) {
		return k
	}
	if k := b.any[behind]; inside(k) {
		return k
	}
	if z == none {
		return none
	}
	k := b.any[o.x.from(o.x.tokens[i].name, z+1)]
	if k == none {
		return none
	}
	if opens := o.x.nextOp(z + 1); opens != none && opens < k {
		return none
	}
	return k
}

// unclosed says what is wrong with a body that does not end.
func (o *operation) unclosed(c *tagChild, t token, i int32) {
	name := tagStrings[t.name]
	z := o.x.end(o.op.word, i+1)
	for k := i + 1; int(k) < len(o.x.tokens) && (z == none || k < z); k++ {
		if m := o.x.tokens[k]; m.closes && m.name == t.name {
			at := o.x.v.skipSpace(int(m.hi), len(o.x.v.text))
			if at >= len(o.x.v.text) {
				break
			}
			o.malformed(int(t.lo), "unexpected %q behind </%s> at line %d", clip(firstLine(o.x.v.text[at:])), name, o.pos(int(m.lo)).Line)
			return
		}
	}
	o.malformed(int(t.lo), "<%s> is not closed", name)
}

// cdata reads a body that starts with a CDATA section. It ends at the first "]]>" with a plausible closing tag behind.
func (o *operation) cdata(p part, t token, b *bodyIndex, at int) (next int, ok bool) {
	v := o.x.v
	for off := at; ; {
		off = v.find("]]>", off, len(v.text))
		if off < 0 {
			return 0, false
		}
		off += len("]]>")
		i := o.x.tokenAt(v.skipSpaceOnly(off), int(o.x.next(off)))
		if i == none || !o.x.tokens[i].closes || o.x.tokens[i].name != t.name || !o.x.plausible(o.op, i) {
			continue
		}
		inner := v.text[at+len("<![CDATA[") : off-len("]]>")]
		p.body, p.cdata = v.text[t.hi:o.x.tokens[i].lo], joinSections(inner)
		o.parts = append(o.parts, p)
		return int(o.x.tokens[i].hi), true
	}
}

// joinSections splits at "]]>", white space, "<![CDATA[": the sections of one body.
func joinSections(inner string) []string {
	var sections []string
	for {
		n := strings.Index(inner, "]]>")
		for n >= 0 {
			rest := strings.TrimLeft(inner[n+3:], " \t\r\n")
			if strings.HasPrefix(rest, "<![CDATA[") {
				sections = append(sections, inner[:n])
				inner = rest[len("<![CDATA["):]
				break
			}
			next := strings.Index(inner[n+3:], "]]>")
			if next < 0 {
				n = -1
				break
			}
			n += 3 + next
		}
		if n < 0 {
			return append(sections, inner)
		}
	}
}

// skipSpaceOnly gives the offset of the first byte at or behind off that is no white space.
func (v *view) skipSpaceOnly(off int) int {
	for off < len(v.text) && whiteSpace(v.text[off]) {
		off++
	}
	return off
}

// malformed reports what is wrong with the form of the operation.
func (o *operation) malformed(at int, format string, args ...any) {
	o.problem(diag.New(diag.MalformedStructure, format, args...).At(o.pos(min(at, len(o.x.v.text)-1))), diag.Syntax)
}

func (o *operation) problem(err *diag.Error, kind diag.Kind) {
	if err.Hint == "" {
		err.WithHint("the form is %s", o.op.form())
	}
	o.list.Problems = append(o.list.Problems, diag.Problem{
		Error: err, Kind: kind, Dialect: "tags", BlockStart: o.pos(o.lo).Line, BlockEnd: o.pos(max(o.hi-1, o.lo)).Line,
	})
}

// finish makes a task of the children.
func (o *operation) finish() {
	values, err := o.values()
	if o.wrong != nil {
		err = o.wrong
	}
	if err == nil {
		t := batch.Task{Dialect: "tags", Action: o.op.name, Span: o.between(o.lo, o.hi), Words: o.op.words()}
		if err = o.op.build(&t, values); err == nil {
			for _, content := range []string{values.content, values.lastReplace()} {
				if hasConflict(content) {
					o.warnTag(o.lo, ConflictMarks, "the new content has git conflict markers")
				}
			}
			o.addTask(t)
			return
		}
	}
	if err.Pos.IsZero() {
		err.At(o.pos(o.lo))
	}
	kind := diag.Syntax
	if err.Code == diag.InvalidArgument {
		kind = diag.Type
	}
	o.problem(err, kind)
}

// form shows how an operation is written.
func (op *tagOp) form() string {
	var b strings.Builder
	b.WriteString("<" + op.name + ">")
	for _, c := range op.children {
		if c.optional {
			continue
		}
		fmt.Fprintf(&b, "<%s>%s</%s>", c.name, strings.ToUpper(c.name), c.name)
	}
	return b.String() + "</" + op.name + ">"
}

// child gives the child that a tag opens, under its own name or another one.
func (op *tagOp) child(w tagWord) (*tagChild, bool) {
	for i := range op.children {
		if c := &op.children[i]; c.word == w || slices.Contains(c.aliases, w) {
			return c, true
		}
	}
	return nil, false
}
