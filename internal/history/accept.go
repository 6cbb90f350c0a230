package history

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/notes"
	"github.com/git-clada/git-clada/internal/repo"
	"github.com/git-clada/git-clada/internal/txn"
)

// Accepted says what accept or discard did.
type Accepted struct {
	Base    string   // the branch that HEAD is on again, or the commit
	Branch  string   // the scratch branch that is gone
	Batches []string // ids, oldest first
	Files   []string // staged by accept; changed by discard
	Whole   []string // staged as they are in the working tree, with the user's own changes, which touch the same lines
	Commit  repo.OID // of accept --commit
}

// onScratch are the operations that the scratch branch HEAD is on consists of, oldest first.
type onScratch struct {
	ops     []*txn.Op
	base    repo.Head // where HEAD returns to
	branch  string    // full ref
	started repo.OID
}

// Scratch finds the batches on the scratch branch that HEAD is on. It refuses if HEAD is on none, or if the base moved.
func findScratch(r *repo.Repo, log *txn.Log, head repo.Head) (*onScratch, error) {
	ops, err := Batches(log, head)
	if err != nil {
		return nil, err
	}
	if len(ops) == 0 {
		return nil, diag.New(diag.InvalidArgument, "HEAD is not on a scratch branch: there is no batch to decide about").
			WithHint("git clada status tells where you are")
	}
	if ops[0].BaseRef == "" && ops[0].BaseOID == "" {
		return nil, diag.New(diag.InvalidArgument, "%s was not started in this working tree, so its base is not known here", short(head.Ref)).
			WithHint("merge it by hand, or accept it where it was started")
	}
	s := &onScratch{ops: ops, branch: head.Ref, started: ops[0].BaseOID, base: repo.Head{Ref: ops[0].BaseRef, OID: ops[0].BaseOID}}
	if s.base.Ref == "" {
		return s, nil
	}
	now, err := r.Ref(s.base.Ref)
	if err != nil {
		return nil, err
	}
	if now != s.started {
		return nil, diag.New(diag.ExternalModification, "%s moved from %s to %s since the batches started",
			short(s.base.Ref), orNone(s.started), orNone(now)).
			WithHint("nothing was changed; merge it into the scratch branch by hand, or move it back first")
	}
	return s, nil
}

// Batches gives the operations in force that committed to the scratch branch HEAD is on, oldest first.
func Batches(log *txn.Log, head repo.Head) ([]*txn.Op, error) {
	if !strings.HasPrefix(head.Ref, txn.ScratchPrefix) {
		return nil, nil
	}
	var ops []*txn.Op
	err := log.Chain(func(op *txn.Op) bool {
		if op.Kind == "accept" || op.Kind == "discard" {
			return false
		}
		if op.Kind == "apply" && op.Branch == head.Ref {
			ops = append(ops, op)
		}
		return true
	})
	slices.Reverse(ops)
	return ops, err
}

func short(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

// CommitOptions are for accept --commit.
type CommitOptions struct {
	Commit bool
	Env    []string // of the user
	Out    io.Writer
	Err    io.Writer
	Before func(files []string) // is told what was staged, before git commit runs; may be nil
}

// Accept brings what the batches on the scratch branch did to the base branch: HEAD goes back, the index gets the
// result, the working tree keeps everything it has. The user's own work in progress is unstaged again.
func Accept(ctx context.Context, r *repo.Repo, o txn.Options, c CommitOptions) (*Accepted, error) {
	tx, err := txn.Begin(ctx, r, o)
	if err != nil {
		return nil, err
	}
	defer tx.Close()
	s, err := findScratch(r, tx.Log, tx.Photo.Head)
	if err != nil {
		return nil, err
	}
	a := s.accepted()
	result, err := s.fold(ctx, tx, a)
	if err != nil {
		return nil, err
	}
	tr, err := s.leave(tx, result, tx.Photo.WorkTree)
	if err != nil {
		return nil, err
	}
	if a.Files, err = pathsBetween(r.Objects, s.base, result); err != nil {
		return nil, err
	}
	message := s.message(r.Objects)
	op, err := tx.Commit(ctx, tr)
	if err != nil || !c.Commit {
		return a, err
	}
	if len(a.Files) == 0 {
		return a, nil
	}
	return a, s.commit(ctx, tx, op, c, message, a)
}

func (s *onScratch) accepted() *Accepted {
	a := &Accepted{Base: short(s.base.Ref), Branch: short(s.branch)}
	if s.base.Detached() {
		a.Base = s.base.OID.Short()
	}
	for _, op := range s.ops {
		a.Batches = append(a.Batches, op.Batch)
	}
	return a
}

func treeOf(s *repo.Store, commit repo.OID) (repo.OID, error) {
	if commit == "" {
		return s.WriteTree(nil)
	}
	return s.Resolve(string(commit) + "^{tree}")
}

func pathsBetween(s *repo.Store, base repo.Head, tree repo.OID) ([]string, error) {
	from, err := treeOf(s, base.OID)
	if err != nil {
		return nil, err
	}
	diff, err := s.Diff(from, tree)
	var paths []string
	for _, d := range diff {
		paths = append(paths, d.Path)
	}
	return paths, err
}

// fold makes on the base what each batch did to the tree before it.
func (s *onScratch) fold(ctx context.Context, tx *txn.Tx, a *Accepted) (repo.OID, error) {
	r := tx.Repo
	acc, err := treeOf(r.Objects, s.base.OID)
	if err != nil {
		return "", err
	}
	for _, op := range s.ops {
		if op.Pre == "" && op.Post == "" && op.After.Index == op.Before.Index {
			continue // only files that git does not track
		}
		pre, err := treeOf(r.Objects, op.Pre)
		if err != nil {
			return "", err
		}
		acc, err = mergeTrees(ctx, r, pre, acc, op.After.Index, func(path string) (repo.Blob, error) {
			if !slices.Contains(a.Whole, path) {
				a.Whole = append(a.Whole, path)
			}
			return r.Objects.At(tx.Photo.WorkTree, path)
		})
		if err != nil {
			return "", err
		}
	}
	return acc, nil
}

// leave builds the transition back to the base with the given index and working tree.
func (s *onScratch) leave(tx *txn.Tx, index, workTree repo.OID) (txn.Transition, error) {
	after := txn.State{Head: s.base, Index: index, WorkTree: workTree, Flags: tx.Photo.Flags}
	edit, err := IndexEdit(tx.Repo.Objects, tx.Photo.State, after)
	return txn.Transition{
		Op:     txn.Op{Summary: strings.Join(s.accepted().Batches, ", "), Branch: s.branch, BaseRef: s.base.Ref, BaseOID: s.base.OID, After: after},
		Refs:   []repo.RefUpdate{{Name: s.branch, Old: tx.Photo.Head.OID}},
		Index:  edit,
		Cursor: txn.Cursor{Self: true},
		Settle: true,
	}, err
}

// message writes the message of accept --commit from those of the batches.
func (s *onScratch) message(store *repo.Store) string {
	var subjects, trailers []string
	for _, op := range s.ops {
		_, c, err := store.Commit(string(op.Post))
		if err != nil {
			continue
		}
		subjects = append(subjects, repo.Subject(c.Message))
		for line := range strings.Lines(c.Message) {
			line = strings.TrimSpace(line)
			if (strings.HasPrefix(line, "Assisted-by: ") || strings.HasPrefix(line, "Clada-Batch: ")) && !slices.Contains(trailers, line) {
				trailers = append(trailers, line)
			}
		}
	}
	if len(subjects) == 1 {
		return subjects[0] + "\n\n" + strings.Join(trailers, "\n") + "\n"
	}
	return fmt.Sprintf("AI: %d batches\n\n%s\n\n%s\n", len(subjects), "* "+strings.Join(subjects, "\n* "), strings.Join(trailers, "\n"))
}

// commit runs git commit as the user would, and makes the result part of the operation.
func (s *onScratch) commit(ctx context.Context, tx *txn.Tx, op *txn.Op, c CommitOptions, message string, a *Accepted) error {
	if c.Before != nil {
		c.Before(a.Files)
	}
	if err := tx.Repo.UserCommit(ctx, c.Env, message, c.Out, c.Err); err != nil {
		return diag.Wrap(err, diag.GitOperationFailed, "git commit failed: %v", err).
			WithHint("the result is staged on %s: mend the cause and run git commit, or git clada undo", a.Base)
	}
	lines, err := s.noteLines(tx.Repo)
	if err != nil {
		return err
	}
	a.Commit, err = tx.Amend(ctx, op, lines)
	return err
}

// noteLines gathers the notes of the batches.
func (s *onScratch) noteLines(r *repo.Repo) ([]notes.Line, error) {
	tip, err := r.Ref(notes.Ref)
	if err != nil || tip == "" {
		return nil, err
	}
	tree, err := treeOf(r.Objects, tip)
	if err != nil {
		return nil, err
	}
	var all []notes.Line
	for _, op := range s.ops {
		blob, err := r.Objects.Note(tree, op.Post)
		if err != nil || blob == "" {
			continue
		}
		text, err := r.Objects.Blob(blob)
		if err != nil {
			return nil, err
		}
		all = append(all, notes.Decode(text)...)
	}
	return all, nil
}
