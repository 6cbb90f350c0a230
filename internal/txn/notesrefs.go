package txn

import (
	"context"
	"path/filepath"
	"time"

	"github.com/git-clada/git-clada/internal/notes"
	"github.com/git-clada/git-clada/internal/repo"
)

// noteRefs writes the notes of a transition and gives the updates that publish them. Working trees of one repository
// share the notes: from here until release is called, other processes of ours wait.
func (t *Tx) noteRefs(ctx context.Context, tr *Transition) (release func(), updates []repo.RefUpdate, err error) {
	release = func() {}
	if len(tr.Notes) == 0 {
		return release, nil, nil
	}
	shared, _, err := lock(ctx, filepath.Join(t.Repo.Common, "clada-notes.lock"), max(t.o.LockTimeout, 10*time.Second))
	if err != nil {
		return release, nil, err
	}
	release = func() { shared.Close() }
	updates, err = t.writeNotes(tr)
	if err != nil {
		release()
		return func() {}, nil, err
	}
	return release, updates, nil
}

func (t *Tx) writeNotes(tr *Transition) ([]repo.RefUpdate, error) {
	texts := map[repo.OID][]byte{}
	for _, n := range tr.Notes {
		text, err := notes.Encode(n.Lines)
		if err != nil {
			return nil, err
		}
		texts[n.On] = text
	}
	lines, err := t.addNotes(notes.Ref, texts)
	if err != nil || tr.Input == nil {
		return compact(lines), err
	}
	input, err := t.addNotes(notes.InputRef, map[repo.OID][]byte{repo.HashBlob(tr.Input): tr.Input})
	return compact(lines, input), err
}

func compact(updates ...repo.RefUpdate) []repo.RefUpdate {
	var kept []repo.RefUpdate
	for _, u := range updates {
		if u.Old != u.New {
			kept = append(kept, u)
		}
	}
	return kept
}

// addNotes merges texts into the notes of a ref.
func (t *Tx) addNotes(ref string, texts map[repo.OID][]byte) (repo.RefUpdate, error) {
	s := t.Repo.Objects
	tip, err := t.Repo.Ref(ref)
	if err != nil {
		return repo.RefUpdate{}, err
	}
	u := repo.RefUpdate{Name: ref, Old: tip, New: tip}
	var tree repo.OID
	if tip != "" {
		if tree, err = s.Resolve(string(tip) + "^{tree}"); err != nil {
			return u, err
		}
	}
	blobs := map[repo.OID]repo.OID{}
	for on, text := range texts {
		if blobs[on], err = t.mergeNote(ref, tree, on, text); err != nil {
			return u, err
		}
	}
	newTree, err := s.SetNotes(tree, blobs)
	if err != nil || newTree == tree {
		return u, err
	}
	u.New, err = s.WriteCommit(repo.Commit{
		Tree: newTree, Parents: distinct([]repo.OID{tip}), Author: t.Who, Committer: t.Who, When: t.o.Now,
		Message: "Notes added by '" + t.o.Command + "'\n",
	})
	return u, err
}

// mergeNote stores the note on an object. What stands there already is kept, except in the input notes: there the note
// on a blob is that very blob.
func (t *Tx) mergeNote(ref string, tree, on repo.OID, text []byte) (repo.OID, error) {
	s := t.Repo.Objects
	if ref != notes.InputRef {
		old, err := s.Note(tree, on)
		if err != nil {
			return "", err
		}
		if old != "" {
			before, err := s.Blob(old)
			if err != nil {
				return "", err
			}
			text = notes.Merge(before, text)
		}
	}
	return s.WriteBlob(text)
}
