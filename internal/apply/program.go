package apply

import (
	"path"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// Programs is what decides about commands and starts them. A task that starts a program is a barrier: what was planned
// before it must be on the disk, and what it did is read from there.
type Programs interface {
	// Blocked reports whether a command line may not run in any way.
	Blocked(text string) bool
	// Start decides about a command and, unless the plan is a rehearsal, runs it.
	Start(c *Command) Started
}

// Command is a command line, or code, that a plan has come to.
type Command struct {
	Text     string      // trimmed; of code as it is
	Language string      // of code
	Words    []string    // the command line as literal words; nil if it is none
	Refusal  *diag.Error // why it is no plain command line, or no file command that is carried out by us
	Dir      string      // relative to the top, checked

	Task    *batch.Task
	Before  []Result     // of the tasks before it
	Changes []Change     // what the plan changes since the last barrier: it has to be on the disk before anything starts
	Discard []batch.Path // what it removes for good since then
	Paths   Operands
}

// Started is what became of a command.
type Started struct {
	Err       *diag.Error // it was refused, or failed
	OnDisk    bool        // Command.Changes are on the disk, and so is what the command changed
	Rehearsed bool        // nothing was started
	MayChange bool        // with Rehearsed: the command may change what comes after it
	Stop      bool        // nothing behind it may be carried out
	Run       *Run        // nil if it was not started
}

// program has a command run.
func (p *planner) program(r *Result, c Command) *diag.Error {
	if p.o.Programs == nil {
		err := diag.New(diag.CommandNotAllowed, "commands are not run here").WithHint("run it yourself if it is right")
		return err.With("not allowed", "reason", "commands are not run here")
	}
	if err := p.programDir(&c); err != nil {
		return err
	}
	c.Task, c.Before, c.Changes = r.Task, p.results[:r.Task.Seq-1], p.tree.changes()
	c.Discard = p.tree.discards
	c.Paths = Operands{p, c.Dir}
	s := p.o.Programs.Start(&c)
	if s.OnDisk {
		p.continueOnDisk()
	}
	p.stopped = p.stopped || s.Stop
	r.Run = s.Run
	if s.Run != nil {
		r.describeRun(s.Run)
	}
	switch {
	case s.Err != nil && s.Err.Case == "" && s.Err.Code == diag.CommandNotAllowed:
		return s.Err.With("not allowed", "reason", s.Err.Message)
	case s.Err != nil:
		return s.Err
	case s.Rehearsed:
		r.Did = append(r.Did, Effect{Verb: "would-run"})
		r.Unsure = s.MayChange
		if s.MayChange && p.unknown == 0 {
			p.unknown = r.Task.Seq
		}
		return nil
	}
	r.Did = append(r.Did, Effect{Verb: "ran"})
	return nil
}

// programDir resolves the directory of a command, which must be a plain one.
func (p *planner) programDir(c *Command) *diag.Error {
	dir, err := p.commandDir(c.Dir)
	if err != nil {
		return err
	}
	at, err := p.directory(c.Dir)
	if c.Dir == "" {
		at, err = batch.Path(path.Clean(p.o.Dir)), nil
	}
	switch {
	case err != nil && err.Code == diag.FileNotFound && c.Language != "":
		return diag.Wrap(err, diag.ExecFailed, "the directory %s does not exist", dir).With("no directory", "dir", path.Join(p.o.TopDir, dir))
	case err != nil:
		return err
	}
	c.Dir = strings.TrimPrefix(string(at), ".")
	return nil
}

// continueOnDisk goes on with the tree as it is on the disk.
func (p *planner) continueOnDisk() {
	p.started = true
	fresh := newOverlay(p.tree.base)
	fresh.umask = p.tree.umask
	p.tree, p.writable = fresh, map[batch.Path]bool{}
}

// describeRun makes what the command wrote the data of the task.
func (r *Result) describeRun(run *Run) {
	data := map[string]any{"stdout": run.Stdout, "stderr": run.Stderr}
	if run.Exit >= 0 {
		data["exit_code"] = run.Exit
	}
	if op, ok := r.Task.Op.(batch.Exec); ok && op.Echo {
		data["command"] = op.Code
	}
	r.Data = data
	for name, value := range data {
		r.fact(name, value)
	}
}

// Operands checks the operands of a command.
type Operands struct {
	plan *planner
	dir  string
}

// Content gives a path for a program that reads what stands there: no link in any place, no device.
func (o Operands) Content(raw string) (string, *diag.Error) { return o.check(raw, false) }

// Entry gives a path for a program that looks at an entry itself, which may be a link.
func (o Operands) Entry(raw string) (string, *diag.Error) { return o.check(raw, true) }

// Inside makes sure that what may be a path does not leave the tree.
func (o Operands) Inside(raw string) (string, *diag.Error) {
	if raw == "" {
		return raw, nil
	}
	at, err := o.plan.o.resolve(raw, o.dir)
	if err != nil {
		return "", err
	}
	if path.IsAbs(raw) {
		return o.relative(at), nil
	}
	return raw, nil
}

func (o Operands) check(raw string, entry bool) (string, *diag.Error) {
	at, err := o.plan.o.resolve(raw, o.dir)
	if err != nil {
		return "", err
	}
	if err := o.plan.tree.checkParents(at); err != nil {
		return "", err
	}
	n, err := o.plan.tree.lstat(at)
	if err != nil {
		return "", err
	}
	slash := strings.HasSuffix(raw, "/")
	switch {
	case n == nil:
	case n.Kind == Symlink && (!entry || slash):
		return "", throughLink(at, at)
	case n.Kind == Special && !entry:
		return "", denied(at, "%s is a FIFO, socket or device", at)
	}
	return o.clean(raw, at), nil
}

// clean gives a path that no program can read otherwise: without .. and, at its start, without a dash.
func (o Operands) clean(raw string, at batch.Path) string {
	p := raw
	if path.IsAbs(raw) || hasDotDot(raw) {
		p = o.relative(at)
		if strings.HasSuffix(raw, "/") {
			p += "/"
		}
	}
	if strings.HasPrefix(p, "-") {
		p = "./" + p
	}
	return p
}

func hasDotDot(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// relative gives a path of the tree from the directory of the command.
func (o Operands) relative(at batch.Path) string {
	if o.dir == "" || o.dir == "." {
		return string(at)
	}
	var up []string
	for dir := path.Clean(o.dir); dir != "."; dir = path.Dir(dir) {
		if string(at) == dir {
			return path.Join(append(up, ".")...)
		}
		if rest, below := strings.CutPrefix(string(at), dir+"/"); below {
			return path.Join(append(up, rest)...)
		}
		up = append(up, "..")
	}
	return path.Join(append(up, string(at))...)
}
