package repo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-clada/git-clada/internal/diag"
)

// The index is written as follows. Where its form is plain, the edited index is written to index.new (indexown.go).
// Otherwise a hard link, index.new, is given to git as the index to update; git replaces the link by a new file and never
// touches the original. The new file is then linked as index.lock, which takes git's
// own lock and proves, by being the same file as index.new, that the lock is ours. Under the lock the index is checked
// to be still the one that was read, and the lock is renamed over it.

const (
	newIndex = "index.new"
	oldIndex = "index.old"

	keptIndex = "index.kept"
)

// IndexEdit is how entries of the index change.
type IndexEdit struct {
	Refresh map[string]Blob // entries that git takes from the working tree, with what it must find there
	Set     map[string]Blob // entries that become something else than the file; the zero Blob removes
	Flags   []IndexFlag     // flags of entries that were set
}

// Empty reports whether the edit changes nothing.
func (e IndexEdit) Empty() bool { return len(e.Refresh)+len(e.Set)+len(e.Flags) == 0 }

// PrepareIndex makes the edited index beside the real one, which must be the one of the scan. The previous index is kept
// for rolling back.
func (r *Repo) PrepareIndex(ctx context.Context, s *Scan, e IndexEdit) error {
	file := filepath.Join(r.Private, newIndex)
	old := filepath.Join(r.Private, oldIndex)
	for _, stale := range []string{file, file + ".lock", old} {
		if err := os.Remove(stale); err != nil && !os.IsNotExist(err) {
			return systemError(err)
		}
	}
	link := func(name string) error {
		if err := os.Link(r.IndexFile, name); err != nil && !os.IsNotExist(err) {
			return systemError(err)
		}
		return nil
	}
	if err := link(old); err != nil {
		return err
	}
	if done, err := r.writeOwn(s, e, file); done || err != nil {
		return err
	}
	if err := link(file); err != nil {
		return err
	}
	env := []string{"GIT_INDEX_FILE=" + file}
	if len(e.Set) > 0 {
		var b strings.Builder
		for path, blob := range e.Set {
			if blob.Mode == ModeNone {
				fmt.Fprintf(&b, "0 %s\t%s\x00", strings.Repeat("0", 40), path)
			} else {
				fmt.Fprintf(&b, "%o %s\t%s\x00", blob.Mode, blob.OID, path)
			}
		}
		if _, err := r.runEnv(ctx, env, []byte(b.String()), "update-index", "-z", "--replace", "--index-info"); err != nil {
			return err
		}
	}
	if len(e.Refresh) > 0 {
		var in strings.Builder
		for _, path := range slices.Sorted(maps.Keys(e.Refresh)) {
			in.WriteString(path + "\x00")
		}
		if _, err := r.runEnv(ctx, env, []byte(in.String()), "update-index", "--add", "--remove", "--replace", "-z", "--stdin"); err != nil {
			return err
		}
	}
	return r.setFlags(ctx, env, e.Flags)
}

// setFlags gives entries their flags back. An intent-to-add entry is made in an empty directory of ours, so that neither
// ignore rules nor the file matter.
func (r *Repo) setFlags(ctx context.Context, env []string, flags []IndexFlag) error {
	for _, f := range flags {
		if f.IntentToAdd {
			if err := r.intendToAdd(ctx, env, f); err != nil {
				return err
			}
		}
		for on, option := range map[bool]string{f.AssumeValid: "--assume-unchanged", f.SkipWorktree: "--skip-worktree"} {
			if !on {
				continue
			}
			if _, err := r.runEnv(ctx, env, nil, "update-index", option, "--", f.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Repo) intendToAdd(ctx context.Context, env []string, f IndexFlag) error {
	dir, err := os.MkdirTemp(r.Private, "intent-")
	if err != nil {
		return systemError(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, filepath.FromSlash(f.Path))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return systemError(err)
	}
	perm := os.FileMode(0o666)
	if f.Mode == ModeExec {
		perm = 0o777
	}
	if err := os.WriteFile(file, nil, perm); err != nil {
		return systemError(err)
	}
	g := *r.git
	g.dir = dir
	_, err = g.runEnv(ctx, append(env, "GIT_WORK_TREE="+dir), nil, "add", "--intent-to-add", "--force", "--", f.Path)
	return err
}

// ErrIndexMoved says that somebody else wrote the index meanwhile.
var ErrIndexMoved = errors.New("the index was changed by another process")

// PublishIndex puts the prepared index in the place of the real one, if that is still the one that was read.
func (r *Repo) PublishIndex(read IndexSign) error {
	lock := r.IndexFile + ".lock"
	if err := lockWith(filepath.Join(r.Private, newIndex), lock); err != nil {
		return err
	}
	now, err := SignIndex(r.IndexFile)
	if err == nil && now != read {
		err = ErrIndexMoved
	}
	if err != nil {
		os.Remove(lock)
		return err
	}
	if err := os.Rename(lock, r.IndexFile); err != nil {
		os.Remove(lock)
		return systemError(err)
	}
	return nil
}

// lockWith takes git's lock by linking file under its name. A lock of git's is usually held for moments.
func lockWith(file, lock string) error {
	const patience = 20
	for try := 0; ; try++ {
		err := os.Link(file, lock)
		if err == nil {
			return nil
		}
		if !os.IsExist(err) {
			return systemError(err)
		}
		if try == patience {
			return heldLock(lock)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func heldLock(lock string) error {
	return diag.New(diag.GitOperationFailed, "another git process holds %s", lock).
		WithHint("wait for it to end; if no git command runs in this repository, remove the file")
}

// CheckIndexLock refuses to start while git's lock is held.
func (r *Repo) CheckIndexLock() error {
	for try := 0; ; try++ {
		_, err := os.Lstat(r.IndexFile + ".lock")
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return systemError(err)
		}
		if try == 10 {
			return heldLock(r.IndexFile + ".lock")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// RestoreIndex puts back the index from before PrepareIndex, if PublishIndex has replaced it, and removes a lock that a
// dead PublishIndex left. It may be called again after being interrupted.
func (r *Repo) RestoreIndex() error {
	prepared := filepath.Join(r.Private, newIndex)
	lock := r.IndexFile + ".lock"
	if sameFile(prepared, lock) {
		if err := os.Remove(lock); err != nil {
			return systemError(err)
		}
	}
	if !sameFile(prepared, r.IndexFile) {
		return nil // not published
	}
	old := filepath.Join(r.Private, oldIndex)
	if _, err := os.Lstat(old); os.IsNotExist(err) {
		return removeFile(r.IndexFile) // there was none
	}
	tmp := old + ".back"
	os.Remove(tmp)
	if err := os.Link(old, tmp); err != nil {
		return systemError(err)
	}
	if err := os.Rename(tmp, r.IndexFile); err != nil {
		return systemError(err)
	}
	return nil
}

// KeepIndex keeps the index as it is under another name, until LetIndexGo.
func (r *Repo) KeepIndex() error {
	if err := r.LetIndexGo(); err != nil {
		return err
	}
	if err := os.Link(r.IndexFile, filepath.Join(r.Private, keptIndex)); err != nil && !os.IsNotExist(err) {
		return systemError(err)
	}
	return nil
}

// ReturnIndex puts back the index that was kept, if the present one is still the one that is given.
func (r *Repo) ReturnIndex(now IndexSign) error {
	file := filepath.Join(r.Private, keptIndex)
	if sign, err := SignIndex(r.IndexFile); err != nil || sign != now {
		return err
	}
	if err := os.Rename(file, r.IndexFile); err != nil && !os.IsNotExist(err) {
		return systemError(err)
	}
	return nil
}

// LetIndexGo forgets the index that was kept.
func (r *Repo) LetIndexGo() error { return removeFile(filepath.Join(r.Private, keptIndex)) }

// ForgetIndex removes what PrepareIndex made.
func (r *Repo) ForgetIndex() error {
	prepared := filepath.Join(r.Private, newIndex)
	lock := r.IndexFile + ".lock"
	if sameFile(prepared, lock) {
		if err := removeFile(lock); err != nil {
			return err
		}
	}
	for _, name := range []string{prepared, prepared + ".lock", filepath.Join(r.Private, oldIndex), filepath.Join(r.Private, oldIndex+".back")} {
		if err := removeFile(name); err != nil {
			return err
		}
	}
	stale, _ := filepath.Glob(filepath.Join(r.Private, "intent-*"))
	for _, dir := range stale {
		os.RemoveAll(dir)
	}
	return nil
}

func removeFile(name string) error {
	if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
		return systemError(err)
	}
	return nil
}

func sameFile(a, b string) bool {
	ia, err := os.Lstat(a)
	if err != nil {
		return false
	}
	ib, err := os.Lstat(b)
	return err == nil && os.SameFile(ia, ib)
}

// PreparedIndex reads the index that PrepareIndex made, nil if its form is beyond us.
func (r *Repo) PreparedIndex() (*Index, error) {
	x, err := readIndexFile(filepath.Join(r.Private, newIndex))
	if errors.Is(err, errForeign) {
		return nil, nil
	}
	return x, err
}
