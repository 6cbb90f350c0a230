package main

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/parse"
	"github.com/git-clada/git-clada/internal/report"
	"github.com/git-clada/git-clada/internal/txn"
)

func applyCommand(e *edge) *cli.Command {
	return &cli.Command{
		Name: "apply", Usage: "carry out a reply, commit and annotate it", ArgsUsage: "[FILE...|-]",
		Flags: append(applyFlags(),
			&cli.BoolFlag{Name: "dry-run", Usage: "change nothing: the same as git clada check"},
			&cli.BoolFlag{Name: "staged", Usage: "stop before the post commit, with everything staged"},
			&cli.BoolFlag{Name: "no-git", Usage: "change files only: no repository, no commits, no undo"},
			&cli.StringFlag{Name: "commit", Usage: "make one post commit per `UNIT` (batch)"},
			&cli.StringFlag{Name: "git-author", Usage: "author of the post commit, `NAME` or NAME <EMAIL> (default clada)"},
			&cli.StringFlag{Name: "message", Usage: "subject of the post commit (`TEXT`)"},
			&cli.StringFlag{Name: "model", Usage: "`NAME` of the model that wrote the reply"},
			&cli.BoolFlag{Name: "yes", Usage: "ask no informational questions; approves no command"},
		),
		Action: func(c *cli.Context) error { return runApply(e, c, false) },
	}
}

func checkCommand(e *edge) *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "say what apply would do, changing nothing", ArgsUsage: "[FILE...|-]",
		Flags: append(applyFlags(), &cli.BoolFlag{Name: "patch", Aliases: []string{"p"}, Usage: "show the difference too"},
			&cli.BoolFlag{Name: "no-git", Usage: "work without a repository"}),
		Action: func(c *cli.Context) error { return runApply(e, c, true) },
	}
}

func runApply(e *edge, c *cli.Context, dry bool) error {
	s, err := newSession(e, c)
	if err != nil {
		return err
	}
	if !c.Bool("no-git") {
		if err := s.open(); err != nil {
			return s.ended(err)
		}
		defer s.repo.Close()
	}
	o, err := s.applySettings()
	if err != nil {
		return err
	}
	reply, err := s.readReply()
	if err != nil {
		return err
	}
	r := &report.Report{DryRun: dry || c.Bool("dry-run"), NoGit: o.noGit, ID: batch.ID(s.now(), reply)}
	r.Batch, r.List = parse.Parse(reply, o.parse)
	if r.List.Refused() {
		r.Refused = true
		return s.deliver(r, o)
	}
	switch {
	case o.noGit:
		err = s.withoutGit(r, o)
	case r.DryRun:
		err = s.dryRun(r, o)
	default:
		err = s.forReal(r, o)
	}
	if err != nil {
		r.Fatal = fatal(err)
		if r.Fatal == nil || s.ctx.Err() != nil {
			return err
		}
	}
	return s.deliver(r, o)
}

// fatal gives the refusal in an error that ended a batch, nil for errors of another kind.
func fatal(err error) *diag.Error {
	var refusal *diag.Error
	if errors.As(err, &refusal) {
		return refusal
	}
	return nil
}

// ended reports an error from before there was a batch, in the form that was asked for.
func (s *session) ended(err error) error {
	if refusal := fatal(err); refusal != nil && s.c.Bool("json") {
		r := &report.Report{Fatal: refusal}
		if err := report.JSON(s.out, r); err != nil {
			return err
		}
		return exit(r.ExitStatus())
	}
	return err
}

// deliver writes the report and ends the command with its status.
func (s *session) deliver(r *report.Report, o *settings) error {
	st := s.style()
	var err error
	switch {
	case s.c.Bool("json"):
		err = report.JSON(s.out, r)
	case o.form == "xml":
		err = report.XML(s.out, r)
	case o.form == "reply":
		err = report.Reply(s.out, r)
	case o.live != nil:
		o.live.Finish(r)
		if r.Fatal != nil {
			report.Failure(s.err, r.Fatal, st)
		}
	case o.mode != "silent" || !r.Success():
		s.text1(r, st)
	}
	if err != nil {
		return err
	}
	if r.Interrupted {
		return exit(exitInterrupted)
	}
	if status := r.ExitStatus(); status != 0 {
		return exit(status)
	}
	return nil
}

// text1 writes the text report at once, so that a reader of a pipe never sees half of it.
func (s *session) text1(r *report.Report, st report.Style) {
	if r.Fatal != nil && !r.Started {
		report.Failure(s.err, r.Fatal, st)
		return
	}
	var b bytes.Buffer
	report.Text(&b, r, st)
	s.out.Write(b.Bytes())
	if r.Fatal != nil {
		report.Failure(s.err, r.Fatal, st)
	}
}

// forReal applies a batch to the repository.
func (s *session) forReal(r *report.Report, o *settings) error {
	if len(r.Batch.Tasks) == 0 {
		return nil
	}
	to, err := s.transaction("apply")
	if err != nil {
		return err
	}
	var commands *programs
	if startsPrograms(r.Batch) {
		if commands, err = s.newPrograms(o); err != nil {
			return err
		}
		o.apply.Programs = commands
		if err := s.askConsent(commands, func() (*apply.Changeset, error) { return s.rehearse(r, o) }); err != nil {
			return err
		}
	}
	tx, err := txn.Begin(s.ctx, s.repo, to)
	if err != nil {
		return err
	}
	defer tx.Close()
	o.apply.Unkept = unkept(tx.Photo)
	bar := &inTransaction{tx: tx}
	commands.begin(bar, r, o)
	cs := apply.Plan(r.Batch, tx.Tree(), o.apply)
	r.Results, r.Warnings = cs.Results, cs.Warnings
	r.Started, r.Interrupted = commands.started(), s.ctx.Err() != nil && commands.started()
	switch {
	case commands.ended() != nil:
		return endedWith(commands.ended(), tx.Abort(context.WithoutCancel(s.ctx)))
	case o.apply.Atomic && (cs.Failed > 0 || len(r.List.Problems) > 0) && bar.moved == nil: // files alone would be half of it
		r.Undone = true
		return tx.Abort(context.WithoutCancel(s.ctx))
	case s.ctx.Err() != nil && !r.Started:
		return s.ctx.Err()
	}
	if err := tx.Stage(cs.Changes); err != nil {
		return err
	}
	tx.Discard(cs.Discards)
	record := txn.Record{
		ID: r.ID, Batch: r.Batch, Results: r.Results, Problems: len(r.List.Problems), Author: o.author, Message: o.message,
		Model: o.model, Tool: toolVersion, Staged: o.staged,
	}
	ctx := context.WithoutCancel(s.ctx)
	if bar.moved != nil {
		r.Receipt, err = tx.CommitMoved(ctx, record, bar.moved, bar.bracket)
	} else {
		r.Receipt, err = tx.CommitBatch(ctx, record)
	}
	if err != nil {
		return err
	}
	r.Warnings = append(r.Warnings, attributesChanged(r.Receipt.Changed)...)
	return o.context.Save(ctx, to.LockTimeout)
}

// attributesChanged warns of attributes files: they decide what git makes of other files, and may choose programs that
// the configuration names.
func attributesChanged(changed []txn.Changed) []diag.Warning {
	var warnings []diag.Warning
	for _, c := range changed {
		if filepath.Base(c.Path) == ".gitattributes" {
			warnings = append(warnings, diag.Warning{
				Code: "ATTRIBUTES_CHANGED", Message: c.Path + " decides how git stores and shows other files: look at it before you accept",
			})
		}
	}
	return warnings
}

// unkept reports of paths whether git has no copy of them.
func unkept(photo *txn.Photo) func(batch.Path) bool {
	return func(p batch.Path) bool { return photo.Scan.Index.Find(string(p)) == nil }
}

// endedWith says of an error that ended a batch what became of putting everything back.
func endedWith(err, back error) error {
	refusal, why := fatal(err), fatal(back)
	switch {
	case back == nil:
		return err
	case refusal == nil || why == nil:
		return errors.Join(err, back)
	}
	both := *refusal
	both.Hint = strings.TrimPrefix(both.Hint+"\n"+why.Message, "\n")
	return &both
}

// rehearse plans a batch as if its commands changed nothing, and changes nothing itself. What the plan says of the
// working context is forgotten.
func (s *session) rehearse(r *report.Report, o *settings) (*apply.Changeset, error) {
	photo, err := txn.Photograph(s.ctx, s.repo)
	if err != nil {
		return nil, err
	}
	tree, done, err := txn.ReadTree(s.repo, photo)
	if err != nil {
		return nil, err
	}
	defer done()
	options := o.apply
	options.Context, options.Unkept, options.Everything = nil, unkept(photo), true
	return apply.Plan(r.Batch, tree, options), nil
}

// dryRun works out what apply would do, down to the tree it would commit.
func (s *session) dryRun(r *report.Report, o *settings) error {
	s.repo.Objects.Dry()
	if err := txn.Ready(s.repo); err != nil {
		return err
	}
	photo, err := txn.Photograph(s.ctx, s.repo)
	if err != nil {
		return err
	}
	tree, done, err := txn.ReadTree(s.repo, photo)
	if err != nil {
		return err
	}
	defer done()
	o.apply.Unkept = unkept(photo)
	if startsPrograms(r.Batch) {
		if o.apply.Programs, err = s.newPrograms(o); err != nil {
			return err
		}
	}
	cs := apply.Plan(r.Batch, tree, o.apply)
	r.Results, r.Warnings = cs.Results, cs.Warnings
	if r.Receipt, err = txn.PlannedTree(s.ctx, s.repo, photo, cs.Changes); err != nil {
		return err
	}
	if s.c.Bool("patch") && !s.c.Bool("json") {
		return showChanges(s, cs.Changes, tree)
	}
	return nil
}

// withoutGit changes files below the current directory, and nothing else.
func (s *session) withoutGit(r *report.Report, o *settings) error {
	top, err := filepath.EvalSymlinks(s.dir)
	if err != nil {
		return err
	}
	o.apply.TopDir = top
	plain, err := txn.OpenPlain(top)
	if err != nil {
		return err
	}
	defer plain.Close()
	var commands *programs
	if startsPrograms(r.Batch) && !o.apply.Atomic { // without a record, what a command did could not be put back
		if commands, err = s.newPrograms(o); err != nil {
			return err
		}
		o.apply.Programs = commands
		rehearse := func() (*apply.Changeset, error) {
			options := o.apply
			options.Everything = true
			return apply.Plan(r.Batch, plain.Tree(), options), nil
		}
		if !r.DryRun {
			if err := s.askConsent(commands, rehearse); err != nil {
				return err
			}
			commands.begin(onPlainFiles{plain}, r, o)
		}
	}
	cs := apply.Plan(r.Batch, plain.Tree(), o.apply)
	r.Results, r.Warnings = cs.Results, cs.Warnings
	r.Started, r.Interrupted = commands.started(), s.ctx.Err() != nil && commands.started()
	switch {
	case commands.ended() != nil:
		return commands.ended()
	case o.apply.Atomic && cs.Failed > 0:
		r.Undone = true
	case !r.DryRun:
		return plain.Write(cs.Changes)
	}
	return nil
}
