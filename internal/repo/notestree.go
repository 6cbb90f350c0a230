package repo

import "strings"

// maxFlatNotes is how many notes stand in a notes tree without directories.
const maxFlatNotes = 256

// Note gives the note on an object in a notes tree, in whichever fan-out git or we have put it.
func (s *Store) Note(tree, on OID) (OID, error) {
	rest := string(on)
	for tree != "" {
		entries, err := s.Tree(tree)
		if err != nil {
			return "", err
		}
		tree = ""
		for _, e := range entries {
			if e.Name == rest && e.Mode != ModeTree {
				return e.OID, nil
			}
			if e.Mode == ModeTree && len(e.Name) == 2 && strings.HasPrefix(rest, e.Name) {
				tree, rest = e.OID, rest[2:]
				break
			}
		}
	}
	return "", nil
}

// SetNotes gives a notes tree with notes set: for each object the blob that is its note. Where the tree has a fan-out
// it is followed; a flat tree that becomes large gets one.
func (s *Store) SetNotes(tree OID, notes map[OID]OID) (OID, error) {
	entries, err := s.Tree(tree)
	if err != nil {
		return "", err
	}
	changes := map[string]Blob{}
	flat := 0
	for _, e := range entries {
		if e.Mode != ModeTree {
			flat++
		}
	}
	for on, blob := range notes {
		path, err := s.notePath(entries, string(on), flat >= maxFlatNotes)
		if err != nil {
			return "", err
		}
		changes[path] = Blob{ModeFile, blob}
	}
	return s.Overlay(tree, changes)
}

// notePath gives where the note on an object stands, or is to stand.
func (s *Store) notePath(entries []TreeEntry, rest string, fanOut bool) (string, error) {
	for _, e := range entries {
		if e.Name == rest {
			return rest, nil
		}
	}
	for _, e := range entries {
		if e.Mode == ModeTree && len(e.Name) == 2 && strings.HasPrefix(rest, e.Name) {
			below, err := s.Tree(e.OID)
			if err != nil {
				return "", err
			}
			path, err := s.notePath(below, rest[2:], false)
			return e.Name + "/" + path, err
		}
	}
	if fanOut {
		return rest[:2] + "/" + rest[2:], nil
	}
	return rest, nil
}
