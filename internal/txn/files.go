package txn

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// root is a directory handle that files are reached through, component by component, without ever following a symbolic
// link. A directory that is swapped for a link between a check and its use is therefore an error, not an escape.
type root struct {
	fd    int
	fault Fault
}

// Fault is asked before each effect on the disk or on refs. An error makes the effect fail; tests use it.
type Fault func(effect string) error

func openRoot(dir string, fault Fault) (*root, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, pathError("open", dir, err)
	}
	return &root{fd: fd, fault: fault}, nil
}

func (r *root) close() { unix.Close(r.fd) }

func (r *root) effect(what string) error {
	if r.fault == nil {
		return nil
	}
	return r.fault(what)
}

func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// dir opens the directory of the tree named p.
func (r *root) dir(p string) (int, error) {
	fd, err := unix.Openat(r.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil || p == "." || p == "" {
		return fd, pathError("open", p, err)
	}
	for part := range strings.SplitSeq(p, "/") {
		next, err := unix.Openat(fd, part, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		unix.Close(fd)
		if err != nil {
			return -1, pathError("open", p, notThrough(err))
		}
		fd = next
	}
	return fd, nil
}

// notThrough gives the errors of a component that is a link or a file the meaning "does not exist as such".
func notThrough(err error) error {
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
		return unix.ENOENT
	}
	return err
}

// at opens the directory of p and calls do with it and the last component.
func (r *root) at(p string, do func(dir int, base string) error) error {
	dir, err := r.dir(path.Dir(p))
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	return do(dir, path.Base(p))
}

func (r *root) lstat(p string) (unix.Stat_t, error) {
	var st unix.Stat_t
	err := r.at(p, func(dir int, base string) error {
		return pathError("lstat", p, unix.Fstatat(dir, base, &st, unix.AT_SYMLINK_NOFOLLOW))
	})
	return st, err
}

// read gives the content of a regular file or the target of a link. It never waits on a FIFO.
func (r *root) read(p string) (data []byte, err error) {
	err = r.at(p, func(dir int, base string) error {
		fd, err := unix.Openat(dir, base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ELOOP) {
			data, err = readLink(dir, base)
			return pathError("readlink", p, err)
		}
		if err != nil {
			return pathError("open", p, err)
		}
		f := os.NewFile(uintptr(fd), p)
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return pathError("read", p, unix.EINVAL)
		}
		data = make([]byte, info.Size(), info.Size()+512)
		n, err := io.ReadFull(f, data)
		if err == io.ErrUnexpectedEOF || err == io.EOF {
			data, err = data[:n], nil
		}
		return err
	})
	return data, err
}

func readLink(dir int, base string) ([]byte, error) {
	buf := make([]byte, 4096)
	n, err := unix.Readlinkat(dir, base, buf)
	return buf[:max(n, 0)], err
}

// FileState is what stands at a path: its type and permissions as in st_mode, 0 for nothing, and the blob that holds
// its very bytes (not what a filter makes of them).
type FileState struct {
	Mode uint32 `json:"mode,omitempty"`
	Blob string `json:"blob,omitempty"`
}

const (
	typeMask = unix.S_IFMT
	typeFile = unix.S_IFREG
	typeDir  = unix.S_IFDIR
	typeLink = unix.S_IFLNK
)

func (s FileState) kind() uint32 { return s.Mode & typeMask }
func (s FileState) absent() bool { return s.Mode == 0 }

// FileChange is what becomes of one path of the working tree.
type FileChange struct {
	Path   string    `json:"path"`
	Before FileState `json:"before"`
	After  FileState `json:"after"`
}

// Reversed gives the change that takes c back.
func (c FileChange) Reversed() FileChange { return FileChange{c.Path, c.After, c.Before} }

// state looks at what stands at a path.
func (r *root) state(p string) (FileState, error) {
	st, err := r.lstat(p)
	if errors.Is(err, fs.ErrNotExist) {
		return FileState{}, nil
	}
	if err != nil {
		return FileState{}, err
	}
	s := FileState{Mode: uint32(st.Mode)}
	if s.kind() != typeFile && s.kind() != typeLink {
		return s, nil
	}
	data, err := r.read(p)
	if err != nil {
		return FileState{}, err
	}
	s.Blob = blobName(data)
	return s, nil
}

// blobName is the name that git gives content.
func blobName(data []byte) string {
	h := sha1.New()
	io.WriteString(h, "blob "+strconv.Itoa(len(data))+"\x00")
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// same compares states: a directory is a directory, and links have no permissions.
func (s FileState) same(t FileState) bool {
	if s.kind() != t.kind() {
		return false
	}
	switch s.kind() {
	case typeFile:
		return s == t
	case typeLink:
		return s.Blob == t.Blob
	}
	return true
}

// put brings a path from one state to another. A file is written beside its place and renamed into it, so it is old or
// new and never half. tmp is the name to write under; content gives the bytes of a blob.
func (r *root) put(c FileChange, tmp string, content func(blob string) ([]byte, error)) error {
	if c.After.kind() == typeDir {
		return r.putDir(c)
	}
	if c.After.absent() {
		return r.remove(c)
	}
	data, err := content(c.After.Blob)
	if err != nil {
		return err
	}
	if c.Before.kind() == typeDir {
		if err := r.remove(FileChange{Path: c.Path, Before: c.Before}); err != nil {
			return err
		}
	}
	if err := r.makeParents(c.Path); err != nil {
		return err
	}
	return r.at(c.Path, func(dir int, base string) error {
		if err := r.effect("write " + c.Path); err != nil {
			return err
		}
		unix.Unlinkat(dir, tmp, 0)
		if err := writeNew(dir, tmp, c.After, data); err != nil {
			unix.Unlinkat(dir, tmp, 0)
			return pathError("write", c.Path, err)
		}
		if err := r.effect("rename " + c.Path); err != nil {
			unix.Unlinkat(dir, tmp, 0)
			return err
		}
		if err := unix.Renameat(dir, tmp, dir, base); err != nil {
			unix.Unlinkat(dir, tmp, 0)
			return pathError("rename", c.Path, err)
		}
		return nil
	})
}

// makeParents makes the directories above p that are missing. They are recorded with the change, but for those that git
// ignored when they came or went.
func (r *root) makeParents(p string) error {
	for i, c := range p {
		if c != '/' {
			continue
		}
		err := r.at(p[:i], func(dir int, base string) error { return unix.Mkdirat(dir, base, 0o777) })
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return pathError("mkdir", p[:i], err)
		}
	}
	return nil
}

func writeNew(dir int, name string, s FileState, data []byte) error {
	if s.kind() == typeLink {
		return unix.Symlinkat(string(data), dir, name)
	}
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), name)
	_, err = f.Write(data)
	if err == nil {
		err = unix.Fchmod(fd, s.Mode&0o7777)
	}
	if err == nil {
		err = unix.Fsync(fd)
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

func (r *root) putDir(c FileChange) error {
	if !c.Before.absent() && c.Before.kind() != typeDir {
		if err := r.remove(FileChange{Path: c.Path, Before: c.Before}); err != nil {
			return err
		}
	}
	return r.at(c.Path, func(dir int, base string) error {
		if err := r.effect("mkdir " + c.Path); err != nil {
			return err
		}
		err := unix.Mkdirat(dir, base, 0o777)
		if errors.Is(err, unix.EEXIST) {
			return nil
		}
		if err == nil {
			err = unix.Fchmodat(dir, base, c.After.Mode&0o7777, 0)
		}
		return pathError("mkdir", c.Path, err)
	})
}

func (r *root) remove(c FileChange) error {
	err := r.at(c.Path, func(dir int, base string) error {
		if err := r.effect("remove " + c.Path); err != nil {
			return err
		}
		flags := 0
		if c.Before.kind() == typeDir {
			flags = unix.AT_REMOVEDIR
		}
		return pathError("remove", c.Path, unix.Unlinkat(dir, base, flags))
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// order sorts changes so that each can be made when its turn comes: first what goes, from the deepest, then what
// comes, from the top.
func order(changes []FileChange) []FileChange {
	sorted := append([]FileChange(nil), changes...)
	rank := func(c FileChange) int {
		switch {
		case c.After.absent() && c.Before.kind() != typeDir:
			return 0
		case c.After.absent(), c.Before.kind() == typeDir && c.After.kind() != typeDir:
			return 1
		case c.After.kind() == typeDir:
			return 2
		}
		return 3
	}
	sort.SliceStable(sorted, func(i, j int) bool {
		a, b := sorted[i], sorted[j]
		ra, rb := rank(a), rank(b)
		if ra != rb {
			return ra < rb
		}
		if ra < 2 {
			return a.Path > b.Path
		}
		return a.Path < b.Path
	})
	return sorted
}

// Tree is the working tree as a plan reads it. It implements apply.Tree.
type Tree struct {
	root     *root
	gitlinks map[string]bool
	excluded func(string) bool // paths that a sparse checkout leaves out
}

func (t *Tree) check(p batch.Path) error {
	if t.gitlinks[string(p)] || t.excluded == nil || !t.excluded(string(p)) {
		return nil
	}
	return diag.New(diag.PermissionDenied, "%s is outside the sparse checkout", p).In(string(p)).
		WithHint("git sparse-checkout add %s", path.Dir(string(p)))
}

// Lstat implements apply.Tree.
func (t *Tree) Lstat(p batch.Path) (apply.Entry, error) {
	if err := t.check(p); err != nil {
		return apply.Entry{}, err
	}
	st, err := t.root.lstat(string(p))
	if err != nil {
		return apply.Entry{}, err
	}
	e := entryOf(path.Base(string(p)), uint32(st.Mode), st.Size)
	e.Time = modified(st)
	if e.Kind == apply.Dir && t.isRepository(string(p)) {
		e.Kind = apply.Submodule
	}
	return e, nil
}

func (t *Tree) isRepository(p string) bool {
	if t.gitlinks[p] {
		return true
	}
	_, err := t.root.lstat(p + "/.git")
	return err == nil
}

func modified(st unix.Stat_t) time.Time { return time.Unix(st.Mtim.Unix()) }

func entryOf(name string, mode uint32, size int64) apply.Entry {
	e := apply.Entry{Name: name, Perm: fs.FileMode(mode & 0o7777), Size: size}
	switch mode & typeMask {
	case typeFile:
		e.Kind = apply.Regular
	case typeDir:
		e.Kind = apply.Dir
	case typeLink:
		e.Kind = apply.Symlink
	default:
		e.Kind = apply.Special
	}
	return e
}

// Read implements apply.Tree.
func (t *Tree) Read(p batch.Path) ([]byte, error) { return t.root.read(string(p)) }

// List implements apply.Tree.
func (t *Tree) List(p batch.Path) ([]apply.Entry, error) {
	fd, err := t.root.dir(string(p))
	if err != nil {
		return nil, err
	}
	d := os.NewFile(uintptr(fd), string(p))
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	entries := make([]apply.Entry, 0, len(names))
	for _, name := range names {
		if strings.EqualFold(name, ".git") {
			continue
		}
		e, err := t.Lstat(batch.Path(path.Join(string(p), name)))
		if errors.Is(err, fs.ErrNotExist) || diag.CodeOf(err) == diag.PermissionDenied {
			continue
		}
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}
