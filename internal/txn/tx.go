package txn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/notes"
	"github.com/git-clada/git-clada/internal/repo"
)

// Options say how an operation runs.
type Options struct {
	Kind        string // apply, undo, redo, accept, discard
	Command     string // for messages and the log: "git clada apply"
	Now         time.Time
	LockFile    string // "" is the usual place
	LockTimeout time.Duration
	Fault       Fault
}

// Tx is an operation under way. It ends with Commit or Abort, and Close after either.
type Tx struct {
	Repo  *repo.Repo
	Photo *Photo // the state before
	Log   *Log
	Who   string // NAME <EMAIL> of the user

	o        Options
	root     *root
	lock     *os.File
	journal  *journal
	staged   []FileChange // not yet written
	written  []FileChange
	keep     []repo.OID
	contents map[string][]byte // blobs that were stored during this operation
}

// Begin takes the lock, puts right what an earlier process left, checks that the repository is in a state to work on,
// and photographs it. Nothing the user could see has changed when it returns.
func Begin(ctx context.Context, r *repo.Repo, o Options) (tx *Tx, err error) {
	t := &Tx{Repo: r, o: o, contents: map[string][]byte{}}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	if err := t.start(ctx); err != nil {
		return nil, err
	}
	who := make(chan error, 1)
	go func() {
		t.Who = r.Identity(ctx)
		who <- r.StartRefs(o.Command)
	}()
	t.Photo, err = Photograph(ctx, r)
	if startErr := <-who; err == nil {
		err = startErr
	}
	if err != nil {
		return nil, err
	}
	t.Log, err = openLog(r, true)
	return t, err
}

// start takes the lock and leaves the repository ready.
func (t *Tx) start(ctx context.Context) error {
	file := t.o.LockFile
	if file == "" {
		file = filepath.Join(t.Repo.Private, "lock")
	}
	var moved time.Time
	var err error
	if t.lock, moved, err = lock(ctx, file, t.o.LockTimeout); err != nil {
		return err
	}
	t.Repo.Refresh(moved)
	t.Repo.Inherit = []*os.File{t.lock}
	if t.root, err = openRoot(t.Repo.Top, t.o.Fault); err != nil {
		return cannotWrite(err)
	}
	if rec, err := recoverLocked(ctx, t.Repo, t.root); err != nil {
		return err
	} else if rec != nil {
		t.Repo.Refresh(time.Now())
	}
	return Ready(t.Repo)
}

// Close gives everything back. A Tx that was neither committed nor aborted is aborted.
func (t *Tx) Close() {
	if t.journal != nil {
		t.Abort(context.Background())
	}
	t.Repo.Close()
	t.Repo.Inherit = nil
	if t.root != nil {
		t.root.close()
		t.root = nil
	}
	if t.lock != nil {
		stamp(t.lock)
		t.lock.Close()
		t.lock = nil
	}
}

// Tree gives the working tree for a plan to read.
func (t *Tx) Tree() *Tree {
	return &Tree{root: t.root, gitlinks: t.Photo.Scan.Gitlinks, excluded: excluded(t.Photo.Scan.Index)}
}

// excluded gives a test for paths that a sparse checkout leaves out, nil if it leaves out none.
func excluded(x *repo.Index) func(string) bool {
	for i := range x.Entries {
		if x.Entries[i].SkipWorktree() {
			return func(p string) bool {
				e := x.Find(p)
				return e != nil && e.SkipWorktree()
			}
		}
	}
	return nil
}

// blob stores content by its very bytes.
func (t *Tx) blob(data []byte) (string, error) {
	oid, err := t.Repo.Objects.WriteBlob(data)
	if err != nil {
		return "", err
	}
	t.contents[string(oid)] = data
	return string(oid), nil
}

func (t *Tx) content(blob string) ([]byte, error) {
	if data, ok := t.contents[blob]; ok {
		return data, nil
	}
	return t.Repo.Objects.Blob(repo.OID(blob))
}

// StageFiles takes note of file changes, which are written at the next Flush or by Commit. Their blobs must be stored.
func (t *Tx) StageFiles(changes []FileChange) { t.staged = append(t.staged, changes...) }

// Files gives all file changes so far.
func (t *Tx) Files() []FileChange {
	return append(append([]FileChange(nil), t.written...), t.staged...)
}

// Flush is a barrier: everything staged so far is on the disk when it returns. Before the first byte changes, the
// snapshot is on the log ref and the journal on the disk.
func (t *Tx) Flush(ctx context.Context) error {
	if t.journal == nil {
		op := &Op{Kind: t.o.Kind, Command: t.o.Command, Time: t.o.Now, Before: t.Photo.State, Prev: t.Log.Tip, Cursor: t.Log.Cursor}
		if err := t.open(ctx, op, &journal{}); err != nil {
			return err
		}
	} else {
		t.journal.Files = append(t.journal.Files, order(t.staged)...)
		if err := t.protect(); err != nil {
			return err
		}
	}
	return t.writeStaged()
}

// protect brings objects and journal to the disk.
func (t *Tx) protect() error {
	if err := t.Repo.Objects.Sync(); err != nil {
		return err
	}
	return writeJournal(t.Repo, t.journal, t.o.Fault)
}

// open writes the journal and puts the snapshot on the log ref.
func (t *Tx) open(ctx context.Context, op *Op, j *journal) error {
	pending, err := t.pending(op, j.Final)
	if err != nil {
		return err
	}
	j.ID = opFileID(t.o.Now)
	j.Command, j.Message = t.o.Command, t.o.Command
	j.Files = order(t.staged)
	j.Log, j.Begin, j.Pending = t.Log.Ref, t.Log.Tip, pending
	j.Before = t.Photo.Head
	if j.After == (repo.Head{}) {
		j.After = t.Photo.Head
	}
	t.journal = j
	if err := t.protect(); err != nil {
		t.journal = nil
		return err
	}
	return t.updateRefs([]repo.RefUpdate{{Name: t.Log.Ref, Old: t.Log.Tip, New: pending}})
}

// pending writes the snapshot that stands on the log ref while the operation is under way. Where the final entry is known
// already, the snapshot has its tree.
func (t *Tx) pending(op *Op, final repo.OID) (repo.OID, error) {
	subject := t.o.Command + " (under way)"
	if final == "" {
		return writeOp(t.Repo, op, t.parents(op), t.keepers(), t.Who, subject)
	}
	_, c, err := t.Repo.Objects.Commit(string(final))
	if err != nil {
		return "", err
	}
	c.Message = subject + "\n"
	return t.Repo.Objects.WriteCommit(c)
}

// opFileID names the temporary files of an operation.
func opFileID(now time.Time) string { return fmt.Sprintf("%x-%x", now.UnixNano(), os.Getpid()) }

func tempName(j *journal) string { return ".clada-tmp-" + j.ID }

func (t *Tx) updateRefs(updates []repo.RefUpdate) error {
	if t.o.Fault != nil {
		if err := t.o.Fault("refs"); err != nil {
			return err
		}
	}
	return t.Repo.UpdateRefs(updates, t.o.Command)
}

func (t *Tx) parents(op *Op) []repo.OID {
	return []repo.OID{op.Prev, op.Before.Head.OID, op.After.Head.OID, op.Pre, op.Post}
}

// keepers are the blobs of file states: what a filter or an ignore rule keeps out of the trees.
func (t *Tx) keepers() []repo.OID {
	keep := append([]repo.OID(nil), t.keep...)
	for _, c := range t.Files() {
		keep = append(keep, repo.OID(c.Before.Blob), repo.OID(c.After.Blob))
	}
	return keep
}

// writeStaged makes the staged changes. Each file must be what it was when it was looked at.
func (t *Tx) writeStaged() error {
	tmp := tempName(t.journal)
	for _, c := range order(t.staged) {
		now, err := t.root.state(c.Path)
		if err != nil {
			return cannotWrite(err)
		}
		if !now.same(c.Before) {
			return changedMeanwhile(c.Path)
		}
		t.written = append(t.written, c)
		if err := t.root.put(c, tmp, t.content); err != nil {
			return cannotWrite(err)
		}
	}
	t.staged = nil
	return nil
}

func changedMeanwhile(p string) error {
	return diag.New(diag.ExternalModification, "%s was changed by another program meanwhile", p).In(p).
		WithHint("nothing was changed; look at the file and try again")
}

// Transition is the outcome of an operation: what its log entry says, and where refs and index go.
type Transition struct {
	Op     Op // without times, states before, files and log positions: those are the transaction's own
	Refs   []repo.RefUpdate
	Index  repo.IndexEdit
	Cursor Cursor
	Notes  []Note
	Input  []byte // the reply, for the input notes
	Rescan bool   // the rules of what is tracked may have changed: look at the working tree again
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
	op.Before.Refs = oldRefs(tr.Refs)
	op.After.Refs = newRefs(tr.Refs)
	op.LeftOut = t.Photo.LeftOut
	if tr.Rescan {
		if err := t.Flush(ctx); err != nil {
			return nil, err
		}
		if err := t.rescan(ctx, op); err != nil {
			return nil, err
		}
	}
	op.Files = t.Files()
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
	j.Refs = append(refs, noteRefs...)
	checked := checks(tr)
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
func checks(tr *Transition) []repo.RefUpdate {
	head := tr.Op.Before.Head
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

// rescan looks at the working tree again where the operation may have changed what is ignored.
func (t *Tx) rescan(ctx context.Context, op *Op) error {
	s, err := t.Repo.Scan(ctx, t.Photo.Scan.Index)
	if err != nil {
		return err
	}
	op.After.WorkTree, err = t.Repo.Objects.Overlay(t.Photo.Index, s.Changes())
	return err
}

// moveIndex makes the index what the transition says.
func (t *Tx) moveIndex(ctx context.Context, tr *Transition) error {
	if tr.Index.Empty() {
		now, err := repo.SignIndex(t.Repo.IndexFile)
		if err == nil && now != t.Photo.Scan.Index.Sign {
			err = repo.ErrIndexMoved
		}
		return err
	}
	if err := t.effect("index"); err != nil {
		return err
	}
	if err := t.Repo.PrepareIndex(ctx, t.Photo.Scan, tr.Index); err != nil {
		return err
	}
	if err := t.checkIndex(tr); err != nil {
		return err
	}
	if err := t.effect("publish index"); err != nil {
		return err
	}
	return t.Repo.PublishIndex(t.Photo.Scan.Index.Sign)
}

// checkIndex makes sure that git found in the working tree what the plan wrote there: the files still hold it. Where a
// filter stands in between, the prepared index itself is read.
func (t *Tx) checkIndex(tr *Transition) error {
	converted := map[string]repo.Blob{}
	for p, want := range tr.Index.Refresh {
		if t.Photo.Scan.Converts(p) {
			converted[p] = want
			continue
		}
		now, err := t.root.state(p)
		if err != nil {
			return cannotWrite(err)
		}
		if !now.holds(want) {
			return changedMeanwhile(p)
		}
	}
	if len(converted) == 0 {
		return nil
	}
	return t.checkPrepared(converted)
}

// holds reports whether a state is what a tree has at a path.
func (s FileState) holds(b repo.Blob) bool {
	switch b.Mode {
	case repo.ModeNone:
		return s.kind() != typeFile && s.kind() != typeLink
	case repo.ModeLink:
		return s.Blob == string(b.OID)
	}
	return s.kind() == typeFile && s.Blob == string(b.OID)
}

// checkPrepared compares entries of the prepared index with what they must be.
func (t *Tx) checkPrepared(want map[string]repo.Blob) error {
	x, err := t.Repo.PreparedIndex()
	if err != nil || x == nil {
		return err
	}
	for p, blob := range want {
		var have repo.Blob
		if e := x.Find(p); e != nil && !e.IntentToAdd() {
			have = repo.Blob{Mode: e.Mode, OID: x.OID(e)}
		}
		if have != blob {
			return changedMeanwhile(p)
		}
	}
	return nil
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
	if err := effect("forget journal"); err != nil {
		return err
	}
	if err := r.ForgetIndex(); err != nil {
		return err
	}
	return removeJournal(r)
}

// Abort puts everything back.
func (t *Tx) Abort(ctx context.Context) error {
	j := t.journal
	if j == nil {
		return nil
	}
	t.journal = nil
	t.root.fault = nil // what puts things back is not made to fail twice
	err := rollback(ctx, t.Repo, t.root, j, t.content)
	if err != nil {
		return diag.Wrap(err, diag.Interrupted, "putting everything back failed: %v", err).
			WithHint("mend the cause, then run git clada recover")
	}
	return nil
}
