package txn

import (
	"context"
	"errors"

	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/notes"
	"github.com/git-clada/git-clada/internal/repo"
)

// Transition is the outcome of an operation: what its log entry says, and where refs and index go.
type Transition struct {
	Op     Op // without times, states before, files and log positions: those are the transaction's own
	Refs   []repo.RefUpdate
	Moved  []repo.RefUpdate // refs that have been moved already, by a command
	Index  repo.IndexEdit
	Cursor Cursor
	Notes  []Note
	Input  []byte // the reply, for the input notes
	Settle bool   // what is ignored may have changed: see settle
}

// Cursor says where the cursor of the log goes.
type Cursor struct {
	Self bool     // to this operation
	To   repo.OID // else there; "" is the beginning
}

// Note is lines for the note on a commit.
type Note struct {
	On    repo.OID
	Lines []notes.Line
}

// Commit carries out a transition and ends the operation. If it fails, everything is as it was before Begin, unless
// the error says interrupted.
func (t *Tx) Commit(ctx context.Context, tr Transition) (*Op, error) {
	op, err := t.commit(ctx, &tr)
	if err == nil {
		return op, nil
	}
	if t.journal != nil {
		if back := t.Abort(ctx); back != nil {
			return nil, errors.Join(err, back)
		}
	}
	return nil, t.explain(err)
}

// explain gives races their code.
func (t *Tx) explain(err error) error {
	switch {
	case errors.Is(err, repo.ErrRefMoved):
		return diag.Wrap(err, diag.ExternalModification, "a branch was moved by another process meanwhile: %v", err).
			WithHint("nothing was changed; try again")
	case errors.Is(err, repo.ErrIndexMoved):
		return diag.Wrap(err, diag.ExternalModification, "the index was changed by another process meanwhile").
			WithHint("nothing was changed; try again")
	}
	return err
}

func (t *Tx) commit(ctx context.Context, tr *Transition) (*Op, error) {
	op := &tr.Op
	op.Kind, op.Command, op.Time = t.o.Kind, t.o.Command, t.o.Now
	op.Prev, op.Cursor = t.Log.Tip, t.Log.Cursor
	op.Before = t.Photo.State
	if t.before != nil {
		op.Before = *t.before
	}
	op.Before.Refs = oldRefs(append(tr.Moved, tr.Refs...))
	op.After.Refs = newRefs(append(tr.Moved, tr.Refs...))
	op.LeftOut = t.Photo.LeftOut
	if tr.Settle {
		if err := t.settle(ctx, op); err != nil {
			return nil, err
		}
	}
	op.Files = joined(t.Files())
	final, err := writeOp(t.Repo, op, t.parents(op), t.keepers(), t.Who, op.subject())
	if err != nil {
		return nil, err
	}
	op.OID = final
	refs := append(t.logRefs(tr.Cursor, final), tr.Refs...) // the log first: it tells a recovery what happened
	release, noteRefs, err := t.noteRefs(ctx, tr)
	if err != nil {
		return nil, err
	}
	defer release()
	j := t.journal
	if j == nil {
		j = &journal{}
	}
	j.Final, j.After = final, op.After.Head
	j.Discard = t.discards
	j.Refs = append(refs, noteRefs...)
	checked := t.checks(tr)
	for _, u := range checked {
		j.Checked = append(j.Checked, u.Name)
	}
	if t.journal == nil {
		err = t.open(ctx, op, j)
	} else {
		j.Files = append(j.Files, order(t.staged)...)
		err = t.protect()
	}
	if err != nil {
		return nil, err
	}
	for i := range j.Refs {
		if j.Refs[i].Name == t.Log.Ref {
			j.Refs[i].Old = j.Pending
		}
	}
	if err := t.writeStaged(); err != nil {
		return nil, err
	}
	if err := t.moveIndex(ctx, tr); err != nil {
		return nil, err
	}
	// As late as can be: git gives no way to make the move of HEAD depend on where HEAD was.
	if err := t.checkHead(ctx); err != nil {
		return nil, err
	}
	if err := t.updateRefs(append(j.Refs, checked...)); err != nil {
		return nil, err
	}
	t.journal = nil // from here on there is no way back, only forward
	if err := finish(ctx, t.Repo, j, t.effect); err != nil {
		return nil, diag.Wrap(err, diag.Interrupted, "%s is done but for the cleaning up: %v", t.o.Command, err).
			WithHint("the next command finishes it, or run git clada recover")
	}
	return op, nil
}

func (t *Tx) effect(what string) error { return t.root.effect(what) }

func (o *Op) subject() string {
	s := "clada " + o.Kind
	if o.Batch != "" {
		s += " " + o.Batch
	}
	if o.Summary != "" {
		s += ": " + o.Summary
	}
	return s
}

// checks are refs that must not have moved although the operation leaves them alone.
func (t *Tx) checks(tr *Transition) []repo.RefUpdate {
	head := t.Photo.Head
	if head.Ref == "" {
		return nil
	}
	for _, u := range tr.Refs {
		if u.Name == head.Ref {
			return nil
		}
	}
	return []repo.RefUpdate{{Name: head.Ref, Old: head.OID, New: head.OID}}
}

func oldRefs(updates []repo.RefUpdate) map[string]repo.OID {
	m := map[string]repo.OID{}
	for _, u := range updates {
		m[u.Name] = u.Old
	}
	return m
}

func newRefs(updates []repo.RefUpdate) map[string]repo.OID {
	m := map[string]repo.OID{}
	for _, u := range updates {
		m[u.Name] = u.New
	}
	return m
}

// logRefs moves the log to its new entry, and the cursor. The log's old value is filled in when it is known.
func (t *Tx) logRefs(c Cursor, final repo.OID) []repo.RefUpdate {
	refs := []repo.RefUpdate{{Name: t.Log.Ref, New: final}}
	to := c.To
	if c.Self {
		to = final
	}
	if to != t.Log.Cursor {
		refs = append(refs, repo.RefUpdate{Name: t.Log.cursorRef(), Old: t.Log.Cursor, New: to})
	}
	return refs
}

// settle makes the recorded working tree what the next look will find: rules that the operation changed, or an index that
// no longer has a file, decide anew what is ignored.
func (t *Tx) settle(ctx context.Context, op *Op) error {
	s := t.Repo.Objects
	changes := map[string]repo.Blob{}
	if changesRules(t.Files()) {
		if err := t.Flush(ctx); err != nil { // the rules are read from the disk
			return err
		}
		scan, err := t.Repo.Scan(ctx, t.Photo.Scan.Index)
		if err != nil {
			return err
		}
		for _, f := range scan.Files {
			if f.Untracked {
				changes[f.Path] = f.Blob
			}
		}
	}
	diff, err := s.Diff(op.After.Index, op.After.WorkTree)
	if err != nil {
		return err
	}
	announced := map[string]bool{} // in the index, though not in its tree
	for _, f := range op.After.Flags {
		announced[f.Path] = f.IntentToAdd
	}
	rules := t.Repo.IgnoreRules()
	for _, d := range diff {
		if d.Old.Mode == repo.ModeNone && !announced[d.Path] && rules.Ignored(d.Path) {
			changes[d.Path] = repo.Blob{}
		}
	}
	op.After.WorkTree, err = s.Overlay(op.After.WorkTree, changes)
	return err
}

// checkHead makes sure that HEAD is where it was.
func (t *Tx) checkHead(ctx context.Context) error {
	now, err := t.Repo.Head(ctx)
	if err != nil {
		return err
	}
	if now != t.Photo.Head {
		return diag.New(diag.ExternalModification, "HEAD was moved by another process meanwhile").WithHint("nothing was changed; try again")
	}
	return nil
}

// finish does what is left when the refs have moved. It can be repeated.
func finish(ctx context.Context, r *repo.Repo, j *journal, effect func(string) error) error {
	if j.Before.Ref != j.After.Ref || (j.After.Detached() && j.After.OID != j.Before.OID) {
		if err := effect("head"); err != nil {
			return err
		}
		if err := r.SetHead(ctx, j.After, j.Message); err != nil {
			return err
		}
	}
	if err := discard(r, j.Discard); err != nil {
		return err
	}
	if err := effect("forget journal"); err != nil {
		return err
	}
	if err := r.ForgetIndex(); err != nil {
		return err
	}
	if err := r.LetIndexGo(); err != nil {
		return err
	}
	return removeJournal(r)
}
