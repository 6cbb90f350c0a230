package apply

import (
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// command carries out a RUN. The file commands become ops of ours; everything else is a question of who may start what.
func (p *planner) command(r *Result, op batch.Run) *diag.Error {
	r.Path = ""
	if p.o.NoRun {
		return diag.New(diag.CommandNotAllowed, "commands are switched off (--no-run)")
	}
	text := strings.TrimSpace(op.Command)
	if p.o.Programs != nil && p.o.Programs.Blocked(text) {
		return diag.New(diag.CommandNotAllowed, "this command is blocked in .clada/allowed-commands.json")
	}
	words, refusal := commandWords(text)
	if refusal == nil {
		fc, known := fileCommands[words[0]]
		c := command{name: words[0], dir: op.Dir}
		if known {
			if refusal = c.readOptions(words[1:], fc); refusal == nil {
				return p.fileCommand(r, fc, c)
			}
		}
	}
	return p.program(r, Command{Text: text, Dir: op.Dir, Words: words, Refusal: refusal})
}

func (p *planner) fileCommand(r *Result, fc fileCommand, c command) *diag.Error {
	if err := p.checkDir(c.dir); err != nil {
		return err
	}
	var err *diag.Error
	if c.dir, err = p.commandDir(c.dir); err != nil {
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
	for i, r := range text {
		if Invisible(r) && r != '\n' && r != '\t' {
			return nil, diag.New(diag.CommandNotAllowed, "the invisible character %U at byte %d of the command", r, i+1).
				WithHint("nobody could see what the command is; write it without")
		}
	}
	if i := strings.Index(text, "$\\\n"); i >= 0 { // a shell joins the lines before it looks for expansions
		return nil, diag.New(diag.CommandNotAllowed, "'$' at the end of a line that goes on, at byte %d of the command: there is no shell", i+1).
			WithHint("write the command on one line")
	}
	file, err := syntax.NewParser(syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, diag.Wrap(err, diag.MalformedStructure, "the command is not shell syntax: %v", err)
	}
	refuse := func(pos syntax.Pos, what string) *diag.Error {
		return diag.New(diag.CommandNotAllowed, "%s (%s) at line %d, column %d of the command: there is no shell", signAt(text, pos), what, pos.Line(), pos.Col()).
			WithHint("write one command per RUN block, without shell syntax; put patterns into quotes")
	}
	if len(file.Stmts) == 0 {
		if len(file.Last) > 0 {
			return nil, refuse(file.Last[0].Pos(), "a comment")
		}
		return nil, diag.New(diag.MalformedStructure, "empty RUN")
	}
	stmt := file.Stmts[0]
	switch {
	case len(stmt.Comments) > 0:
		return nil, refuse(stmt.Comments[0].Pos(), "a comment")
	case stmt.Negated:
		return nil, refuse(stmt.Pos(), "a negation")
	case len(stmt.Redirs) > 0:
		return nil, refuse(stmt.Redirs[0].OpPos, "a redirection")
	}
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok {
		pos, what := construct(stmt.Cmd)
		return nil, refuse(pos, what)
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
	switch {
	case stmt.Semicolon.IsValid():
		return nil, refuse(stmt.Semicolon, "the end of a command")
	case len(file.Stmts) > 1:
		return nil, refuse(file.Stmts[1].Pos(), "a second command")
	case len(file.Last) > 0:
		return nil, refuse(file.Last[0].Pos(), "a comment")
	}
	return words, nil
}

// signAt gives what stands at a place of a command, quoted: an operator, or one character.
func signAt(text string, pos syntax.Pos) string {
	rest := text[min(int(pos.Offset()), len(text)):]
	for _, operator := range []string{"&&", "||", "|&", "<<<", "<<", ">>", "&>", "$(", "${"} {
		if strings.HasPrefix(rest, operator) {
			return "'" + operator + "'"
		}
	}
	_, size := utf8.DecodeRuneInString(rest)
	return "'" + rest[:size] + "'"
}

// construct names what is more than a simple command.
func construct(cmd syntax.Command) (syntax.Pos, string) {
	switch c := cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			return c.OpPos, "a pipe"
		}
		return c.OpPos, "a second command"
	case *syntax.Subshell:
		return c.Lparen, "a subshell"
	}
	return cmd.Pos(), "a construct of the shell"
}

// literalWord gives the text of a word without expansions; what names the construct that makes it something else.
func literalWord(w *syntax.Word) (text string, bad syntax.Pos, what string) {
	var b, bare strings.Builder
	for i, part := range w.Parts {
		switch x := part.(type) {
		case *syntax.Lit:
			s, off, what := unquoted(x.Value, i == 0)
			if what != "" {
				return "", offsetPos(x.Pos(), off), what
			}
			b.WriteString(s)
			bare.WriteString(x.Value)
		case *syntax.SglQuoted:
			if x.Dollar {
				return "", x.Pos(), "$'...'"
			}
			b.WriteString(x.Value)
		case *syntax.DblQuoted:
			if x.Dollar {
				return "", x.Pos(), `$"..."`
			}
			for _, q := range x.Parts {
				lit, ok := q.(*syntax.Lit)
				if !ok {
					return "", q.Pos(), "an expansion"
				}
				b.WriteString(doubleQuoted.Replace(lit.Value))
			}
		default:
			return "", part.Pos(), "an expansion"
		}
	}
	if expandsBraces(bare.String()) {
		return "", w.Pos(), "a brace expansion"
	}
	return b.String(), bad, ""
}

// expandsBraces reports whether a shell may find a brace expansion in what is not quoted of a word.
func expandsBraces(bare string) bool {
	_, behind, open := strings.Cut(bare, "{")
	return open && strings.Contains(behind, "}") && (strings.Contains(behind, ",") || strings.Contains(behind, ".."))
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
		case c == '{' && expandsBraces(s[i:]):
			return "", i, "a brace expansion"
		case c == '~' && (i == 0 && first || i > 0 && (s[i-1] == '=' || s[i-1] == ':')):
			return "", i, "a home directory"
		case c == '\\':
			return "", i, "a backslash with nothing behind it"
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), 0, ""
}

func offsetPos(p syntax.Pos, off int) syntax.Pos {
	return syntax.NewPos(p.Offset()+uint(off), p.Line(), p.Col()+uint(off))
}
