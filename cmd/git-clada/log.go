package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/notes"
	"github.com/git-clada/git-clada/internal/repo"
	"github.com/git-clada/git-clada/internal/report"
	"github.com/git-clada/git-clada/internal/txn"
)

func logCommand(e *edge) *cli.Command {
	return &cli.Command{
		Name: "log", Usage: "list the batches, newest first",
		Flags:  []cli.Flag{&cli.IntFlag{Name: "max-count", Aliases: []string{"n"}, Usage: "list at most `N`"}, jsonFlag()},
		Action: command(e, runLog),
	}
}

// logged is a batch in the log.
type logged struct {
	ID      string   `json:"batch"`
	Time    string   `json:"time"`
	State   string   `json:"state"` // applied, undone, accepted, discarded, without effect
	Commit  repo.OID `json:"commit,omitempty"`
	Pre     repo.OID `json:"pre,omitempty"`
	Branch  string   `json:"branch,omitempty"`
	Summary string   `json:"summary,omitempty"`
	Tasks   int      `json:"tasks"`
	Failed  int      `json:"failed,omitempty"`
	op      *txn.Op
}

func runLog(s *session) error {
	if err := s.noArguments(); err != nil {
		return err
	}
	all, err := s.batches()
	if err != nil {
		return err
	}
	if n := s.c.Int("max-count"); n > 0 && n < len(all) {
		all = all[:n]
	}
	if s.c.Bool("json") {
		return report.Encode(s.out, map[string]any{"version": 1, "batches": append([]logged{}, all...)})
	}
	for _, b := range all {
		state := b.State
		if b.Commit != "" {
			state += " " + b.Commit.Short()
		}
		summary := b.Summary
		if summary == "" {
			summary = "nothing was changed"
		}
		s.printf("%s  %s  %s%s\n", b.ID, state, report.Line(summary), failedText(b.Failed, b.Tasks))
	}
	if len(all) == 0 {
		s.say("No batch has been applied here yet.\n")
	}
	return nil
}

// batches gives the batches of this working tree's log, newest first.
func (s *session) batches() ([]logged, error) {
	log, err := txn.OpenLog(s.repo)
	if err != nil {
		return nil, err
	}
	force := map[repo.OID]string{}
	state := "applied"
	err = log.Chain(func(op *txn.Op) bool {
		switch op.Kind {
		case "accept":
			state = "accepted"
		case "discard":
			state = "discarded"
		default:
			force[op.OID] = state
		}
		if op.Kind == "apply" && op.Before.Head.Ref == op.BaseRef && op.Branch != "" {
			state = "applied" // the first batch of its scratch branch: an accept above does not reach further down
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	var all []logged
	err = log.Walk(func(op *txn.Op) bool {
		if op.Kind != "apply" {
			return true
		}
		b := logged{
			ID: op.Batch, Time: op.Time.UTC().Format("2006-01-02T15:04:05Z"), State: "undone", Commit: op.Post, Pre: op.Pre,
			Branch: op.ShortBranch(), Summary: op.Summary, Tasks: op.Tasks, Failed: op.Failed, op: op,
		}
		if st, ok := force[op.OID]; ok {
			b.State = st
		} else if op.NoOp {
			b.State = "without effect"
		}
		all = append(all, b)
		return true
	})
	return all, err
}

func showCommand(e *edge) *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "show one batch with its tasks", ArgsUsage: "[ID|COMMIT]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "patch", Aliases: []string{"p"}, Usage: "show the difference too"},
			&cli.BoolFlag{Name: "input", Usage: "show the reply itself"},
			jsonFlag(),
		},
		Action: command(e, runShow),
	}
}

// shown is one batch, from its note or from the log.
type shown struct {
	ID     string       `json:"batch"`
	Commit repo.OID     `json:"commit,omitempty"`
	Pre    repo.OID     `json:"pre,omitempty"`
	Input  repo.OID     `json:"input,omitempty"`
	Lines  []notes.Line `json:"lines"`
	op     *txn.Op
}

func runShow(s *session) error {
	if s.c.NArg() > 1 {
		return usagef("show takes one batch or commit")
	}
	b, err := s.find(s.c.Args().First())
	if err != nil {
		return err
	}
	if s.c.Bool("input") {
		reply, err := s.repo.Objects.Blob(b.Input)
		if err == nil {
			_, err = s.out.Write(reply)
		}
		return err
	}
	if s.c.Bool("json") {
		return report.Encode(s.out, map[string]any{"version": 1, "batch": b})
	}
	s.printBatch(b)
	if !s.c.Bool("patch") || b.Commit == "" {
		return nil
	}
	return s.printPatch(b)
}

func (s *session) printBatch(b *shown) {
	s.printf("batch %s\n", report.Line(b.ID))
	if b.Commit != "" {
		s.printf("commit %s\n", b.Commit)
	}
	if b.op != nil {
		s.printf("date   %s\n", b.op.Time.Local().Format("2006-01-02 15:04:05 -0700"))
		if b.op.Branch != "" {
			s.printf("branch %s\n", report.Line(b.op.ShortBranch()))
		}
	}
	s.printf("\n")
	for _, l := range b.Lines {
		if l.Kind == "batch" {
			continue
		}
		mark := "✓"
		text := l.Op + " " + l.Path
		if l.Path == "" {
			text = l.Op + " " + l.Command
		}
		switch l.Status {
		case "failed":
			mark, text = "✗", text+": "+l.Code
		case "skipped":
			mark, text = "-", text+": skipped"
		case "unchanged":
			text += ": unchanged"
		}
		where := ""
		if l.Span != nil {
			where = " (" + apply.LineSpan(l.Span.Start, l.Span.End) + " of the reply)"
		}
		s.printf("  %s %d %s%s\n", mark, l.Task, report.Line(text), where)
		s.printRun(l.Run)
	}
}

func (s *session) printPatch(b *shown) error {
	_, post, err := s.repo.Objects.Commit(string(b.Commit))
	if err != nil {
		return err
	}
	var pre repo.OID
	if len(post.Parents) > 0 {
		if pre, err = s.repo.Objects.Resolve(string(post.Parents[0]) + "^{tree}"); err != nil {
			return err
		}
	} else if pre, err = s.repo.Objects.WriteTree(nil); err != nil {
		return err
	}
	color := s.style().Color
	patch, err := s.repo.Difference(s.ctx, pre, post.Tree, color)
	if err != nil {
		return err
	}
	text := string(patch)
	if !color {
		text = report.Block(text)
	}
	s.printf("\n%s", text)
	return nil
}

// find gives the batch that an id, the start of one, or a commit names; the newest one if nothing is named.
func (s *session) find(name string) (*shown, error) {
	all, err := s.batches()
	if err != nil {
		return nil, err
	}
	for _, b := range all {
		if name == "" || strings.HasPrefix(b.ID, name) {
			return s.fromLog(b)
		}
	}
	if name == "" {
		return nil, diag.New(diag.InvalidArgument, "no batch has been applied here yet")
	}
	oid, err := s.repo.Objects.Resolve(name + "^{commit}")
	if err != nil {
		return nil, err
	}
	if oid == "" {
		return nil, diag.New(diag.InvalidArgument, "%s is neither a batch nor a commit", name).WithHint("git clada log lists the batches")
	}
	lines, err := s.note(oid)
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, diag.New(diag.InvalidArgument, "commit %s has no note of git clada", oid.Short())
	}
	b := &shown{ID: lines[0].Batch, Commit: oid, Lines: lines, Input: repo.OID(lines[0].Input), Pre: repo.OID(lines[0].Pre)}
	for _, known := range all {
		if known.Commit == oid {
			b.op = known.op
		}
	}
	return b, nil
}

func (s *session) fromLog(b logged) (*shown, error) {
	found := &shown{ID: b.ID, Commit: b.Commit, Pre: b.Pre, Input: b.op.Input, op: b.op, Lines: []notes.Line{}}
	if b.Commit == "" {
		return found, nil
	}
	lines, err := s.note(b.Commit)
	found.Lines = append(found.Lines, lines...)
	return found, err
}

// note gives the note lines on a commit.
func (s *session) note(on repo.OID) ([]notes.Line, error) {
	tree, err := s.repo.Objects.Resolve(notes.Ref + "^{tree}")
	if err != nil || tree == "" {
		return nil, err
	}
	blob, err := s.repo.Objects.Note(tree, on)
	if err != nil || blob == "" {
		return nil, err
	}
	text, err := s.repo.Objects.Blob(blob)
	return notes.Decode(text), err
}

// printRun says how a command ended and what it changed, where the trees around it are still there.
func (s *session) printRun(r *notes.Run) {
	if r == nil {
		return
	}
	ended := "ended by " + r.Signal
	if r.Exit != nil {
		ended = fmt.Sprintf("exit %d", *r.Exit)
	}
	s.printf("      %s after %s, %s\n", ended, report.Duration(time.Duration(r.DurationMS)*time.Millisecond), r.Class)
	if r.Before == "" || r.After == "" {
		return
	}
	diff, err := s.repo.Objects.Diff(repo.OID(r.Before), repo.OID(r.After))
	if err != nil {
		return
	}
	for _, d := range diff {
		s.printf("      %s %s\n", d.Letter(), report.Line(d.Path))
	}
}
