package parse

import (
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// unexecuted are the tags of other tools that are reported and never carried out.
var unexecuted = map[string]bool{
	"terminal": true, "terminal-status": true, "terminal-output": true, "terminal-kill": true, "tool": true, "tool_call": true, "question": true,
}

// unexecuted reports a tag of another tool. It reaches to the first closing tag of its name.
func (s *scan) unexecuted(off int, name string) (end int, ok bool) {
	v := s.view()
	stop := strings.IndexByte(v.text[off:v.lineEnd(v.lineAt(off))], '>')
	if stop < 0 {
		return 0, false
	}
	inner := off + stop + 1
	lo, hi := v.closing(name, inner)
	if lo < 0 {
		s.warnTag(off, NearMiss, "<"+name+"> without </"+name+"> is read as prose")
		return 0, false
	}
	text := strings.Join(strings.Fields(v.text[inner:lo]), " ")
	if name == "question" {
		s.warnTag(off, "QUESTION", "the reply asks: "+clip(text))
		return hi, true
	}
	s.addTask(batch.Task{
		Dialect: "tags", Action: name, Span: s.between(off, hi),
		Op: batch.NotDone{
			As: "run", Text: "Not executed: <" + name + "> " + text, Why: "Not executed: <" + name + "> " + text,
			Hint: "commands belong in <run> of CML or RUN of markers",
		},
	})
	return hi, true
}

// closing gives the first closing tag of a name at or behind off, whatever its case, or -1.
func (v *view) closing(name string, off int) (lo, hi int) {
	key := "</" + name + ">"
	if _, known := v.none[key]; known {
		return -1, -1 // there was none from further up on
	}
	for {
		at := v.find("</", off, len(v.text))
		if at < 0 {
			v.none[key] = off
			return -1, -1
		}
		if rest := v.text[at+2:]; len(rest) > len(name) && strings.EqualFold(rest[:len(name)], name) && strings.HasPrefix(strings.TrimLeft(rest[len(name):], " \t"), ">") {
			return at, at + 2 + strings.IndexByte(rest, '>') + 1
		}
		off = at + 2
	}
}

// stray finds a line that consists of closing tags only, or that closes an operation which it does not open.
func (tags) stray(s *scan, lo, hi int) bool {
	text := strings.TrimSpace(s.view().text[lo:hi])
	body, names := trailingEndTags(text, func(name string) bool { return tagWords[strings.ToLower(name)] != 0 })
	closed := ""
	for i, name := range names {
		names[i] = strings.ToLower(name)
		if tagOps[names[i]] != nil {
			closed = names[i]
		}
	}
	switch {
	case closed == "":
		return false
	case body == "":
	case len(names) < 2 || tagOps[names[len(names)-2]] != nil || tagOps[names[len(names)-1]] == nil || hasOpening(body, names[len(names)-1]):
		return false
	}
	pos := s.pos(lo)
	s.refuseStray(diag.Problem{
		Error: diag.New(diag.MalformedStructure, "stray </%s>: an earlier block ended too early; wrap its content in <![CDATA[ ... ]]>", closed).
			At(pos).WithHint("check the block above line %d", pos.Line),
		Kind: diag.Syntax, Dialect: "tags", BlockStart: pos.Line, BlockEnd: pos.Line, Refuses: true,
	})
	return true
}

func hasOpening(text, name string) bool {
	return strings.Contains(strings.ToLower(text), "<"+name)
}
