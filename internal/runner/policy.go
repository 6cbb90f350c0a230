package runner

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-clada/git-clada/internal/diag"
)

// Command is what a reply wants to run: a command line, or code in a language.
type Command struct {
	Text     string      // the command line, trimmed; the code
	Language string      // of code; "" for a command line
	Words    []string    // the command line as literal words; nil if it is none
	Refusal  *diag.Error // why it is no plain command line, or no file command that we carry out; nil if it may be a built-in
	Dir      string      // where it starts, relative to the top; "" is the top
}

// Paths checks the operands of a command against the tree as the tasks before it left it.
type Paths interface {
	// Content gives the path for a program that reads what stands there, Entry for one that looks at the entry itself.
	// Both are relative to the directory of the command.
	Content(raw string) (string, *diag.Error)
	Entry(raw string) (string, *diag.Error)
	// Inside makes sure that what may be a path does not leave the tree, without looking at it.
	Inside(raw string) (string, *diag.Error)
}

// Class says on what ground a command runs.
type Class string

// The classes.
const (
	Builtin  Class = "builtin"  // it only reads, and its options and operands have been checked
	Approved Class = "approved" // a person approved this very text
)

// Verdict is a command that may run.
type Verdict struct {
	Class    Class
	Argv     []string // for the record
	Shell    bool     // the text is run by sh -c
	Approval string   // the approved text as it is recorded; "" for a built-in
	OneIsOK  bool     // exit status 1 is an answer, not a failure
	Program  Program
}

// Policy decides what may run. It starts nothing.
type Policy struct {
	Top       string   // the working tree, absolute
	System    []string // where built-in programs are, in this order
	Env       []string // of the person
	Keep      []string // names of variables that approved commands get although they are usually left out
	Git       *Git     // nil where there is no repository
	Approvals *Approvals
	Sandbox   Sandbox
	Timeout   time.Duration // of approved commands
	MaxOutput int64
}

// Git is how git is started so that it only reads and starts nothing else.
type Git struct {
	Flags []string // before the subcommand
	Env   []string
	Reads []string // directories that it reads: git directories, object stores
	Files []string // files that it reads: configuration
}

// Sandbox is the confinement of approved commands.
type Sandbox string

// The sandboxes.
const (
	Off    Sandbox = "off"
	InTree Sandbox = "tree"   // write only to the tree, temporary and cache directories
	Strict Sandbox = "strict" // and make no connections
)

// Judge decides about a command. A refusal says why, and how a person could approve it.
func (p *Policy) Judge(c *Command, paths Paths) (*Verdict, *diag.Error) {
	entry := c.Entry()
	if p.Approvals.Blocks(entry) {
		return nil, diag.New(diag.CommandNotAllowed, "this command is blocked in %s", ApprovalsFile)
	}
	if p.Approvals.Approves(entry) {
		return p.approved(c, entry)
	}
	if refusal := p.NeedsApproval(c); refusal != nil {
		return nil, refusal
	}
	return p.builtin(c, paths)
}

// NeedsApproval says why a command is not run as it is: nil for a built-in command in a permitted form. It looks at the
// text alone.
func (p *Policy) NeedsApproval(c *Command) *diag.Error {
	refusal := c.Refusal
	switch {
	case c.Language != "":
		refusal = diag.New(diag.CommandNotAllowed, "%s code is run only with approval", c.Language)
	case refusal == nil:
		_, refusal = readBuiltin(c.Words)
		if refusal == nil && c.Words[0] == "git" && p.Git == nil {
			refusal = diag.New(diag.CommandNotAllowed, "there is no repository for git here")
		}
	}
	if refusal != nil && refusal.Code == diag.CommandNotAllowed {
		return withAdvice(refusal, c)
	}
	return refusal
}

// withAdvice says how the command could be approved.
func withAdvice(refusal *diag.Error, c *Command) *diag.Error {
	e := *refusal
	advice := "a person can approve this text: git clada allow add -- " + Quote(c.Entry())
	if strings.Contains(c.Text, "\n") && c.Language == "" {
		advice = "a person can approve this text: git clada allow add - reads it from standard input"
	}
	if e.Hint != "" {
		advice = e.Hint + "\n" + advice
	}
	e.Hint = advice
	return &e
}

// Quote writes text as one word of a shell.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// reading is a built-in command, read.
type reading struct {
	*line
	name    string
	sub     string // the subcommand of git
	builtin builtin
	git     gitCommand
	pattern []string // the operand that is no path
}

// readBuiltin reads a command line as that of a built-in command.
func readBuiltin(argv []string) (*reading, *diag.Error) {
	r := &reading{name: argv[0]}
	b, known := builtins[r.name]
	var err *diag.Error
	switch {
	case r.name == "find":
		r.line, err = readFind(argv[1:])
		return r, err
	case r.name == "git":
		r.sub, r.git, r.line, err = readGit(argv[1:])
		return r, err
	case !known:
		return nil, notBuiltin(r.name)
	}
	r.builtin = b
	reader := &optionReader{program: r.name, set: readOptions(b.options, b.style), style: b.style, digits: b.digits}
	if r.line, err = reader.read(argv[1:]); err != nil {
		return nil, err
	}
	if b.pattern != "" && !r.has(b.pattern) && len(r.operands) > 0 {
		r.pattern, r.operands = r.operands[:1], r.operands[1:]
	}
	least := b.least
	if b.bare != "" && r.has(b.bare) {
		least = 0
	}
	switch {
	case len(r.operands) < least:
		return nil, diag.New(diag.CommandNotAllowed, "%s would read standard input, and there is none", r.name).WithHint("name a file")
	case b.most >= 0 && len(r.operands) > b.most:
		return nil, diag.New(diag.CommandNotAllowed, "%s takes %d operands here, not %d", r.name, b.most, len(r.operands))
	}
	return r, nil
}

func notBuiltin(name string) *diag.Error {
	err := diag.New(diag.CommandNotAllowed, "%s is run only with approval", name)
	switch {
	case strings.Contains(name, "/"):
		err.Message += ", and so is every program that is named by its path"
	case slices.Contains([]string{"cd", "export", "source", ".", "alias", "set"}, name):
		err.Message = "each command starts afresh, so " + name + " would change nothing"
		err.WithHint(`use the dir attribute: dir="src"`)
	}
	return err
}

// builtin makes the program of a built-in command: operands checked, everything that it does not need closed.
func (p *Policy) builtin(c *Command, paths Paths) (*Verdict, *diag.Error) {
	r, err := readBuiltin(c.Words)
	if err != nil {
		return nil, err
	}
	operands, err := r.check(paths)
	if err != nil {
		return nil, err
	}
	v := &Verdict{Class: Builtin, Argv: c.Words, OneIsOK: r.oneIsOK()}
	v.Program = Program{
		Path: p.find(r.name), Dir: p.dir(c.Dir), Env: p.plainEnvironment(), Timeout: BuiltinTimeout, MaxOutput: DefaultMaxOutput,
		Args: r.arguments(operands),
	}
	if r.name == "git" {
		v.Program.Args = append(append([]string{"git"}, p.Git.Flags...), v.Program.Args[1:]...)
		v.Program.Env = p.Git.Env
	}
	v.Program.Confine = p.readOnly(v.Program.Path, r.name == "git")
	return v, nil
}

func (r *reading) oneIsOK() bool {
	return r.builtin.oneIsOK || r.name == "git" && r.sub == "diff"
}

// check checks the operands and the options that are paths, and gives the operands to hand on.
func (r *reading) check(paths Paths) ([]string, *diag.Error) {
	look := paths.Content
	if r.builtin.entries || r.builtin.links != "" && r.has(r.builtin.links) {
		look = paths.Entry
	}
	if r.name == "git" {
		look = func(raw string) (string, *diag.Error) {
			if r.git.operands == pathspecs || r.git.operands == revisions {
				return gitOperand(raw, paths)
			}
			return raw, nil
		}
	}
	operands := make([]string, len(r.operands))
	for i, raw := range r.operands {
		var err *diag.Error
		if operands[i], err = look(raw); err != nil {
			return nil, err
		}
	}
	for _, o := range r.paths {
		clean, err := paths.Content(strings.TrimPrefix(r.options[o.at], o.prefix))
		if err != nil {
			return nil, err
		}
		r.options[o.at] = o.prefix + clean
	}
	return operands, nil
}

// arguments puts the command line together again, in a form that cannot be read in two ways.
func (r *reading) arguments(operands []string) []string {
	switch r.name {
	case "find":
		return append(append([]string{"find"}, operands...), r.options...)
	case "git":
		args := append(strings.Fields("git "+r.sub), r.options...)
		if r.git.patches {
			args = append(args, "--no-ext-diff", "--no-textconv")
		}
		if r.dashes < 0 {
			return append(args, operands...)
		}
		return append(append(append(args, operands[:r.dashes]...), "--"), operands[r.dashes:]...)
	}
	args := append([]string{r.name}, r.options...)
	args = append(args, r.builtin.inject...)
	if r.builtin.style != words {
		args = append(args, "--")
	}
	return append(append(args, r.pattern...), operands...)
}

func (p *Policy) dir(dir string) string { return filepath.Join(p.Top, filepath.FromSlash(dir)) }
