package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/report"
	"github.com/git-clada/git-clada/internal/runner"
)

// programs decides about the commands of a batch and runs them. It is what a plan calls apply.Programs.
type programs struct {
	s        *session
	policy   *runner.Policy
	barrier  barrier // nil in a rehearsal: nothing is started
	live     *report.Printer
	deadline time.Time           // of the whole batch; zero is none
	consent  map[string][]string // by approved text: the changed inputs that a person was told of
	written  map[string]*apply.Node
	asking   bool     // the rehearsal looks for what needs a person, and goes on as if that had been approved
	wanted   []wanted // what a rehearsal came to that needs a person
	ran      bool     // something was started
	kept     int64    // bytes of output that are kept
	fatal    error    // what ended the batch
}

// wanted is a command that needs a person: for an approval, or since the reply changes what an approved command does.
type wanted struct {
	seq     int
	command *runner.Command
	inputs  []string
	refusal *diag.Error // nil if the text is approved
}

// newPrograms reads what is approved here.
func (s *session) newPrograms(o *settings) (*programs, error) {
	top, private := o.apply.TopDir, ""
	p := &runner.Policy{Top: top, System: runner.SystemPath, Env: s.env, Timeout: o.timeout, MaxOutput: o.apply.MaxOutput, Sandbox: o.sandbox}
	if s.repo != nil {
		private = filepath.Join(s.repo.Common, "clada")
		reader := s.repo.Reader()
		p.Git = &runner.Git{Flags: reader.Flags, Env: reader.Env, Reads: reader.Dirs, Files: reader.Files}
		p.Keep = s.repo.Config.All("clada.keepEnv")
		if dirs, ok := s.repo.Config.Value("clada.path"); ok {
			p.System = filepath.SplitList(dirs)
		}
	}
	a, err := runner.OpenApprovals(top, private)
	if err != nil {
		return nil, err
	}
	p.Approvals = a
	return &programs{s: s, policy: p, written: map[string]*apply.Node{}, consent: map[string][]string{}}, nil
}

// begin ends the rehearsal: from here on commands are run.
func (p *programs) begin(b barrier, r *report.Report, o *settings) {
	if p == nil {
		return
	}
	p.barrier, p.asking, p.wanted, p.written = b, false, nil, map[string]*apply.Node{}
	if o.total > 0 {
		p.deadline = time.Now().Add(o.total)
	}
	if o.mode == "stream" && o.form == "text" && !p.s.c.Bool("json") {
		o.live = report.NewPrinter(p.s.out, r, p.s.style())
		p.live = o.live
		// That nobody reads the report any more, as in git clada apply | head, is no reason to die in the middle: with this,
		// writing fails and nothing more.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	}
}

// started reports whether a command was run.
func (p *programs) started() bool { return p != nil && p.ran }

// ended gives the error that ended the batch.
func (p *programs) ended() error {
	if p == nil {
		return nil
	}
	return p.fatal
}

// Blocked implements apply.Programs.
func (p *programs) Blocked(text string) bool { return p.policy.Approvals.Blocks(text) }

// Start implements apply.Programs.
func (p *programs) Start(c *apply.Command) apply.Started {
	for i := range c.Changes {
		p.written[string(c.Changes[i].Path)] = c.Changes[i].After
	}
	cmd := &runner.Command{Text: c.Text, Language: c.Language, Words: c.Words, Refusal: c.Refusal, Dir: c.Dir}
	verdict, refusal := p.policy.Judge(cmd, c.Paths)
	inputs := p.inputs(cmd, verdict)
	if p.barrier == nil {
		return p.rehearse(c, cmd, verdict, refusal, inputs)
	}
	if refusal == nil {
		refusal = p.stale(cmd, inputs)
	}
	if refusal != nil {
		return apply.Started{Err: refusal}
	}
	return p.run(c, cmd, verdict)
}

// rehearse takes note of what would need a person, and lets the plan go on as if the command changed nothing.
func (p *programs) rehearse(c *apply.Command, cmd *runner.Command, v *runner.Verdict, refusal *diag.Error, inputs []string) apply.Started {
	needs := refusal != nil && refusal.Code == diag.CommandNotAllowed && p.policy.NeedsApproval(cmd) != nil && !p.Blocked(cmd.Entry())
	if needs {
		inputs = cmd.Inputs(p.changed())
	}
	if needs || len(inputs) > 0 {
		p.wanted = append(p.wanted, wanted{c.Task.Seq, cmd, inputs, refusal})
	}
	switch {
	case needs && p.asking:
		return apply.Started{Rehearsed: true, MayChange: true}
	case refusal != nil:
		return apply.Started{Err: refusal}
	}
	if stale := p.stale(cmd, inputs); stale != nil && !p.asking {
		return apply.Started{Err: stale}
	}
	return apply.Started{Rehearsed: true, MayChange: v.Class == runner.Approved}
}

// changed gives the files that the reply has written so far.
func (p *programs) changed() []runner.Written {
	var all []runner.Written
	for path, n := range p.written {
		if n == nil || n.Kind != apply.Regular {
			continue
		}
		all = append(all, runner.Written{Path: path, Script: n.Perm&0o111 != 0 || strings.HasPrefix(string(n.Data), "#!")})
	}
	return all
}

// inputs gives what the reply changed that decides what an approved command does.
func (p *programs) inputs(cmd *runner.Command, v *runner.Verdict) []string {
	if v == nil || v.Class != runner.Approved {
		return nil
	}
	return cmd.Inputs(p.changed())
}

// stale refuses an approved command whose inputs the reply changed without a person having been told.
func (p *programs) stale(cmd *runner.Command, inputs []string) *diag.Error {
	told := p.consent[cmd.Entry()]
	unknown := slices.DeleteFunc(slices.Clone(inputs), func(in string) bool { return slices.Contains(told, in) })
	if len(unknown) == 0 {
		return nil
	}
	return diag.New(diag.CommandNotAllowed, "the command is approved, but this reply changed what it does: %s", strings.Join(unknown, ", ")).
		WithHint("look at the change, then run the command yourself; on a terminal git clada asks")
}

// run brings the plan to the disk, runs the command, and finds out what it did.
func (p *programs) run(c *apply.Command, cmd *runner.Command, v *runner.Verdict) apply.Started {
	stop := func(err error) apply.Started {
		p.fatal = err
		return apply.Started{Err: fatalOr(err), Stop: true}
	}
	if err := p.s.ctx.Err(); err != nil {
		return apply.Started{Err: interrupted(), Stop: true}
	}
	if err := p.withinTotal(v); err != nil {
		return apply.Started{Err: err}
	}
	changing := v.Class == runner.Approved
	if err := p.barrier.before(context.WithoutCancel(p.s.ctx), c, changing); err != nil { // the program itself is what is interrupted
		return stop(err)
	}
	p.ran = true
	outcome, err := p.start(c, cmd, v)
	if err != nil {
		return stop(err)
	}
	run := recordOf(c, v, outcome)
	started := apply.Started{OnDisk: true, Run: run, Err: p.failure(cmd, v, outcome), Stop: outcome.Interrupted}
	if changing {
		refusal, err := p.barrier.after(context.WithoutCancel(p.s.ctx), run)
		if err != nil {
			s := stop(err)
			s.Run = run
			return s
		}
		if refusal != nil {
			started.Err, started.Stop = refusal, true
		}
	}
	return started
}

func fatalOr(err error) *diag.Error {
	if refusal := fatal(err); refusal != nil {
		return refusal
	}
	return diag.Wrap(err, diag.ExecFailed, "%v", err)
}

func interrupted() *diag.Error {
	return diag.New(diag.ExecFailed, "interrupted before it started").With("signal", "signal", "SIGINT")
}

// withinTotal shortens a command's time to what is left for the whole batch.
func (p *programs) withinTotal(v *runner.Verdict) *diag.Error {
	if p.deadline.IsZero() {
		return nil
	}
	left := time.Until(p.deadline)
	if left <= 0 {
		return diag.New(diag.ExecTimeout, "the time of the whole batch was over before it started").WithHint("raise --total-timeout").
			With("timeout", "seconds", 0)
	}
	if v.Program.Timeout == 0 || left < v.Program.Timeout {
		v.Program.Timeout = left
	}
	return nil
}

// start runs the program, in a temporary directory of its own for what it needs besides the tree.
func (p *programs) start(c *apply.Command, cmd *runner.Command, v *runner.Verdict) (*runner.Outcome, error) {
	if cmd.Language != "" {
		dir, err := os.MkdirTemp("", "clada-run-")
		if err != nil {
			return nil, diag.Wrap(err, diag.ExecFailed, "making a directory for the code: %v", err)
		}
		defer os.RemoveAll(dir)
		if err := v.WithCode(cmd, dir); err != nil {
			return nil, diag.Wrap(err, diag.ExecFailed, "writing the code to a file: %v", err)
		}
	}
	if p.live != nil {
		p.live.Until(c.Before)
		v.Program.Live = func(line string) { p.live.Output(c.Task, line) }
	}
	v.Program.Inherit = p.barrier.inherit()
	v.Program.MaxOutput = min(v.Program.MaxOutput, max(maxKept-p.kept, leastKept))
	o := runner.Run(p.s.ctx, v.Program)
	p.kept += int64(len(o.Stdout) + len(o.Stderr))
	return o, nil
}

// What is kept of the output of all commands of a batch together, and of each in any case, in bytes.
const (
	maxKept   = 100_000_000
	leastKept = 64_000
)

func recordOf(c *apply.Command, v *runner.Verdict, o *runner.Outcome) *apply.Run {
	return &apply.Run{
		Class: string(v.Class), Argv: v.Argv, Dir: c.Dir, Shell: v.Shell, Approval: v.Approval,
		Exit: o.Exit, Signal: o.Signal, TimedOut: o.TimedOut, Duration: o.Duration,
		Stdout: strings.ToValidUTF8(string(o.Stdout), "\ufffd"), Stderr: strings.ToValidUTF8(string(o.Stderr), "\ufffd"),
		Lines: o.Lines, Truncated: o.Truncated, Bytes: o.Bytes, Sum: o.Sum(), Leftover: o.Leftover, Confined: o.Confined,
	}
}

// failure says what went wrong with a program, nil if it did well.
func (p *programs) failure(cmd *runner.Command, v *runner.Verdict, o *runner.Outcome) *diag.Error {
	took := report.Duration(o.Duration)
	switch {
	case o.Missing && !isDir(v.Program.Dir):
		return diag.New(diag.ExecFailed, "the directory %s does not exist", cmd.Dir).With("no directory", "dir", v.Program.Dir)
	case o.Missing:
		err := diag.New(diag.ExecFailed, "program not found: %s", v.Argv[0]).WithHint("install it, or see that it is on PATH")
		if v.Class == runner.Builtin {
			err.WithHint("it is looked for in %s", strings.Join(p.policy.System, ", "))
		}
		return err.With("missing program", "program", v.Argv[0])
	case o.Failure != "":
		return diag.New(diag.ExecFailed, "it could not be started: %s", o.Failure)
	case o.TimedOut:
		limit := report.Duration(v.Program.Timeout)
		err := diag.New(diag.ExecTimeout, "ended after %s, with everything that it had started", limit).WithHint("--timeout=TIME gives commands more time")
		if v.Class == runner.Builtin {
			err.WithHint("built-in commands have %s; ask for less at once", limit)
		}
		return err.With("timeout", "seconds", fmt.Sprintf("%g", v.Program.Timeout.Seconds()))
	case o.Interrupted:
		return diag.New(diag.ExecFailed, "interrupted after %s", took).With("signal", "signal", "SIGINT")
	case o.Signal != "":
		return diag.New(diag.ExecFailed, "ended by %s after %s", o.Signal, took).With("signal", "signal", o.Signal)
	case o.Exit == 0 || o.Exit == 1 && v.OneIsOK:
		return nil
	}
	return diag.New(diag.ExecFailed, "exit %d after %s", o.Exit, took).With("exit", "status", o.Exit)
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// startsPrograms reports whether a batch has commands that are more than file ops.
func startsPrograms(b *batch.Batch) bool {
	return slices.ContainsFunc(b.Tasks, func(t batch.Task) bool {
		switch t.Op.(type) {
		case batch.Run, batch.Exec:
			return true
		}
		return false
	})
}

var errNoTerminal = errors.New("there is no terminal to ask on")

// terminal opens the terminal of the process, which is not its standard input. Where git would not ask, neither do we.
func (s *session) terminal() (*os.File, error) {
	switch v, set := s.variable("GIT_TERMINAL_PROMPT"); {
	case set && (v == "0" || strings.EqualFold(v, "false") || strings.EqualFold(v, "no") || strings.EqualFold(v, "off")):
		return nil, errNoTerminal
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	var missing *fs.PathError
	if errors.As(err, &missing) {
		return nil, errNoTerminal
	}
	return tty, err
}
