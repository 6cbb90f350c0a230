package repo

import (
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// This file writes an edited index without git, where its form is plain: version 2 or 3, no extension but the cached
// trees, no flags on the entries concerned. It copies everything else as it is, so its cost is that of copying and
// hashing. git is asked in every other case, and is the oracle in the tests.

// newEntry is what becomes of a path.
type newEntry struct {
	path string
	blob Blob
	stat fileStat // the zero fileStat makes git look at the file
}

// writeOwn writes the edited index to file; ok is false if its form needs git.
func (r *Repo) writeOwn(s *Scan, e IndexEdit, file string) (ok bool, err error) {
	x := s.Index
	if len(e.Flags) > 0 || !x.plain() || r.Objects.shared {
		return false, nil
	}
	edits := make([]newEntry, 0, len(e.Set)+len(e.Refresh))
	for path, blob := range e.Set {
		edits = append(edits, newEntry{path: path, blob: blob})
	}
	for path, blob := range e.Refresh {
		n := newEntry{path: path, blob: blob}
		if blob.Mode != ModeNone {
			if n.stat, err = lstat(filepath.Join(r.Top, filepath.FromSlash(path))); err != nil {
				return false, nil // git will say what is wrong
			}
		}
		edits = append(edits, n)
	}
	slices.SortFunc(edits, func(a, b newEntry) int { return strings.Compare(a.path, b.path) })
	w := indexWriter{x: x, edits: edits, smudge: map[string]bool{}}
	for _, f := range s.Files {
		w.smudge[f.Path] = true
	}
	r.smudgeRacy(x, w.smudge)
	if !w.write() {
		return false, nil
	}
	return true, writeWhole(file, w.out)
}

// smudgeRacy adds the entries that the old index could not vouch for: they are as young as it was, so git looked at their
// content whenever it used them. In the younger index git would trust them, which is right only if the file has not been
// touched since, to the nanosecond.
func (r *Repo) smudgeRacy(x *Index, smudge map[string]bool) {
	for i := range x.Entries {
		e := &x.Entries[i]
		if e.Mode == ModeGitlink || int64(binary.BigEndian.Uint32(x.data[e.off+8:])) < x.Seconds {
			continue
		}
		s := x.stat(e)
		info, err := lstat(filepath.Join(r.Top, filepath.FromSlash(e.Path)))
		if err != nil || s.mtimeNano == 0 || uint32(info.mtimeSec) != s.mtimeSec || uint32(info.mtimeNano) != s.mtimeNano ||
			uint32(info.ctimeSec) != s.ctimeSec || uint32(info.ctimeNano) != s.ctimeNano || uint32(info.size) != s.size {
			smudge[strings.Clone(e.Path)] = true
		}
	}
}

func writeWhole(file string, data []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return systemError(err)
	}
	_, err = f.Write(data)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(file)
		return systemError(err)
	}
	return nil
}

// plain reports whether the index has a form that this file writes.
func (x *Index) plain() bool {
	if x.data == nil {
		return len(x.Entries) == 0 // there is none yet
	}
	return !x.foreign && binary.BigEndian.Uint32(x.data[4:]) <= 3 && !x.otherExtensions
}

type indexWriter struct {
	x      *Index
	edits  []newEntry
	smudge map[string]bool // entries whose file is known to differ: git must not take them for clean
	out    []byte
	count  uint32
}

// write builds the new index. It gives up where an entry with flags would be replaced.
func (w *indexWriter) write() bool {
	w.out = make([]byte, 12, len(w.x.data)+200*len(w.edits)+64)
	next := 0
	for i := range w.edits {
		edit := &w.edits[i]
		at := w.x.search(edit.path)
		w.copyEntries(next, at)
		next = at
		if at < len(w.x.Entries) && w.x.Entries[at].Path == edit.path {
			if w.x.Entries[at].flags != 0 {
				return false
			}
			next++
		}
		if edit.blob.Mode != ModeNone {
			w.add(edit)
		}
	}
	w.copyEntries(next, len(w.x.Entries))
	w.trees()
	version := uint32(2)
	if w.x.data != nil {
		version = binary.BigEndian.Uint32(w.x.data[4:])
	}
	copy(w.out, "DIRC")
	binary.BigEndian.PutUint32(w.out[4:], version)
	binary.BigEndian.PutUint32(w.out[8:], w.count)
	w.checksum()
	return true
}

// search gives the first entry at or behind path.
func (x *Index) search(path string) int {
	at, _ := slices.BinarySearchFunc(x.Entries, path, func(e IndexEntry, p string) int { return strings.Compare(e.Path, p) })
	return at
}

// copyEntries copies Entries[lo:hi] as they are.
func (w *indexWriter) copyEntries(lo, hi int) {
	if lo >= hi {
		return
	}
	start := int(w.x.Entries[lo].off)
	end := w.x.entriesEnd
	if hi < len(w.x.Entries) {
		end = int(w.x.Entries[hi].off)
	}
	at := len(w.out)
	w.out = append(w.out, w.x.data[start:end]...)
	w.count += uint32(hi - lo)
	if len(w.smudge) == 0 {
		return
	}
	for i := lo; i < hi; i++ {
		if e := &w.x.Entries[i]; w.smudge[e.Path] {
			binary.BigEndian.PutUint32(w.out[at+int(e.off)-start+36:], 0) // a size of 0 means: look at the content
		}
	}
}

// add writes a new entry.
func (w *indexWriter) add(n *newEntry) {
	start := len(w.out)
	s := &n.stat
	for _, v := range []uint32{
		uint32(s.ctimeSec), uint32(s.ctimeNano), uint32(s.mtimeSec), uint32(s.mtimeNano), uint32(s.dev), uint32(s.ino),
		uint32(n.blob.Mode), s.uid, s.gid, uint32(s.size),
	} {
		w.out = binary.BigEndian.AppendUint32(w.out, v)
	}
	w.out = append(w.out, n.blob.OID.raw()...)
	w.out = binary.BigEndian.AppendUint16(w.out, uint16(min(len(n.path), 0xfff)))
	w.out = append(w.out, n.path...)
	for pad := 8 - (len(w.out)-start)%8; pad > 0; pad-- {
		w.out = append(w.out, 0)
	}
	w.count++
}

// trees writes the cached trees; those above a changed path are marked as unknown.
func (w *indexWriter) trees() {
	if w.x.trees == nil {
		return
	}
	for i := range w.edits {
		w.x.trees.invalidate(w.edits[i].path)
	}
	body := w.x.trees.appendTo(nil)
	w.out = append(w.out, "TREE"...)
	w.out = binary.BigEndian.AppendUint32(w.out, uint32(len(body)))
	w.out = append(w.out, body...)
}

// appendTo writes the node and those below it as the TREE extension has them.
func (t *cachedTree) appendTo(b []byte) []byte {
	b = fmt.Appendf(append(append(b, t.name...), 0), "%d %d\n", t.count, len(t.children))
	if t.count >= 0 {
		b = append(b, t.oid.raw()...)
	}
	for _, c := range t.children {
		b = c.appendTo(b)
	}
	return b
}

func (t *cachedTree) invalidate(path string) {
	for t != nil {
		t.count, t.oid = -1, ""
		dir, rest, deep := strings.Cut(path, "/")
		if !deep {
			// a file in the place of a directory
			t.children = slices.DeleteFunc(t.children, func(c *cachedTree) bool { return c.name == dir })
			return
		}
		t, path = t.child(dir), rest
	}
}

// checksum appends the hash, or zeros where the index had zeros (index.skipHash).
func (w *indexWriter) checksum() {
	if n := len(w.x.data); n > 0 && strings.Trim(string(w.x.data[n-hashSize:]), "\x00") == "" {
		w.out = append(w.out, make([]byte, hashSize)...)
		return
	}
	sum := sha1.Sum(w.out)
	w.out = append(w.out, sum[:]...)
}
