package repo

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"github.com/git-clada/git-clada/internal/diag"
)

// Index is the index as it was read: versions 2 to 4, with the cached trees.
type Index struct {
	Entries []IndexEntry // sorted by path, then stage
	Sign    IndexSign    // to notice that somebody else wrote the index
	Seconds int64        // modification time of the file: entries as young as that may be racy
	trees   *cachedTree
	data    []byte

	entriesEnd      int  // offset behind the last entry
	otherExtensions bool // extensions besides the cached trees
	foreign         bool // it was read from a copy that git made
}

// IndexSign identifies one state of the index file. The zero IndexSign is "no index file".
type IndexSign struct {
	Inode    uint64
	Size     int64
	Seconds  int64
	Nanos    int64
	Checksum string // the trailing bytes
}

// IndexEntry is one entry. Path points into the index's memory.
type IndexEntry struct {
	Path  string
	Mode  Mode
	Stage int
	flags uint16 // extended flags in the upper half as git has them
	off   int32  // of the stat data
	oid   int32  // of the object name
}

const (
	flagSkipWorktree = 1 << 14
	flagIntentToAdd  = 1 << 13
	flagAssumeValid  = 1 << 15
)

// SkipWorktree reports whether the file is left out of a sparse checkout.
func (e *IndexEntry) SkipWorktree() bool { return e.flags&flagSkipWorktree != 0 }

// IntentToAdd reports whether the entry only announces a file (git add -N).
func (e *IndexEntry) IntentToAdd() bool { return e.flags&flagIntentToAdd != 0 }

// AssumeValid reports whether the person promised not to change the file (update-index --assume-unchanged).
func (e *IndexEntry) AssumeValid() bool { return e.flags&flagAssumeValid != 0 }

// FileSize gives the size that a file had when the index was told of it, in bytes modulo 2^32. It is that of the file as
// it stands in the working tree, not of the blob.
func (x *Index) FileSize(e *IndexEntry) uint32 { return x.stat(e).size }

// OID gives the object of an entry.
func (x *Index) OID(e *IndexEntry) OID { return rawOID(x.data[e.oid : e.oid+hashSize]) }

const hashSize = 20

// stat is what the index remembers of a file.
type stat struct {
	ctimeSec, ctimeNano, mtimeSec, mtimeNano uint32
	dev, ino, mode, uid, gid, size           uint32
}

func (x *Index) stat(e *IndexEntry) stat {
	b := x.data[e.off:]
	u := func(i int) uint32 { return binary.BigEndian.Uint32(b[4*i:]) }
	return stat{u(0), u(1), u(2), u(3), u(4), u(5), u(6), u(7), u(8), u(9)}
}

// errForeign says that only git itself understands this index.
var errForeign = errors.New("index has a form that only git reads")

// ReadIndex reads the index of the working tree. Where its form is beyond us (split, sparse, later versions), git is
// asked to write a plain copy, and that is read.
func (r *Repo) ReadIndex(ctx context.Context) (*Index, error) {
	x, err := readIndexFile(r.IndexFile)
	if !errors.Is(err, errForeign) {
		return x, err
	}
	if err := os.MkdirAll(r.Private, 0o777); err != nil {
		return nil, systemError(err)
	}
	plain := filepath.Join(r.Private, "plain-index")
	defer os.Remove(plain)
	sign, err := SignIndex(r.IndexFile)
	if err != nil {
		return nil, err
	}
	if err := copyFile(r.IndexFile, plain); err != nil {
		return nil, systemError(err)
	}
	_, err = r.runEnv(ctx, []string{"GIT_INDEX_FILE=" + plain}, nil,
		"-c", "core.splitIndex=false", "-c", "index.sparse=false", "-c", "index.version=2", "-c", "core.fsmonitor=false",
		"update-index", "--no-split-index", "--index-version", "2", "--force-write-index")
	if err != nil {
		return nil, err
	}
	x, err = readIndexFile(plain)
	if err != nil {
		return nil, diag.Wrap(err, diag.UnsupportedRepository, "the index cannot be read: %v", err)
	}
	x.Sign, x.Seconds, x.foreign = sign, sign.Seconds, true
	return x, nil
}

func systemError(err error) error {
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return diag.Wrap(err, diag.PermissionDenied, "the system denies access: %v", err)
	}
	return diag.Wrap(err, diag.GitOperationFailed, "%v", err)
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o666)
}

// SignIndex looks which state of the index a file is.
func SignIndex(file string) (IndexSign, error) {
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return IndexSign{}, nil
	}
	if err != nil {
		return IndexSign{}, systemError(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return IndexSign{}, systemError(err)
	}
	sum := make([]byte, hashSize)
	if info.Size() >= hashSize {
		if _, err := f.ReadAt(sum, info.Size()-hashSize); err != nil {
			return IndexSign{}, systemError(err)
		}
	}
	return signOf(info, sum), nil
}

func signOf(info os.FileInfo, sum []byte) IndexSign {
	s := IndexSign{Size: info.Size(), Seconds: info.ModTime().Unix(), Nanos: int64(info.ModTime().Nanosecond()), Checksum: string(sum)}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Inode = uint64(st.Ino)
	}
	return s
}

func readIndexFile(file string) (*Index, error) {
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return &Index{}, nil
	}
	if err != nil {
		return nil, systemError(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, systemError(err)
	}
	data := make([]byte, info.Size())
	if _, err := readFull(f, data); err != nil {
		return nil, systemError(err)
	}
	x := &Index{data: data, Seconds: info.ModTime().Unix()}
	if err := x.parse(); err != nil {
		return nil, err
	}
	x.Sign = signOf(info, data[len(data)-hashSize:])
	return x, nil
}

func readFull(f *os.File, p []byte) (int, error) {
	n := 0
	for n < len(p) {
		k, err := f.Read(p[n:])
		n += k
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func broken(what string) error {
	return diag.New(diag.GitOperationFailed, "the index is damaged: %s", what).WithHint("git fsck and git reset tell and mend")
}

func (x *Index) parse() error {
	if len(x.data) < 12+hashSize || string(x.data[:4]) != "DIRC" {
		return broken("no header")
	}
	version := binary.BigEndian.Uint32(x.data[4:])
	if version < 2 || version > 4 {
		return errForeign
	}
	count := int(binary.BigEndian.Uint32(x.data[8:]))
	if count > len(x.data)/(40+hashSize) {
		return broken("more entries than bytes")
	}
	x.Entries = make([]IndexEntry, count)
	off := 12
	previous := ""
	for i := range x.Entries {
		next, err := x.parseEntry(&x.Entries[i], off, version, previous)
		if err != nil {
			return err
		}
		previous = x.Entries[i].Path
		off = next
	}
	x.entriesEnd = off
	return x.parseExtensions(off)
}

func (x *Index) parseEntry(e *IndexEntry, off int, version uint32, previous string) (next int, err error) {
	end := len(x.data) - hashSize
	if off+40+hashSize+2 > end {
		return 0, broken("an entry is cut off")
	}
	e.off, e.oid = int32(off), int32(off+40)
	e.Mode = Mode(binary.BigEndian.Uint32(x.data[off+24:]))
	flags := binary.BigEndian.Uint16(x.data[off+40+hashSize:])
	e.Stage = int(flags>>12) & 3
	e.flags = flags & flagAssumeValid
	name := off + 40 + hashSize + 2
	if flags&0x4000 != 0 {
		if version < 3 || name+2 > end {
			return 0, broken("extended flags")
		}
		e.flags |= binary.BigEndian.Uint16(x.data[name:]) & (flagSkipWorktree | flagIntentToAdd)
		name += 2
	}
	if version == 4 {
		return x.parseCompressedName(e, name, previous)
	}
	n := bytes.IndexByte(x.data[name:end], 0)
	if n < 0 {
		return 0, broken("a name is cut off")
	}
	e.Path = view(x.data[name : name+n])
	return off + (name+n-off+8)&^7, nil
}

// view gives bytes of the index as a string without copying. The index is never written to.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// parseCompressedName reads a name of version 4: how much of the previous name to drop, and what comes behind.
func (x *Index) parseCompressedName(e *IndexEntry, off int, previous string) (next int, err error) {
	drop := 0
	for first := true; ; first = false {
		if off >= len(x.data) || drop > 1<<24 {
			return 0, broken("a compressed name")
		}
		c := x.data[off]
		off++
		if !first {
			drop++
		}
		drop = drop<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			break
		}
	}
	n := bytes.IndexByte(x.data[off:], 0)
	if drop > len(previous) || n < 0 {
		return 0, broken("a compressed name")
	}
	e.Path = previous[:len(previous)-drop] + string(x.data[off:off+n])
	return off + n + 1, nil
}

func (x *Index) parseExtensions(off int) error {
	end := len(x.data) - hashSize
	for off+8 <= end {
		name := string(x.data[off : off+4])
		size := int(binary.BigEndian.Uint32(x.data[off+4:]))
		off += 8
		if size > end-off {
			return broken("an extension is cut off")
		}
		switch {
		case name == "TREE":
			x.trees = parseCachedTree(x.data[off : off+size])
		case name[0] < 'A' || name[0] > 'Z': // required, and none that we know
			return errForeign
		default:
			x.otherExtensions = true
		}
		off += size
	}
	return nil
}

// cachedTree is a node of the TREE extension: what the tree of a directory is, if nothing below has changed.
type cachedTree struct {
	name     string
	count    int // entries below; -1: unknown
	oid      OID
	children []*cachedTree
}

func parseCachedTree(data []byte) *cachedTree {
	t, _ := parseCachedNode(data)
	return t
}

func parseCachedNode(data []byte) (*cachedTree, []byte) {
	nul := bytes.IndexByte(data, 0)
	nl := bytes.IndexByte(data, '\n')
	if nul < 0 || nl < nul {
		return nil, nil
	}
	counts := strings.Fields(string(data[nul+1 : nl]))
	if len(counts) != 2 {
		return nil, nil
	}
	t := &cachedTree{name: string(data[:nul])}
	subtrees, err := strconv.Atoi(counts[1])
	if t.count, err = strconv.Atoi(counts[0]); err != nil {
		return nil, nil
	}
	data = data[nl+1:]
	if t.count >= 0 {
		if len(data) < hashSize {
			return nil, nil
		}
		t.oid = rawOID(data[:hashSize])
		data = data[hashSize:]
	}
	for range subtrees {
		var child *cachedTree
		if child, data = parseCachedNode(data); child == nil {
			return t, nil
		}
		t.children = append(t.children, child)
	}
	return t, data
}

func (t *cachedTree) child(name string) *cachedTree {
	if t == nil {
		return nil
	}
	for _, c := range t.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// Conflicts gives the paths with entries of stage 1 to 3.
func (x *Index) Conflicts() []string {
	var paths []string
	for i := range x.Entries {
		e := &x.Entries[i]
		if e.Stage != 0 && (len(paths) == 0 || paths[len(paths)-1] != e.Path) {
			paths = append(paths, e.Path)
		}
	}
	return paths
}

// Find gives the entry of a path at stage 0, or nil.
func (x *Index) Find(path string) *IndexEntry {
	i := sort.Search(len(x.Entries), func(i int) bool { return x.Entries[i].Path >= path })
	for ; i < len(x.Entries) && x.Entries[i].Path == path; i++ {
		if x.Entries[i].Stage == 0 {
			return &x.Entries[i]
		}
	}
	return nil
}

// IndexFlag is an entry whose flags are not in its tree.
type IndexFlag struct {
	Path         string `json:"path"`
	IntentToAdd  bool   `json:"intentToAdd,omitempty"`
	SkipWorktree bool   `json:"skipWorktree,omitempty"`
	AssumeValid  bool   `json:"assumeUnchanged,omitempty"`
	Mode         Mode   `json:"mode,omitempty"` // of an intent-to-add entry, which no tree has
}

// Flags gives the entries with flags. Sparse checkouts have very many skip-worktree entries, which no operation of ours
// touches: they are left out.
func (x *Index) Flags() []IndexFlag {
	var found []IndexFlag
	for i := range x.Entries {
		e := &x.Entries[i]
		if e.IntentToAdd() || e.AssumeValid() {
			f := IndexFlag{Path: strings.Clone(e.Path), IntentToAdd: e.IntentToAdd(), SkipWorktree: e.SkipWorktree(), AssumeValid: e.AssumeValid()}
			if f.IntentToAdd {
				f.Mode = e.Mode
			}
			found = append(found, f)
		}
	}
	return found
}

// WriteTree gives the tree of the index, as git write-tree does: intent-to-add entries stay out. Where the index knows
// the tree of a directory already, nothing is hashed.
func (x *Index) WriteTree(s *Store) (OID, error) {
	if x.trees != nil && x.trees.count == len(x.Entries) && len(x.Entries) > 0 {
		return x.trees.oid, nil
	}
	oid, err := x.writeTree(s, x.trees, 0, len(x.Entries), 0)
	if err == nil && oid == "" {
		return s.WriteTree(nil)
	}
	return oid, err
}

// writeTree makes the tree of Entries[lo:hi], which share a directory prefix of the given length.
func (x *Index) writeTree(s *Store, cached *cachedTree, lo, hi, prefix int) (OID, error) {
	if cached != nil && cached.count == hi-lo && hi > lo {
		return cached.oid, nil
	}
	var entries []TreeEntry
	for i := lo; i < hi; {
		e := &x.Entries[i]
		name := e.Path[prefix:]
		slash := strings.IndexByte(name, '/')
		if slash < 0 {
			if !e.IntentToAdd() && e.Stage == 0 {
				entries = append(entries, TreeEntry{name, Blob{e.Mode, x.OID(e)}})
			}
			i++
			continue
		}
		next := x.behind(i, hi, e.Path[:prefix+slash+1])
		oid, err := x.writeTree(s, cached.child(name[:slash]), i, next, prefix+slash+1)
		if err != nil {
			return "", err
		}
		if oid != "" {
			entries = append(entries, TreeEntry{name[:slash], Blob{ModeTree, oid}})
		}
		i = next
	}
	if len(entries) == 0 {
		return "", nil
	}
	return s.WriteTree(entries)
}

// behind gives the first entry at or behind lo that does not start with prefix.
func (x *Index) behind(lo, hi int, prefix string) int {
	return lo + sort.Search(hi-lo, func(k int) bool { return !strings.HasPrefix(x.Entries[lo+k].Path, prefix) })
}
