package apply

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// command carries out a RUN. The file commands become ops of ours; nothing else is started.
func (p *planner) command(r *Result, op batch.Run) *diag.Error {
	r.Path = ""
	if p.o.NoRun {
		return diag.New(diag.CommandNotAllowed, "commands are switched off (--no-run)")
	}
	words, err := commandWords(op.Command)
	if err != nil {
		return err
	}
	fc, known := fileCommands[words[0]]
	if !known {
		return diag.New(diag.CommandNotAllowed, "%s is not run", clipLine(op.Command)).
			WithHint("rm, mv, cp, mkdir and touch are carried out; run anything else yourself")
	}
	c := command{name: words[0], dir: op.Dir}
	if err := c.readOptions(words[1:], fc); err != nil {
		return err
	}
	if err := p.checkDir(op.Dir); err != nil {
		return err
	}
	if c.dir, err = p.commandDir(op.Dir); err != nil {
		return err
	}
	return fc.run(p, r, c)
}

// commandDir gives the directory that the operands start from, relative to the top.
func (p *planner) commandDir(dir string) (string, *diag.Error) {
	if dir == "" {
		return "", nil
	}
	at, err := p.o.resolve(dir, p.o.Dir)
	return string(at), err
}

func (p *planner) checkDir(dir string) *diag.Error {
	if dir == "" {
		return nil
	}
	_, err := p.directory(dir)
	return err
}

// directory resolves a path that must be a plain directory.
func (p *planner) directory(raw string) (batch.Path, *diag.Error) {
	at, n, err := p.look(raw, "")
	switch {
	case err != nil:
		return at, err
	case n == nil:
		return at, p.missing(at)
	case n.Kind == Symlink:
		return at, throughLink(at, at)
	case n.Kind != Dir:
		return at, diag.New(diag.NotDirectory, "%s is not a directory", at).In(string(at))
	}
	return at, nil
}

// commandWords splits a command line into words. It takes one simple command of literal words; anything that a shell
// would expand or act on is refused, since doing something else silently would be worse.
func commandWords(text string) ([]string, *diag.Error) {
	file, err := syntax.NewParser(syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, diag.Wrap(err, diag.MalformedStructure, "the command is not shell syntax: %v", err)
	}
	refuse := func(pos syntax.Pos, what string) *diag.Error {
		return diag.New(diag.CommandNotAllowed, "%s at line %d, column %d of the command: there is no shell", what, pos.Line(), pos.Col()).
			WithHint("write one command per RUN block, without shell syntax; put patterns into quotes")
	}
	if len(file.Last) > 0 {
		return nil, refuse(file.Last[0].Pos(), "a comment")
	}
	if len(file.Stmts) != 1 {
		if len(file.Stmts) == 0 {
			return nil, diag.New(diag.MalformedStructure, "empty RUN")
		}
		return nil, refuse(file.Stmts[1].Pos(), "a second command")
	}
	stmt := file.Stmts[0]
	switch {
	case len(stmt.Comments) > 0:
		return nil, refuse(stmt.Comments[0].Pos(), "a comment")
	case stmt.Semicolon.IsValid():
		return nil, refuse(stmt.Semicolon, "; or &")
	case stmt.Negated:
		return nil, refuse(stmt.Pos(), "!")
	case len(stmt.Redirs) > 0:
		return nil, refuse(stmt.Redirs[0].Pos(), "a redirection")
	}
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok {
		return nil, refuse(stmt.Pos(), "a shell construct (a list, a pipe or a function)")
	}
	if len(call.Assigns) > 0 {
		return nil, refuse(call.Assigns[0].Pos(), "an assignment")
	}
	words := make([]string, 0, len(call.Args))
	for _, w := range call.Args {
		s, bad, what := literalWord(w)
		if what != "" {
			return nil, refuse(bad, what)
		}
		words = append(words, s)
	}
	return words, nil
}

// literalWord gives the text of a word without expansions; what names the construct that makes it something else.
func literalWord(w *syntax.Word) (text string, bad syntax.Pos, what string) {
	var b strings.Builder
	for i, part := range w.Parts {
		switch x := part.(type) {
		case *syntax.Lit:
			s, off, what := unquoted(x.Value, i == 0)
			if what != "" {
				return "", offsetPos(x.Pos(), off), what
			}
			b.WriteString(s)
		case *syntax.SglQuoted:
			if x.Dollar {
				return "", x.Pos(), "$'...'"
			}
			b.WriteString(x.Value)
		case *syntax.DblQuoted:
			for _, q := range x.Parts {
				lit, ok := q.(*syntax.Lit)
				if !ok || x.Dollar {
					return "", q.Pos(), "an expansion"
				}
				b.WriteString(doubleQuoted.Replace(lit.Value))
			}
		default:
			return "", part.Pos(), "an expansion"
		}
	}
	return b.String(), bad, ""
}

var doubleQuoted = strings.NewReplacer("\\\\", "\\", `\"`, `"`, `\$`, "$", "\\`", "`", "\\\n", "")

// unquoted resolves backslashes and refuses the characters that a shell would expand.
func unquoted(s string, first bool) (text string, off int, what string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			if s[i] != '\n' {
				b.WriteByte(s[i])
			}
		case strings.IndexByte("*?[", c) >= 0:
			return "", i, "the pattern character " + string(c)
		case c == '{' && strings.Contains(s[i:], "}") && (strings.Contains(s[i:], ",") || strings.Contains(s[i:], "..")):
			return "", i, "a brace expansion"
		case c == '~' && i == 0 && first:
			return "", i, "~"
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), 0, ""
}

func offsetPos(p syntax.Pos, off int) syntax.Pos {
	return syntax.NewPos(p.Offset()+uint(off), p.Line(), p.Col()+uint(off))
}
