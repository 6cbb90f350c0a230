package history

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/repo"
	"github.com/git-clada/git-clada/internal/txn"
)

// Discard takes HEAD back to the base. What the batches did is gone; the user's own work, from before and since, stays.
func Discard(ctx context.Context, r *repo.Repo, o txn.Options) (*Accepted, error) {
	tx, err := txn.Begin(ctx, r, o)
	if err != nil {
		return nil, err
	}
	defer tx.Close()
	s, err := findScratch(r, tx.Log, tx.Photo.Head)
	if err != nil {
		return nil, err
	}
	files, err := s.takeBack(ctx, tx)
	if err != nil {
		return nil, err
	}
	index, err := s.indexBefore(ctx, tx)
	if err != nil {
		return nil, err
	}
	if files, err = tx.Fit(files); err != nil {
		return nil, err
	}
	tx.StageFiles(files)
	workTree, err := tx.WorkTreeAfter(ctx)
	if err != nil {
		return nil, err
	}
	tr, err := s.leave(tx, index, workTree)
	if err != nil {
		return nil, err
	}
	tr.Op.After.Flags = s.ops[0].Before.Flags
	if tr.Index, err = IndexEdit(r.Objects, tx.Photo.State, tr.Op.After); err != nil {
		return nil, err
	}
	if _, err := tx.Commit(ctx, tr); err != nil {
		return nil, err
	}
	a := s.accepted()
	for _, f := range files {
		a.Files = append(a.Files, f.Path)
	}
	return a, nil
}

// takeBack gives the file changes that remove what the batches did from what is in the working tree now.
func (s *onScratch) takeBack(ctx context.Context, tx *txn.Tx) ([]txn.FileChange, error) {
	now := map[string]txn.FileState{}
	target := map[string]txn.FileState{}
	var paths, conflicts []string
	for i := len(s.ops) - 1; i >= 0; i-- {
		for _, c := range s.ops[i].Files {
			if _, known := now[c.Path]; !known {
				state, err := tx.Look(c.Path)
				if err != nil {
					return nil, err
				}
				now[c.Path], target[c.Path] = state, state
				paths = append(paths, c.Path)
			}
			back, ok, err := reverse(ctx, tx.Repo, c, target[c.Path])
			if err != nil {
				return nil, err
			}
			if !ok {
				conflicts = append(conflicts, c.Path)
			}
			target[c.Path] = back
		}
	}
	if len(conflicts) > 0 {
		return nil, conflict("your changes since then touch the same lines", conflicts)
	}
	var files []txn.FileChange
	for _, p := range paths {
		if now[p] != target[p] {
			files = append(files, txn.FileChange{Path: p, Before: now[p], After: target[p]})
		}
	}
	return files, nil
}

func conflict(why string, paths []string) error {
	return diag.New(diag.ExternalModification, "nothing was changed: %s", why).
		WithHint("%s", "files: "+strings.Join(paths, ", ")+fmt.Sprintf("\ncommit or stash your own changes to %d of them first", len(paths)))
}

// reverse takes one change back from the present state of its path, by lines if that is not what the change left.
func reverse(ctx context.Context, r *repo.Repo, c txn.FileChange, now txn.FileState) (txn.FileState, bool, error) {
	switch {
	case now.Same(c.After):
		return c.Before, true, nil
	case now.Same(c.Before):
		return now, true, nil
	case !now.IsFile() || !c.After.IsFile() || !c.Before.IsFile():
		return now, false, nil
	}
	oid, ok, err := mergeContents(ctx, r, repo.OID(c.After.Blob), repo.OID(now.Blob), repo.OID(c.Before.Blob))
	return txn.FileState{Mode: now.Mode, Blob: string(oid)}, ok, err
}

// indexBefore takes the batches out of the index.
func (s *onScratch) indexBefore(ctx context.Context, tx *txn.Tx) (repo.OID, error) {
	index := tx.Photo.Index
	var conflicts []string
	for i := len(s.ops) - 1; i >= 0; i-- {
		op := s.ops[i]
		var err error
		index, err = mergeTrees(ctx, tx.Repo, op.After.Index, index, op.Before.Index, func(path string) (repo.Blob, error) {
			conflicts = append(conflicts, path)
			return repo.Blob{}, nil
		})
		if err != nil {
			return "", err
		}
	}
	if len(conflicts) > 0 {
		return "", conflict("what you staged since then touches the same lines", conflicts)
	}
	return index, nil
}
