package txn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/repo"
)

// lock takes the lock of a working tree, waiting up to patience for another process of ours. The lock is a kernel lock
// on an open file: it cannot be stale. Git processes that we start inherit the file, so the lock holds until they have
// ended, whatever happens to us.
//
// moved is when an earlier owner may have changed something last.
func lock(ctx context.Context, file string, patience time.Duration) (held *os.File, moved time.Time, err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return nil, moved, cannotWrite(err)
	}
	fd, err := unix.Open(file, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o666)
	if err != nil {
		return nil, moved, cannotWrite(&os.PathError{Op: "open", Path: file, Err: err})
	}
	f := os.NewFile(uintptr(fd), file)
	deadline := time.Now().Add(patience)
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			if info, err := f.Stat(); err == nil {
				moved = info.ModTime()
			}
			stamp(f)
			return f, moved, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			f.Close()
			return nil, moved, diag.Wrap(err, diag.GitOperationFailed, "locking %s: %v", file, err)
		}
		if time.Now().After(deadline) {
			f.Close()
			return nil, moved, diag.New(diag.LockTimeout, "another git clada works in this working tree%s", owner(file)).
				WithHint("wait for it, or give it more time with --lock-timeout")
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, moved, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// stamp writes who has the lock, and by the file's time, since when or until when.
func stamp(f *os.File) {
	f.Truncate(0)
	f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
}

func owner(file string) string {
	content, err := os.ReadFile(file)
	if err != nil || len(content) == 0 {
		return ""
	}
	return " (process " + strings.TrimSpace(string(content)) + ")"
}

// cannotWrite gives an error of the file system its code.
func cannotWrite(err error) error {
	var e *diag.Error
	if errors.As(err, &e) {
		return err
	}
	switch {
	case errors.Is(err, unix.EROFS):
		return diag.Wrap(err, diag.PermissionDenied, "the file system is read-only: %v", err)
	case errors.Is(err, os.ErrPermission):
		return diag.Wrap(err, diag.PermissionDenied, "the system denies access: %v", err)
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return diag.Wrap(err, diag.GitOperationFailed, "the disk is full: %v", err).WithHint("free some space and try again; nothing was lost")
	}
	return diag.Wrap(err, diag.GitOperationFailed, "%v", err)
}

// Hold takes the lock of a repository's working tree for something that is no operation, and gives what releases it.
func Hold(ctx context.Context, r *repo.Repo, patience time.Duration) (release func(), err error) {
	held, _, err := lock(ctx, filepath.Join(r.Private, "lock"), patience)
	if err != nil {
		return nil, err
	}
	return func() { held.Close() }, nil
}
