package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/parse"
	"github.com/git-clada/git-clada/internal/report"
	"github.com/git-clada/git-clada/internal/runner"
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

// applyFlags are those of apply and check.
func applyFlags() []cli.Flag {
	return append(append(parseFlags(), lockFlags()...),
		&cli.BoolFlag{Name: "atomic", Usage: "all or nothing: a failure puts every file back"},
		&cli.BoolFlag{Name: "allow-escape", Usage: "permit paths outside the working tree"},
		&cli.BoolFlag{Name: "allow-hook-edits", Usage: "permit changes to files that git runs"},
		&cli.BoolFlag{Name: "discard-ignored", Usage: "let rm remove for good what git ignores and is too large to be kept"},
		&cli.BoolFlag{Name: "no-run", Usage: "refuse every command"},
		&cli.StringFlag{Name: "root", Usage: "absolute paths below `PREFIX` mean the top"},
		&cli.BoolFlag{Name: "relative", Usage: "paths are relative to the current directory"},
		&cli.StringFlag{Name: "report", Usage: "report as `FORM`: text, xml, reply (default text)"},
		&cli.StringFlag{Name: "output-mode", Usage: "`MODE` of the text report: stream, buffer, silent (default stream)"},
		&cli.StringFlag{Name: "error-detail", Usage: "how much failures say (`LEVEL`): minimal, full, debug (default minimal)"},
		&cli.StringFlag{Name: "timeout", Usage: "`TIME` that an approved command may take (default 30s)"},
		&cli.StringFlag{Name: "total-timeout", Usage: "`TIME` that the whole batch may take"},
		&cli.StringFlag{Name: "sandbox", Usage: "confine approved commands (`LEVEL`): off, tree, strict (default off)"},
		&cli.StringFlag{Name: "max-output", Usage: "`SIZE` of a command's output that is kept (default 10MB)"},
		jsonFlag(),
	)
}

// settings are the flags of apply, resolved.
type settings struct {
	parse     parse.Options
	apply     apply.Options
	author    string
	message   string
	model     string
	form      string
	noGit     bool
	staged    bool
	relative  bool
	hookEdits bool
	mode      string // of the text report: stream, buffer, silent
	protect   []string
	context   *txn.Context
	timeout   time.Duration // of an approved command
	total     time.Duration // of the whole batch; 0 is none
	sandbox   runner.Sandbox
	live      *report.Printer // shows tasks while commands run; nil if nobody watches
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

func (s *session) applySettings() (*settings, error) {
	o := &settings{}
	var err error
	if o.parse, err = s.parseSettings(); err != nil {
		return nil, err
	}
	switches := map[string]*bool{
		"atomic": &o.apply.Atomic, "no-run": &o.apply.NoRun, "no-git": &o.noGit, "staged": &o.staged,
		"relative": &o.relative, "allow-hook-edits": &o.hookEdits, "discard-ignored": &o.apply.Discard, "allow-escape": new(bool),
	}
	for name, to := range switches {
		if *to, err = s.on(name); err != nil {
			return nil, err
		}
	}
	if *switches["allow-escape"] {
		return nil, usagef("--allow-escape is not supported yet: what leaves the tree could not be undone")
	}
	if o.form, err = s.choice("report", "text", "text", "xml", "reply"); err != nil {
		return nil, err
	}
	if _, err = s.choice("commit", "batch", "batch"); err != nil {
		return nil, err
	}
	if _, err = s.choice("error-detail", "minimal", "minimal", "full", "debug"); err != nil {
		return nil, err
	}
	if o.mode, err = s.choice("output-mode", "stream", "stream", "buffer", "silent"); err != nil {
		return nil, err
	}
	if o.timeout, err = s.duration("timeout", "30s"); err != nil {
		return nil, err
	}
	if o.total, err = s.duration("total-timeout", "0"); err != nil {
		return nil, err
	}
	sandbox, err := s.choice("sandbox", "off", "off", "tree", "strict")
	if err != nil {
		return nil, err
	}
	o.sandbox = runner.Sandbox(sandbox)
	if o.author, err = author(s.text("git-author", "clada")); err != nil {
		return nil, err
	}
	o.message, o.model = s.text("message", ""), s.text("model", "")
	if o.apply.MaxFileSize, err = s.size("max-file-size", apply.DefaultMaxFileSize); err != nil {
		return nil, err
	}
	if o.apply.MaxOutput, err = s.size("max-output", apply.DefaultMaxOutput); err != nil {
		return nil, err
	}
	s.treeSettings(o)
	known := append(parse.Actions(), batch.Names()...)
	for _, name := range o.apply.Actions {
		if !slices.Contains(known, name) {
			return nil, usagef("Invalid action in allowed-actions: '%s'. Valid actions: %s", name, strings.Join(known, ", "))
		}
	}
	if s.repo != nil {
		if o.context, err = txn.OpenContext(s.repo); err != nil {
			return nil, err
		}
		o.apply.Context = o.context
	}
	return o, nil
}

// treeSettings fills in what depends on the working tree.
func (s *session) treeSettings(o *settings) {
	o.apply.Umask, o.apply.Now = umask(), s.now()
	o.apply.Root = s.text("root", "")
	o.apply.TopDir = s.dir
	if s.repo == nil {
		return
	}
	o.apply.TopDir = s.repo.Top
	o.apply.FoldsCase = s.repo.Config.Bool("core.ignoreCase", false)
	if o.relative {
		o.apply.Dir = strings.TrimSuffix(s.repo.Prefix, "/")
	}
	if allowed := s.repo.Config.All("clada.allowActions"); len(allowed) > 0 {
		o.apply.Actions = strings.FieldsFunc(strings.Join(allowed, ","), func(r rune) bool { return r == ',' || r == ' ' })
	}
	rules := s.repo.IgnoreRules()
	o.apply.Ignored = func(p batch.Path) bool { return rules.Ignored(string(p)) }
	o.apply.Blob = func(prefix string) bool {
		if len(prefix) < 4 || strings.Trim(prefix, "0123456789abcdef") != "" {
			return false // not an object id: a reply may not have git look for anything else
		}
		oid, err := s.repo.Objects.Resolve(prefix + "^{blob}")
		return err == nil && oid != ""
	}
	o.protect = s.repo.Config.All("clada.protect")
	var run []string
	if !o.hookEdits {
		run = s.repo.RunByGit()
	}
	o.apply.Guard = guard(o.protect, run)
}

// guard refuses protected paths and files that git runs or reads as configuration.
func guard(protect, run []string) func(batch.Path) *diag.Error {
	return func(p batch.Path) *diag.Error {
		for _, pattern := range slices.Backward(protect) { // the last one that matches decides
			free := strings.HasPrefix(pattern, "!")
			if !apply.MatchGlob(strings.TrimPrefix(pattern, "!"), string(p)) {
				continue
			}
			if free {
				break
			}
			return diag.New(diag.PermissionDenied, "%s is protected (clada.protect=%s)", p, pattern).In(string(p)).With("protected")
		}
		for _, file := range run {
			if string(p) == file || strings.HasPrefix(string(p), file+"/") {
				return diag.New(diag.PermissionDenied, "git runs or reads %s as configuration", p).In(string(p)).
					WithHint("--allow-hook-edits lets a reply change it")
			}
		}
		return nil
	}
}

// author completes a name to NAME <EMAIL>.
func author(s string) (string, error) {
	if strings.ContainsAny(s, "\n\x00") || strings.TrimSpace(s) == "" {
		return "", usagef("git-author: %q is no name", s)
	}
	if strings.HasSuffix(s, ">") && strings.Contains(s, " <") {
		return s, nil
	}
	if strings.ContainsAny(s, "<>") {
		return "", usagef("git-author: write NAME or NAME <EMAIL>, not %q", s)
	}
	return s + " <clada@localhost>", nil
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

func umask() fs.FileMode { return txn.Umask() }
