package parse

import (
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// tagValues are the parts of an operation as values.
type tagValues struct {
	path, from, to      string
	content             string
	pattern, patternRaw string
	block               bool // the pattern stood in block form
	pairs               []tagPair
	single              map[string]string // lines, offset, limit, case_insensitive
	match               batch.MatchTier
}

// tagPair is a find with its replace. findRaw is the find as written, if it was in CDATA form.
type tagPair struct {
	find, findRaw, replace string
	block                  bool // the find stood in block form
}

func (v *tagValues) lastReplace() string {
	for _, p := range v.pairs {
		if p.replace != "" {
			return p.replace
		}
	}
	return ""
}

// values turns the parts into values and checks that each required one is there once.
func (o *operation) values() (*tagValues, *diag.Error) {
	v := &tagValues{single: map[string]string{}, match: o.opts.Match}
	seen := map[string]int{}
	var finds, replaces []part
	for _, p := range o.parts {
		name := p.child.name
		seen[name]++
		switch name {
		case "find":
			finds = append(finds, p)
		case "replace":
			replaces = append(replaces, p)
		default:
			if seen[name] > 1 {
				return nil, o.form("<%s> stands twice", name).At(o.pos(p.lo))
			}
			if err := o.store(v, p); err != nil {
				return nil, err
			}
		}
	}
	for _, c := range o.op.children {
		if seen[c.name] == 0 && !c.optional {
			return nil, o.form("Missing required tag: <%s>", c.name)
		}
	}
	return v, o.pair(v, finds, replaces)
}

func (o *operation) form(format string, args ...any) *diag.Error {
	return diag.New(diag.MalformedStructure, format, args...)
}

func (o *operation) store(v *tagValues, p part) *diag.Error {
	name := p.child.name
	if !p.child.text {
		value := strings.Trim(p.body, " \t\r\n")
		if value == "" {
			return o.form("Empty <%s> tag", name).At(o.pos(p.lo))
		}
		switch name {
		case "file", "path":
			v.path = value
		case "from":
			v.from = value
		case "to":
			v.to = value
		default:
			v.single[name] = value
		}
		return nil
	}
	text, block := p.text()
	if text == "" && !(p.child.mayEmpty && block) {
		if name == "content" {
			return o.form("Empty <content> tag").At(o.pos(p.lo)).WithHint("an empty file is written <content>, a new line, </content>")
		}
		return o.form("<%s> content cannot be empty", name).At(o.pos(p.lo))
	}
	if name == "content" {
		v.content = text
		return nil
	}
	v.pattern, v.block = text, block
	if p.cdata != nil {
		v.patternRaw, _ = p.raw()
	}
	return nil
}

// pair puts finds and replaces together. They alternate, find first; a single pair may be reversed.
func (o *operation) pair(v *tagValues, finds, replaces []part) *diag.Error {
	if len(finds) != len(replaces) {
		return o.form("<find> and <replace> do not alternate")
	}
	for i, f := range finds {
		r := replaces[i]
		if len(finds) > 1 && (r.lo < f.lo || i > 0 && f.lo < replaces[i-1].lo) {
			return o.form("<find> and <replace> do not alternate").At(o.pos(f.lo))
		}
		find, block := f.text()
		if find == "" || strings.Trim(find, "\r\n") == "" {
			return o.form("<find> content cannot be empty").At(o.pos(f.lo))
		}
		p := tagPair{find: find, block: block}
		if f.cdata != nil {
			p.findRaw, _ = f.raw()
		}
		p.replace, _ = r.text()
		v.pairs = append(v.pairs, p)
	}
	return nil
}

// text gives the value of a body. It is in block form if a newline stands behind its opening tag; that goes, and the
// blanks before the closing tag if nothing else is on its line, and of a text that is matched one newline more.
func (p part) text() (text string, block bool) {
	if p.cdata == nil {
		return p.raw()
	}
	return trimBody(strings.Join(p.cdata, ""), p.child.match)
}

func (p part) raw() (text string, block bool) { return trimBody(p.body, p.child.match) }

func trimBody(s string, match bool) (text string, block bool) {
	rest := strings.TrimLeft(s, " \t")
	for _, eol := range []string{"\n", "\r\n"} {
		if strings.HasPrefix(rest, eol) {
			s, block = rest[len(eol):], true
			break
		}
	}
	line := strings.LastIndexByte(s, '\n') + 1
	if (line > 0 || block) && strings.Trim(s[line:], " \t") == "" {
		s = s[:line]
	}
	if match && strings.HasSuffix(s, "\n") {
		s = strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r")
	}
	return s, block
}
