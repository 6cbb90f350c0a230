package apply

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// fileCommand is a command that is carried out by us as a file op.
type fileCommand struct {
	options string // the short options it takes
	run     func(p *planner, r *Result, c command) *diag.Error
}

// command is a command line, read.
type command struct {
	name     string
	options  map[byte]bool
	operands []string
	dir      string
}

var fileCommands = map[string]fileCommand{
	"rm":    {"rRfv", (*planner).runRm},
	"mv":    {"fnv", (*planner).runMv},
	"cp":    {"rRapfnv", (*planner).runCp},
	"mkdir": {"pv", (*planner).runMkdir},
	"touch": {"a", (*planner).runTouch},
}

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
	c := command{name: words[0], options: map[byte]bool{}, dir: op.Dir}
	if err := c.readOptions(words[1:], fc.options); err != nil {
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
	at, n, err := p.look(dir, "")
	switch {
	case err != nil:
		return err
	case n == nil:
		return p.missing(at)
	case n.Kind == Symlink:
		return throughLink(at, at)
	case n.Kind != Dir:
		return diag.New(diag.NotDirectory, "%s is not a directory", at).In(string(at))
	}
	return nil
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

// readOptions sorts words into options and operands. Options are recognised anywhere before --, as GNU tools do it.
func (c *command) readOptions(words []string, allowed string) *diag.Error {
	for i, w := range words {
		if w == "--" {
			c.operands = append(c.operands, words[i+1:]...)
			break
		}
		if len(w) < 2 || w[0] != '-' {
			c.operands = append(c.operands, w)
			continue
		}
		for _, o := range []byte(w[1:]) {
			if strings.IndexByte(allowed, o) < 0 {
				return diag.New(diag.CommandNotAllowed, "%s takes no option %s here", c.name, w).
					WithHint("options that are understood: %s", "-"+strings.Join(strings.Split(allowed, ""), " -"))
			}
			c.options[o] = true
		}
	}
	if len(c.operands) == 0 {
		return diag.New(diag.InvalidArgument, "%s needs a path", c.name)
	}
	return nil
}

func (c command) has(options string) bool {
	for i := range options {
		if c.options[options[i]] {
			return true
		}
	}
	return false
}

func (p *planner) runRm(r *Result, c command) *diag.Error {
	r.Op = "remove"
	op := batch.Remove{Recursive: c.has("rR"), Force: c.has("f")}
	for _, raw := range c.operands {
		if base := path.Base(raw); base == "." || base == ".." {
			return denied(batch.Path(raw), "rm refuses %s", raw)
		}
		if err := p.remove(r, raw, c.dir, op); err != nil {
			return err
		}
	}
	return nil
}

// targets pairs the sources of mv and cp with their destinations.
func (p *planner) targets(c command) ([][2]string, *diag.Error) {
	if len(c.operands) < 2 {
		return nil, diag.New(diag.InvalidArgument, "%s needs a source and a destination", c.name)
	}
	sources, last := c.operands[:len(c.operands)-1], c.operands[len(c.operands)-1]
	at, n, err := p.look(last, c.dir)
	if err != nil {
		return nil, err
	}
	if n != nil && n.Kind == Symlink && strings.HasSuffix(last, "/") {
		return nil, throughLink(at, at)
	}
	isDir := n != nil && n.Kind == Dir
	if !isDir && len(sources) > 1 {
		return nil, diag.New(diag.NotDirectory, "%s is not a directory", last).In(last)
	}
	if !isDir && strings.HasSuffix(last, "/") {
		if _, from, _ := p.look(sources[0], c.dir); from == nil || from.Kind != Dir {
			return nil, diag.New(diag.NotDirectory, "%s is not a directory", last).In(last)
		}
	}
	if !isDir {
		if up, err := p.tree.lstat(parent(at)); err == nil && up == nil {
			return nil, notFound(parent(at)).WithHint("make the directory first: mkdir -p %s", parent(at))
		}
	}
	pairs := make([][2]string, len(sources))
	for i, s := range sources {
		pairs[i] = [2]string{s, last}
		if isDir {
			pairs[i][1] = path.Join(last, path.Base(s))
		}
	}
	return pairs, nil
}

// spared reports whether -n keeps the destination as it is.
func (p *planner) spared(c command, to string) bool {
	if !c.has("n") {
		return false
	}
	_, n, err := p.look(to, c.dir)
	return err == nil && n != nil
}

func (p *planner) runMv(r *Result, c command) *diag.Error {
	r.Op = "move"
	pairs, err := p.targets(c)
	if err != nil {
		return err
	}
	for _, pair := range pairs {
		if p.spared(c, pair[1]) {
			continue
		}
		if err := p.move(r, pair[0], pair[1], c.dir, true); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) runCp(r *Result, c command) *diag.Error {
	r.Op = "copy"
	pairs, err := p.targets(c)
	if err != nil {
		return err
	}
	op := batch.Copy{Overwrite: true, Recursive: c.has("rRa"), KeepLinks: c.has("rRa")}
	for _, pair := range pairs {
		if p.spared(c, pair[1]) {
			continue
		}
		if err := p.copy(r, pair[0], pair[1], c.dir, op); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) runMkdir(r *Result, c command) *diag.Error {
	r.Op = "mkdir"
	for _, raw := range c.operands {
		if err := p.mkdir(r, raw, c.dir, c.has("p")); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) runTouch(r *Result, c command) *diag.Error {
	r.Op = "touch"
	for _, raw := range c.operands {
		if err := p.touch(r, raw, c.dir, false); err != nil {
			return err
		}
	}
	return nil
}
