package main

import (
	"github.com/urfave/cli/v2"

	"github.com/git-clada/git-clada/internal/history"
	"github.com/git-clada/git-clada/internal/repo"
	"github.com/git-clada/git-clada/internal/report"
	"github.com/git-clada/git-clada/internal/txn"
)

func statusCommand(e *edge) *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "say where you are", Flags: []cli.Flag{jsonFlag()},
		Action: command(e, runStatus),
	}
}

// standing is what status tells.
type standing struct {
	Version int             `json:"version"`
	Head    string          `json:"head"`
	Branch  string          `json:"branch,omitempty"` // the scratch branch
	Base    string          `json:"base,omitempty"`
	Batches []standingBatch `json:"batches"`
	Pending string          `json:"pending,omitempty"` // an operation that was interrupted
	Undo    string          `json:"undo,omitempty"`
	Redo    string          `json:"redo,omitempty"`
	Changed []string        `json:"changedSince,omitempty"`
	GitOp   string          `json:"inProgress,omitempty"`
}

type standingBatch struct {
	ID      string   `json:"batch"`
	Commit  repo.OID `json:"commit,omitempty"`
	Summary string   `json:"summary"`
	Failed  int      `json:"failed,omitempty"`
	Tasks   int      `json:"tasks"`
}

func runStatus(s *session) error {
	if err := s.noArguments(); err != nil {
		return err
	}
	st, err := s.standing()
	if err != nil {
		return err
	}
	if s.c.Bool("json") {
		return report.Encode(s.out, st)
	}
	s.printf("HEAD is at %s\n", report.Line(st.Head))
	if st.GitOp != "" {
		s.printf("In progress: %s\n", st.GitOp)
	}
	if st.Pending != "" {
		s.printf("Interrupted: %s; the next command puts it right, or run git clada recover\n", report.Line(st.Pending))
	}
	if st.Branch == "" {
		s.printf("No scratch branch here: the next batch starts one.\n")
	} else {
		s.printf("Scratch branch %s, started on %s:\n", report.Line(st.Branch), report.Line(st.Base))
		for _, b := range st.Batches {
			s.printf("  %s %s %s%s\n", b.ID, b.Commit.Short(), report.Line(b.Summary), failedText(b.Failed, b.Tasks))
		}
		s.printf("  accept:  git clada accept\n  discard: git clada discard\n")
	}
	if st.Undo != "" {
		s.printf("undo would take back: %s\n", st.Undo)
	} else {
		s.printf("There is nothing to undo.\n")
	}
	if st.Redo != "" {
		s.printf("redo would bring back: %s\n", st.Redo)
	}
	for i, c := range st.Changed {
		if i == 0 {
			s.printf("Changed since, so undo would stop:\n")
		}
		s.printf("  %s\n", report.Line(c))
	}
	return nil
}

func failedText(failed, tasks int) string {
	if failed == 0 {
		return ""
	}
	return " (" + itoa(failed) + " of " + itoa(max(tasks, failed)) + " failed)"
}

func (s *session) standing() (*standing, error) {
	r := s.repo
	r.Objects.Dry()
	st := &standing{Version: 1, Batches: []standingBatch{}}
	var err error
	if st.Pending, err = txn.Pending(r); err != nil {
		return nil, err
	}
	st.GitOp, _ = r.InProgress()
	log, err := txn.OpenLog(r)
	if err != nil {
		return nil, err
	}
	head, err := r.Head(s.ctx)
	if err != nil {
		return nil, err
	}
	st.Head = history.HeadText(head)
	ops, err := history.Batches(log, head)
	if err != nil {
		return nil, err
	}
	for _, op := range ops {
		st.Branch, st.Base = op.ShortBranch(), op.Base()
		st.Batches = append(st.Batches, standingBatch{op.Batch, op.Post, op.Summary, op.Failed, op.Tasks})
	}
	if op, err := log.Redoable(); err == nil && op != nil {
		st.Redo = operation(op)
	}
	op, err := log.Current()
	if err != nil || op == nil {
		return st, err
	}
	st.Undo = operation(op)
	if st.Pending != "" {
		return st, nil
	}
	photo, err := txn.Photograph(s.ctx, r)
	if err != nil {
		return st, nil // a conflicted index: git status tells about that
	}
	st.Changed, err = history.Differences(r, photo.State, op.After)
	return st, err
}
