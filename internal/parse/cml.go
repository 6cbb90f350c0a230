package parse

import (
	"slices"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// cml is the dialect of XML elements with CDATA content, both versions of its protocol together:
//
//	tasks   = <tasks [version]> { element | white space | comment } </tasks>
//	element = <write path [append]> cdata </write> | <run [dir]> cdata </run> | <remove path/> | <move from to/>
//	        | <edit path [count]> parts </edit>
//	parts   = <search> <replace> | <search-start> <search-end> <replace>     in any order, each with cdata
//	cdata   = { <![CDATA[ ... ]]> }                                         "]]&gt;" inside stands for "]]>"
//
// It is not read as XML: what stands around the elements is prose, and names are looked for one by one. An element ends
// where its own end tags balance its own start tags; sections and comments are opaque. cml_lex.go has the lexing.
type cml struct{}

func (cml) name() string { return "cml" }

func (cml) openers() []string { return []string{`<write path="...">`, `<tasks>`} }

// cmlRule says which attributes an element has; a nil map is an element without any.
var cmlRule = map[string]map[string]rule{
	"tasks":  {"version": {kind: versionValue, allowed: "1.0, 1.0.0, 1.1, 0.0.1"}},
	"write":  {"path": pathRule, "append": boolRule},
	"edit":   {"path": pathRule, "count": {kind: cmlCount, allowed: "a positive number, all"}},
	"move":   {"from": pathRule, "to": pathRule},
	"remove": {"path": pathRule},
	"run":    {"dir": dirRule},
}

// cmlWords: to remove the top is to leave the tree.
var cmlWords = &batch.Words{Codes: map[string]string{"the top": string(diag.PathEscape)}}

// cmlOpens are the attributes of which one makes a start tag an opener.
var cmlOpens = map[string][]string{
	"tasks": nil, "write": nil, "remove": nil, "run": nil, "edit": {"path", "count"}, "move": {"from", "to"},
}

func cmlCount(s string) (any, bool) {
	if s == "any" {
		return nil, false
	}
	return countValue(s)
}

// element is one element being read.
type element struct {
	*scan
	v     *view
	tag   tag
	end   tag  // its end tag; the zero tag for a self-closed one
	limit int  // end of the region it stands in
	group int  // number of the group it stands in
	hi    int  // offset behind it
	fold  bool // upper and lower case do not matter
}

func (cml) openAt(s *scan, off int) (end int, ok bool) {
	v := s.view()
	name := tagName(v.text[off+1:])
	if name == "" {
		return 0, false
	}
	lower := strings.ToLower(name)
	if _, known := cmlRule[lower]; !known {
		return 0, false
	}
	e := &element{scan: s, v: v, limit: len(v.text)}
	if !e.opens(off, name, lower) {
		return 0, false
	}
	return e.read(off), true
}

// opens decides whether the start tag at off is meant as one.
func (e *element) opens(off int, name, lower string) bool {
	first := firstAttribute(e.v.text[off+1+len(name):])
	if name != lower {
		_, known := cmlRule[lower][first]
		e.fold = true
		return known
	}
	if first != "" {
		allowed := cmlOpens[name]
		if allowed == nil {
			return true
		}
		t, _ := e.v.readTag(off, e.limit)
		return slices.ContainsFunc(t.attrs, func(a attribute) bool { return slices.Contains(allowed, a.name) })
	}
	rest := e.v.text[off+1+len(name) : e.v.lineEnd(e.v.lineAt(off))]
	after := strings.TrimLeft(rest, " \t/")
	if !strings.HasPrefix(after, ">") {
		return false
	}
	after = after[1:]
	switch name {
	case "tasks", "run", "write", "remove":
		return strings.TrimLeft(after, " \t") == "" || strings.Contains(after, "<")
	case "edit":
		next := e.v.skipSpace(off+1+len(name)+len(rest)-len(after), e.limit)
		child := tagName(e.v.text[min(next+1, len(e.v.text)):])
		return strings.HasPrefix(e.v.text[next:], "<") && (child == "search" || child == "search-start")
	}
	return false
}

// read reads the element at off and gives the offset behind it.
func (e *element) read(off int) int {
	var err *diag.Error
	e.tag, err = e.v.readTag(off, e.limit)
	if e.tag.hi == 0 {
		e.tag = tag{name: tagName(e.v.text[off+1:]), lo: off, hi: e.limit}
		return e.unterminated("the tag <%s is not closed", "close it with >")
	}
	e.hi = e.tag.hi
	if !e.tag.empty {
		var ok bool
		if e.end, ok = e.v.endTag(e.tag, e.limit, e.fold); !ok {
			return e.unterminated("<%s> has no end tag", "")
		}
		e.hi = e.end.hi
	}
	switch {
	case e.fold:
		e.problem(e.malformed("element names are lower case: <%s>", e.tag.name).WithHint("write <%s>", strings.ToLower(e.tag.name)), diag.Syntax)
	case e.tag.name == "tasks":
		e.readGroup(err)
	default:
		e.readTask(err)
	}
	return e.hi
}

// malformed makes an error about the form of the element.
func (e *element) malformed(format string, args ...any) *diag.Error {
	return diag.New(diag.MalformedXML, format, args...)
}

// problem records what is wrong with the element.
func (e *element) problem(err *diag.Error, kind diag.Kind) {
	start := e.pos(e.tag.lo)
	if err.Pos.Line == 0 {
		err.Pos = start
	}
	if err.Hint == "" {
		err.WithHint("the form is %s", cmlForms[strings.ToLower(e.tag.name)])
	}
	e.list.Problems = append(e.list.Problems, diag.Problem{
		Error: err, Kind: kind, Dialect: "cml", BlockStart: start.Line, BlockEnd: e.pos(max(e.hi-1, e.tag.lo)).Line, Group: e.group,
	})
}

var cmlForms = map[string]string{
	"tasks":  `<tasks version="1.1">...</tasks>`,
	"write":  `<write path="FILE"><![CDATA[CONTENT]]></write>`,
	"edit":   `<edit path="FILE"><search><![CDATA[OLD]]></search><replace><![CDATA[NEW]]></replace></edit>`,
	"move":   `<move from="FILE" to="FILE"/>`,
	"remove": `<remove path="FILE"/>`,
	"run":    `<run dir="DIR"><![CDATA[COMMAND]]></run>`,
}

// unterminated reports an element without end. It takes the rest of its region.
func (e *element) unterminated(form, hint string) int {
	e.hi = e.limit
	if e.tag.name == "tasks" && e.group == 0 {
		e.batch.Groups = append(e.batch.Groups, batch.Group{Dialect: "cml", Span: e.between(e.tag.lo, e.hi), Malformed: true})
		e.group = len(e.batch.Groups)
	}
	if hint == "" {
		hint = "end it with </" + e.tag.name + ">"
		if strings.Contains(e.v.text[e.tag.lo:min(e.limit, e.tag.lo+1<<16)], "<![CDATA[") {
			hint += ", and end each <![CDATA[ with ]]>"
		}
	}
	e.problem(e.malformed(form, e.tag.name).WithHint("%s", hint), diag.Syntax)
	return e.hi
}

// attributes gives the typed attributes, or says what is wrong with them.
func (e *element) attributes(form *diag.Error) (params []batch.Param, ok bool) {
	if form != nil {
		e.problem(form, diag.Syntax)
		return nil, false
	}
	params, err, kind := checkAttributes(e.tag.attrs, cmlRule[e.tag.name], e.tag.name)
	if err == nil {
		return params, true
	}
	if e.tag.name == "tasks" && kind == diag.Type {
		err = e.malformed("unknown version").At(err.Pos).WithHint("known: 1.0, 1.0.0, 1.1, 0.0.1")
	}
	e.problem(err, kind)
	return nil, false
}

// readGroup reads a tasks element. One malformed task makes the whole group malformed.
func (e *element) readGroup(form *diag.Error) {
	e.batch.Groups = append(e.batch.Groups, batch.Group{Dialect: "cml", Span: e.between(e.tag.lo, e.hi)})
	number := len(e.batch.Groups)
	tasks, problems := len(e.batch.Tasks), len(e.list.Problems)
	e.group, e.sawTags = number, true
	e.attributes(form)
	if !e.tag.empty {
		for off := e.tag.hi; off < e.end.lo; {
			off = e.stepInGroup(off, len(e.tag.attrs) > 0)
		}
	}
	if len(e.list.Problems) > problems {
		e.batch.Tasks = e.batch.Tasks[:tasks]
		e.batch.Groups[number-1].Malformed = true
	}
}

// stepInGroup reads what stands at off in a group and gives the offset behind it.
func (e *element) stepInGroup(off int, version bool) int {
	at := e.v.skipSpace(off, e.end.lo)
	if at >= e.end.lo {
		return at
	}
	text := e.v.text[at:e.end.lo]
	if strings.HasPrefix(text, "</") && tagName(text[2:]) != "" {
		stop := e.v.find(">", at, e.end.lo)
		if stop < 0 {
			stop = e.end.lo - 1
		}
		e.strayTag(at, stop+1, tagName(text[2:]))
		return stop + 1
	}
	name := tagName(text[min(1, len(text)):])
	if text[0] != '<' || name == "" {
		next := e.v.find("<", at+1, e.end.lo)
		if next < 0 {
			next = e.end.lo
		}
		e.warnAt(at, TextInGroup, "text between the tasks of a group is ignored")
		return next
	}
	child := &element{scan: e.scan, v: e.v, limit: e.end.lo, group: e.group}
	if _, known := cmlRule[name]; known && name != "tasks" {
		return child.read(at)
	}
	return child.unknown(at, name, version)
}

// unknown passes over an element that is no task.
func (e *element) unknown(at int, name string, version bool) int {
	e.tag, _ = e.v.readTag(at, e.limit)
	if e.tag.hi == 0 {
		e.tag = tag{name: name, lo: at, hi: e.limit}
		return e.unterminated("the tag <%s is not closed", "close it with >")
	}
	e.hi = e.tag.hi
	if !e.tag.empty {
		end, ok := e.v.endTag(e.tag, e.limit, false)
		if !ok {
			return e.unterminated("<%s> has no end tag", "")
		}
		e.hi = end.hi
	}
	switch {
	case name == "tasks":
		e.problem(e.malformed("tasks in tasks").WithHint("groups do not nest; to quote a group put it into a CDATA section"), diag.Syntax)
	case version:
		e.warnAt(at, UnknownElement, "the unknown element <"+name+"> is skipped")
	default:
		e.problem(e.malformed("unknown element <%s>", name).
			WithHint("known: write, edit, move, remove, run; to permit others give the group a version"), diag.Syntax)
	}
	return e.hi
}

func (e *element) warnAt(off int, code, message string) {
	pos := e.pos(off)
	e.list.Warnings = append(e.list.Warnings, diag.Warning{Dialect: "cml", Code: code, Pos: pos, Message: message})
}
