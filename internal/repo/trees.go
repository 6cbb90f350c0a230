package repo

import (
	"io"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/git-clada/git-clada/internal/diag"
)

// TreeEntry is one line of a tree.
type TreeEntry struct {
	Name string
	Blob
}

// decode reads an object of go-git's model.
func decode(kind plumbing.ObjectType, oid OID, data []byte, into interface {
	Decode(plumbing.EncodedObject) error
}) error {
	o := &plumbing.MemoryObject{}
	o.SetType(kind)
	o.Write(data)
	if err := into.Decode(o); err != nil {
		return diag.Wrap(err, diag.GitOperationFailed, "object %s cannot be read: %v", oid, err)
	}
	return nil
}

// encode gives the bytes of an object of go-git's model.
func encode(from interface {
	Encode(plumbing.EncodedObject) error
}) ([]byte, error) {
	o := &plumbing.MemoryObject{}
	if err := from.Encode(o); err != nil {
		return nil, diag.Wrap(err, diag.GitOperationFailed, "encoding an object: %v", err)
	}
	r, err := o.Reader()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Tree gives the entries of one tree; of the tree "" there are none.
func (s *Store) Tree(oid OID) ([]TreeEntry, error) {
	if oid == "" {
		return nil, nil
	}
	if entries, ok := s.knownTree(oid); ok {
		return entries, nil
	}
	_, data, err := s.Read(string(oid), "tree")
	if err != nil {
		return nil, err
	}
	var t object.Tree
	if err := decode(plumbing.TreeObject, oid, data, &t); err != nil {
		return nil, err
	}
	entries := make([]TreeEntry, len(t.Entries))
	for i, e := range t.Entries {
		entries[i] = TreeEntry{e.Name, Blob{fromGoGit(e.Mode), OID(e.Hash.String())}}
	}
	s.keepTree(oid, entries)
	return entries, nil
}

// Bounds of the trees that are kept in memory: they are few and small in an ordinary operation.
const (
	maxKeptTrees = 2000
	maxKeptTree  = 1000
)

func (s *Store) knownTree(oid OID) ([]TreeEntry, bool) {
	s.writing.Lock()
	defer s.writing.Unlock()
	entries, ok := s.trees[oid]
	return entries, ok
}

func (s *Store) keepTree(oid OID, entries []TreeEntry) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if len(entries) <= maxKeptTree && len(s.trees) < maxKeptTrees {
		s.trees[oid] = entries
	}
}

// fromGoGit maps the rare old modes (0100664) to the one git writes today, as git does when it reads them.
func fromGoGit(m filemode.FileMode) Mode {
	if m == filemode.Deprecated {
		return ModeFile
	}
	return Mode(m)
}

// WriteTree stores one tree.
func (s *Store) WriteTree(entries []TreeEntry) (OID, error) {
	t := object.Tree{Entries: make([]object.TreeEntry, len(entries))}
	for i, e := range entries {
		t.Entries[i] = object.TreeEntry{Name: e.Name, Mode: filemode.FileMode(e.Mode), Hash: plumbing.NewHash(string(e.OID))}
	}
	sort.Sort(object.TreeEntrySorter(t.Entries))
	data, err := encode(&t)
	if err != nil {
		return "", err
	}
	oid, err := s.write("tree", data)
	if err == nil {
		s.keepTree(oid, entries)
	}
	return oid, err
}

// EmptyTree is the tree without entries.
const EmptyTree OID = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// Overlay gives root with changes: for each path what it has now, the zero Blob where nothing is left. Only trees
// above a changed path are read and written. Trees that become empty disappear.
func (s *Store) Overlay(root OID, changes map[string]Blob) (OID, error) {
	if len(changes) == 0 {
		if root == "" {
			return s.WriteTree(nil)
		}
		return root, nil
	}
	oid, err := s.overlay(root, changes)
	if err == nil && oid == "" {
		return s.WriteTree(nil)
	}
	return oid, err
}

func (s *Store) overlay(root OID, changes map[string]Blob) (OID, error) {
	entries, err := s.Tree(root)
	if err != nil {
		return "", err
	}
	byName := make(map[string]Blob, len(entries)+len(changes))
	for _, e := range entries {
		byName[e.Name] = e.Blob
	}
	below := map[string]map[string]Blob{}
	for p, b := range changes {
		dir, rest, deep := strings.Cut(p, "/")
		if !deep {
			continue
		}
		if below[dir] == nil {
			below[dir] = map[string]Blob{}
		}
		below[dir][rest] = b
	}
	for dir, sub := range below {
		var old OID
		if was := byName[dir]; was.Mode == ModeTree {
			old = was.OID
		} else if allGone(sub) {
			continue // a file stands in the place of the directory that is gone
		}
		oid, err := s.overlay(old, sub)
		if err != nil {
			return "", err
		}
		byName[dir] = Blob{ModeTree, oid}
		if oid == "" {
			delete(byName, dir)
		}
	}
	for p, b := range changes {
		if strings.Contains(p, "/") {
			continue
		}
		switch {
		case b.Mode != ModeNone:
			byName[p] = b
		case below[p] == nil || byName[p].Mode != ModeTree:
			delete(byName, p)
		}
	}
	if len(byName) == 0 {
		return "", nil
	}
	merged := make([]TreeEntry, 0, len(byName))
	for name, b := range byName {
		merged = append(merged, TreeEntry{name, b})
	}
	return s.WriteTree(merged)
}

func allGone(changes map[string]Blob) bool {
	for _, b := range changes {
		if b.Mode != ModeNone {
			return false
		}
	}
	return true
}

// TreeChange is a path that two trees have differently.
type TreeChange struct {
	Path     string
	Old, New Blob
}

// Diff gives the paths that two trees have differently, sorted. Equal subtrees are not read.
func (s *Store) Diff(a, b OID) ([]TreeChange, error) {
	var found []TreeChange
	err := s.diff("", a, b, &found)
	sort.Slice(found, func(i, j int) bool { return found[i].Path < found[j].Path })
	return found, err
}

func (s *Store) diff(prefix string, a, b OID, found *[]TreeChange) error {
	if a == b {
		return nil
	}
	olds, err := s.Tree(a)
	if err != nil {
		return err
	}
	news, err := s.Tree(b)
	if err != nil {
		return err
	}
	byName := make(map[string][2]Blob, len(olds))
	for _, e := range olds {
		byName[e.Name] = [2]Blob{e.Blob, {}}
	}
	for _, e := range news {
		byName[e.Name] = [2]Blob{byName[e.Name][0], e.Blob}
	}
	for name, pair := range byName {
		if pair[0] == pair[1] {
			continue
		}
		if err := s.diffEntry(prefix+name, pair[0], pair[1], found); err != nil {
			return err
		}
	}
	return nil
}

// diffEntry compares one name. A directory in the place of a file is the file gone and what is in the directory new.
func (s *Store) diffEntry(path string, a, b Blob, found *[]TreeChange) error {
	var subA, subB OID
	if a.Mode == ModeTree {
		subA, a = a.OID, Blob{}
	}
	if b.Mode == ModeTree {
		subB, b = b.OID, Blob{}
	}
	if a != b {
		*found = append(*found, TreeChange{path, a, b})
	}
	return s.diff(path+"/", subA, subB, found)
}

// At gives what a tree has at a path, the zero Blob if nothing.
func (s *Store) At(root OID, path string) (Blob, error) {
	at := Blob{ModeTree, root}
	for part := range strings.SplitSeq(path, "/") {
		if at.Mode != ModeTree {
			return Blob{}, nil
		}
		entries, err := s.Tree(at.OID)
		if err != nil {
			return Blob{}, err
		}
		at = Blob{}
		for _, e := range entries {
			if e.Name == part {
				at = e.Blob
			}
		}
	}
	return at, nil
}

// Letter says in one letter what became of the path, as git does: A, M, D, or T for another type.
func (d TreeChange) Letter() string {
	switch {
	case d.Old.Mode == ModeNone:
		return "A"
	case d.New.Mode == ModeNone:
		return "D"
	case d.Old.Mode&0o170000 != d.New.Mode&0o170000:
		return "T"
	}
	return "M"
}
