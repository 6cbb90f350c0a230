package txn

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/repo"
)

// Recovery says what recovering did.
type Recovery struct {
	Command  string `json:"command"`           // of the operation that was interrupted
	Finished bool   `json:"finished"`          // it was finished; otherwise it was taken back
	Running  string `json:"running,omitempty"` // the command of a reply that was running: what it changed is left as it is
}

// Pending reports the operation that was interrupted and not recovered yet, without changing anything; "" if there is
// none or it is still running.
func Pending(r *repo.Repo) (string, error) {
	j, err := readJournal(r)
	if err != nil || j == nil {
		return "", err
	}
	f, err := os.Open(filepath.Join(r.Private, "lock"))
	if err == nil {
		defer f.Close()
		if errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK) {
			return "", nil
		}
	}
	return j.Command, nil
}

// Recover finishes or takes back an operation that was interrupted; nil if there was none.
func Recover(ctx context.Context, r *repo.Repo, lockFile string, patience time.Duration) (*Recovery, error) {
	if lockFile == "" {
		lockFile = filepath.Join(r.Private, "lock")
	}
	held, _, err := lock(ctx, lockFile, patience)
	if err != nil {
		return nil, err
	}
	defer held.Close()
	r.Inherit = []*os.File{held}
	root, err := openRoot(r.Top, nil)
	if err != nil {
		return nil, cannotWrite(err)
	}
	defer root.close()
	return recoverLocked(ctx, r, root)
}

func recoverLocked(ctx context.Context, r *repo.Repo, root *root) (*Recovery, error) {
	j, err := readJournal(r)
	if err != nil || j == nil {
		return nil, err
	}
	happened, err := refsMoved(r, j)
	if err != nil {
		return nil, err
	}
	if err := removeDeadLocks(r, j); err != nil {
		return nil, err
	}
	rec := &Recovery{Command: j.Command, Finished: happened, Running: j.Running}
	if happened {
		if err := moveRest(r, j); err != nil {
			return nil, err
		}
		return rec, finish(ctx, r, j, func(string) error { return nil })
	}
	if err := r.LetIndexGo(); err != nil {
		return nil, err
	}
	return rec, rollback(ctx, r, root, j, func(blob string) ([]byte, error) { return r.Objects.Blob(repo.OID(blob)) })
}

// refsMoved asks the log ref whether the transaction of an operation took place. It stands first in the transaction,
// and git makes the changes of a transaction in order once all are locked.
func refsMoved(r *repo.Repo, j *journal) (bool, error) {
	if j.Final == "" {
		return false, nil
	}
	now, err := r.Ref(j.Log)
	return now == j.Final, err
}

// removeDeadLocks removes the lock files that the operation's git left when it was killed.
func removeDeadLocks(r *repo.Repo, j *journal) error {
	expected := map[string][]string{
		"HEAD": {"ref: " + j.After.Ref + "\n", "ref: " + j.Before.Ref + "\n", string(j.After.OID) + "\n"},
		j.Log:  {string(j.Pending) + "\n", string(j.Begin) + "\n"},
	}
	for _, name := range j.Checked {
		expected[name] = append(expected[name], "")
	}
	deletes := false
	for _, u := range j.Refs {
		expected[u.Name] = append(expected[u.Name], string(u.New)+"\n", string(u.Old)+"\n")
		deletes = deletes || u.New == ""
	}
	for name, contents := range expected {
		if _, err := repo.RemoveDeadLock(r.RefLock(name), contents...); err != nil {
			return err
		}
	}
	if deletes {
		return removeDeadPackedLock(r)
	}
	return nil
}

// removeDeadPackedLock removes packed-refs.lock if no process is writing it: deleting a ref rewrites that file.
func removeDeadPackedLock(r *repo.Repo) error {
	for _, name := range []string{"packed-refs.lock", "packed-refs.new"} {
		file := filepath.Join(r.Common, name)
		content, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if _, err := repo.RemoveDeadLock(file, string(content)); err != nil {
			return err
		}
	}
	return nil
}

// moveRest moves the refs that a killed transaction had not reached.
func moveRest(r *repo.Repo, j *journal) error {
	for _, u := range j.Refs {
		now, err := r.Ref(u.Name)
		if err != nil {
			return err
		}
		if now == u.New {
			continue
		}
		if now != u.Old {
			return diag.New(diag.ExternalModification, "%s was moved by another process after %s was interrupted", u.Name, j.Command).
				WithHint("it was expected at %s; move it there with git update-ref, then run git clada recover", u.Old)
		}
		if err := r.UpdateRefs([]repo.RefUpdate{u}, j.Message); err != nil {
			return err
		}
	}
	return nil
}

// rollback takes back what an operation did before its refs moved: files, index, the snapshot on the log ref. It can be
// repeated. A file that is neither what it was nor what we made of it is somebody else's and is left alone.
func rollback(ctx context.Context, r *repo.Repo, root *root, j *journal, content func(string) ([]byte, error)) error {
	tmp := tempName(j)
	var foreign []string
	back := make([]FileChange, len(j.Files))
	ours := map[string][]FileState{} // a path may have changed at several barriers
	for i, c := range j.Files {
		back[i] = c.Reversed()
		ours[c.Path] = append(ours[c.Path], c.Before, c.After)
	}
	for _, c := range orderBatches(j.Files, back) {
		if err := removeTemp(root, c.Path, tmp); err != nil {
			return cannotWrite(err)
		}
		now, err := root.state(c.Path)
		if err != nil {
			return cannotWrite(err)
		}
		switch {
		case now.same(c.After):
		case now.absent(), slices.ContainsFunc(ours[c.Path], now.same):
			err := root.put(FileChange{c.Path, now, c.After}, tmp, content)
			if errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, fs.ErrNotExist) { // something is in it, or in the place of its directory
				foreign = append(foreign, c.Path)
				err = nil
			}
			if err != nil {
				return cannotWrite(err)
			}
		default:
			foreign = append(foreign, c.Path)
		}
	}
	if err := r.RestoreIndex(); err != nil {
		return err
	}
	now, err := r.Ref(j.Log)
	if err != nil {
		return err
	}
	if now == j.Pending {
		if err := r.UpdateRefs([]repo.RefUpdate{{Name: j.Log, Old: j.Pending, New: j.Begin}}, j.Message+" (taken back)"); err != nil {
			return err
		}
	}
	if err := r.ForgetIndex(); err != nil {
		return err
	}
	if err := removeJournal(r); err != nil {
		return err
	}
	if len(foreign) > 0 {
		return diag.New(diag.ExternalModification, "everything was put back, except what another program has changed since: %s", some(foreign))
	}
	return nil
}

// orderBatches orders the changes that take files back. Where a path was changed at several barriers, the last change
// is taken back first; within one batch the order of order applies.
func orderBatches(files, back []FileChange) []FileChange {
	seen := map[string]bool{}
	for _, c := range files {
		if seen[c.Path] {
			return squash(files)
		}
		seen[c.Path] = true
	}
	return order(back)
}

// squash joins several changes of a path into one and turns all of them round.
func squash(files []FileChange) []FileChange {
	first := map[string]int{}
	var joined []FileChange
	for _, c := range files {
		if i, ok := first[c.Path]; ok {
			joined[i].After = c.After
			continue
		}
		first[c.Path] = len(joined)
		joined = append(joined, c)
	}
	for i := range joined {
		joined[i] = joined[i].Reversed()
	}
	return order(joined)
}

func removeTemp(root *root, p, tmp string) error {
	err := root.at(path.Join(path.Dir(p), tmp), func(dir int, base string) error {
		return pathError("remove", base, unix.Unlinkat(dir, base, 0))
	})
	if errors.Is(err, fs.ErrNotExist) || strings.Contains(p, "\x00") {
		return nil
	}
	return err
}
