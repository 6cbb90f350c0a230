package parse

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// sham is the dialect of SHAM and NESL blocks:
//
//	block      = header { blank | assignment | heredoc } end
//	header     = MARK " [@" TAG ": " ID "]"
//	assignment = key "=" JSON-string
//	heredoc    = key "=" "<<'" DELIMITER "'" NL { line NL } DELIMITER NL
//
// One block asks for one action. sham_parse.go reads blocks, sham_values.go what is assigned in them; sham_actions.go is
// the table of actions and sham_tasks.go makes tasks of blocks.
type sham struct{}

func (sham) name() string { return "sham" }

func (sham) openers() []string { return []string{"#!nesl [@three-char-SHA-256: ID]"} }

// shamState is what the scan reads of this dialect: one document, and a parser for each view of the reply.
type shamState struct {
	doc     *Sham
	parsers map[*view]*shamParser
}

func (s *scan) sham() *shamState {
	st, _ := s.memo["sham"].(*shamState)
	if st == nil {
		st = &shamState{doc: &Sham{}, parsers: map[*view]*shamParser{}}
		s.memo["sham"] = st
	}
	return st
}

// shamParser gives the parser for the present view.
func (s *scan) shamParser() *shamParser {
	st, v := s.sham(), s.view()
	if p := st.parsers[v]; p != nil {
		return p
	}
	t := newShamLines(v.text, s.opts.Strict)
	t.cut = func(i int) int {
		if i+1 >= len(v.starts) {
			return 0
		}
		return int((s.starts[i+1] - s.starts[i]) - (v.starts[i+1] - v.starts[i]))
	}
	p := &shamParser{t: t, doc: st.doc, strict: s.opts.Strict}
	st.parsers[v] = p
	return p
}

func (d sham) open(s *scan, i int) (next int, ok bool) {
	rest := strings.TrimLeft(s.bare(i), " \t")
	if !strings.HasPrefix(rest, "#!") {
		return 0, false
	}
	if mark := asciiLower(rest[:min(len(rest), len("#!nesl [@"))]); mark == "#!nesl [@" || mark == "#!sham [@" {
		if !slices.ContainsFunc(generations, func(g *generation) bool { return strings.HasPrefix(rest, g.mark) }) {
			s.warn("sham", NearMiss, i+1, rest[:len("#!nesl")]+" looks like a header and is read as prose: write #!nesl, #!NESL or #!SHAM")
			return 0, false
		}
	}
	p := s.shamParser()
	doc, before := p.doc, *p.doc
	next, ok = p.seek(i)
	if s.fence.char != 0 && s.opts.IgnoreFences {
		*doc = before
	}
	for _, b := range doc.Blocks[len(before.Blocks):] {
		b.fenced = s.fence.char != 0
		b.span = s.span(b.StartLine-1, min(max(b.last, b.StartLine), s.lines())-1)
	}
	return min(next, s.lines()), ok
}

// ReadSham reads a reply in this dialect only, as apply does, or by the exact grammar if o.Strict.
func ReadSham(reply []byte, o Options) *Sham {
	if o.Strict {
		return ParseSham(string(reply), true)
	}
	o.Dialect = "sham"
	s := newScan(normalize(reply), o, &batch.Batch{}, &diag.List{})
	s.hadBOM = bytes.HasPrefix(reply, byteOrderMark)
	s.run()
	return s.sham().doc
}

// finish makes tasks and problems of all blocks: whether a block may run depends on the errors of all others.
func (d sham) finish(s *scan) {
	doc := s.sham().doc
	if len(doc.Blocks)+len(doc.Errors)+len(doc.Warnings) == 0 {
		return
	}
	if s.hadBOM && len(doc.Blocks) > 0 && !s.opts.Strict {
		s.shamParser().byteOrderMark()
	}
	doc.settle()
	s.shamTasks(doc)
}

// parseStrictSham reads a reply as strict mode does: fences, thinking and byte order marks mean nothing.
func (s *scan) parseStrictSham() {
	doc := ParseSham(s.str, true)
	for _, b := range doc.Blocks {
		b.span = s.span(b.StartLine-1, min(max(b.last, b.StartLine), s.lines())-1)
	}
	s.shamTasks(doc)
}

// shamTasks turns blocks into tasks, and errors into problems.
func (s *scan) shamTasks(doc *Sham) {
	failed := map[string]bool{}
	first := map[string]*ShamBlock{}
	for _, b := range doc.Blocks {
		if first[b.ID] == nil {
			first[b.ID] = b
		}
	}
	counted := map[string]bool{}
	for i := range doc.Errors {
		n := &doc.Errors[i]
		id := ""
		if n.BlockID != nil {
			id = *n.BlockID
			failed[id] = true
		}
		p := n.problem(first[id])
		p.NoBlock = id == "" || counted[id]
		counted[id] = true
		s.list.Problems = append(s.list.Problems, p)
	}
	for i := range doc.Warnings {
		s.list.Warnings = append(s.list.Warnings, doc.Warnings[i].warning())
	}
	for _, b := range doc.Blocks {
		if failed[b.ID] {
			if b != first[b.ID] {
				s.list.Lost++
			}
			continue
		}
		s.shamTask(b)
	}
	slices.SortStableFunc(s.batch.Tasks, func(a, b batch.Task) int { return a.Span.Lo - b.Span.Lo })
	for i := range s.batch.Tasks {
		s.batch.Tasks[i].Seq = i + 1
	}
}

func (n *ShamNote) warning() diag.Warning {
	w := diag.Warning{Dialect: "sham", Code: n.Code, Pos: diag.Pos{Line: n.Line, Column: n.Column}, Message: n.Message}
	if n.BlockID != nil {
		w.BlockID = *n.BlockID
	}
	return w
}

// problem turns a syntax error into a problem of the reply.
func (n *ShamNote) problem(b *ShamBlock) diag.Problem {
	p := diag.Problem{
		Error: diag.New(diag.MalformedStructure, "%s", n.Message).At(diag.Pos{Line: n.Line, Column: n.Column}),
		Kind:  diag.Syntax, Dialect: "sham", BlockID: "unknown", BlockStart: n.Line, BlockEnd: n.Line, SyntaxCode: n.Code, Last: n.Code == "UNCLOSED_HEREDOC",
	}
	id := "null"
	mark := generations[2].mark
	if n.BlockID != nil {
		id = *n.BlockID
		p.BlockID = id
	}
	if b != nil {
		mark = b.gen.mark
		p.BlockStart, p.BlockEnd = b.StartLine, b.last
		p.Action, _ = b.Value("action")
	} else {
		for _, g := range generations {
			if strings.HasPrefix(shamTrim(n.Content), g.mark) {
				mark = g.mark
			}
		}
	}
	p.Source = shamTrimRight(mark + " [@" + usualTag + ": " + id + "]\n" + n.Context)
	p.Hint = n.hint(b)
	return p
}

// hint gives the corrected line where one can be given.
func (n *ShamNote) hint(b *ShamBlock) string {
	switch n.Code {
	case "MALFORMED_HEADER", "INVALID_BLOCK_ID":
		for _, g := range generations {
			if strings.HasPrefix(shamTrim(n.Content), g.mark) {
				return fmt.Sprintf("write %s [@%s: abc], the id with letters and digits", g.mark, usualTag)
			}
		}
	case "UNCLOSED_BLOCK", "MISMATCHED_END":
		return "end the block with " + b.gen.end + b.ID
	case "INVALID_HEREDOC_DELIMITER":
		return fmt.Sprintf("write <<'%s%s', and %s%s alone on the line behind the text", b.gen.delim, b.ID, b.gen.delim, b.ID)
	case "UNCLOSED_HEREDOC":
		hint := fmt.Sprintf("write %s%s alone on the line behind the text, then %s%s", b.gen.delim, b.ID, b.gen.end, b.ID)
		if b.lookalike != "" {
			hint += "; " + b.lookalike
		}
		return hint
	case "INVALID_ASSIGNMENT_OPERATOR":
		return "write " + clip(shamTrim(strings.Replace(n.Content, ":=", "=", 1)))
	case "INVALID_KEY":
		return "a key has letters, digits and _, and starts in column 1"
	case "DUPLICATE_KEY":
		return "write each key once"
	case "MALFORMED_ASSIGNMENT":
		return "a line is empty or KEY = \"VALUE\"; text of several lines goes into a heredoc"
	case "UNCLOSED_QUOTE", "TRAILING_CONTENT", "EMPTY_KEY":
		return "write KEY = \"VALUE\" and nothing else on the line"
	}
	if b == nil {
		return "write KEY = \"VALUE\""
	}
	return fmt.Sprintf("write \"VALUE\" as a JSON string, or <<'%s%s' and the text below", b.gen.delim, b.ID)
}
