package txn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
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

	o         Options
	root      *root
	lock      *os.File
	journal   *journal
	staged    []FileChange // not yet written
	written   []FileChange
	before    *State // the state before, where Photo is a later one; else nil
	keep      []repo.OID
	discards  []string             // ignored paths that go for good
	keptIndex bool                 // the index from before the first command is kept
	followed  map[string]repo.Blob // what commands left in the index, for files that are ignored
	contents  map[string][]byte    // blobs that were stored during this operation
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
	if t.keptIndex {
		t.Repo.LetIndexGo()
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
	if err := t.writeStaged(); err != nil {
		return err
	}
	discards := t.discards
	t.discards = nil
	return discard(t.Repo, discards)
}

// Discard takes note of paths that git ignores and that go for good, with everything in them: at the next barrier, or when
// all else is done.
func (t *Tx) Discard(paths []batch.Path) {
	for _, p := range paths {
		t.discards = append(t.discards, string(p))
	}
}

// discard removes paths of the working tree with everything in them, without following any link out of it. It can be
// repeated.
func discard(r *repo.Repo, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	root, err := os.OpenRoot(r.Top)
	if err != nil {
		return cannotWrite(err)
	}
	defer root.Close()
	for _, p := range paths {
		if err := root.RemoveAll(p); err != nil {
			return cannotWrite(err)
		}
	}
	return nil
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

// Abort puts everything back.
func (t *Tx) Abort(ctx context.Context) error {
	j := t.journal
	if j == nil {
		return nil
	}
	t.journal = nil
	t.root.fault = nil // what puts things back is not made to fail twice
	err := rollback(ctx, t.Repo, t.root, j, t.content)
	if t.keptIndex {
		err = errors.Join(err, t.Repo.ReturnIndex(t.Photo.Scan.Index.Sign))
	}
	if diag.CodeOf(err) == diag.ExternalModification {
		return err // what others have changed stays; there is nothing left to recover
	}
	if err != nil {
		return diag.Wrap(err, diag.Interrupted, "putting everything back failed: %v", err).
			WithHint("mend the cause, then run git clada recover")
	}
	return nil
}
