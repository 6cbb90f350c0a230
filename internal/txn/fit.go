package txn

import (
	"errors"
	"io/fs"
	"path"
	"sort"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// Fit drops from changes what concerns directories that others use by now: a directory that would have to go but holds
// something that stays is left, and one that is there already is not made. Files are never dropped.
func (t *Tx) Fit(changes []FileChange) ([]FileChange, error) {
	gone := map[string]bool{}
	for _, c := range changes {
		if c.After.absent() {
			gone[c.Path] = true
		}
	}
	sorted := append([]FileChange(nil), changes...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].Path > sorted[j].Path }) // what is inside before its directory
	kept := make([]FileChange, 0, len(sorted))
	for _, c := range sorted {
		fits, err := t.fits(c, gone)
		if err != nil {
			return nil, err
		}
		if fits {
			kept = append(kept, c)
		} else {
			delete(gone, c.Path)
		}
	}
	return kept, nil
}

func (t *Tx) fits(c FileChange, gone map[string]bool) (bool, error) {
	switch {
	case c.Before.absent() && c.After.kind() == typeDir:
		st, err := t.root.lstat(c.Path)
		return err != nil || uint32(st.Mode)&typeMask != typeDir, nil
	case c.Before.kind() != typeDir || c.After.kind() == typeDir:
		return true, nil
	}
	entries, err := t.Tree().List(batch.Path(c.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return !c.After.absent(), nil // it is gone already
	}
	if err != nil {
		return false, cannotWrite(err)
	}
	for _, e := range entries {
		inside := path.Join(c.Path, e.Name)
		if gone[inside] {
			continue
		}
		if c.After.absent() {
			return false, nil
		}
		return false, diag.New(diag.ExternalModification, "%s is in the way: a file has to come back where its directory is", inside).In(inside).
			WithHint("nothing was changed; move it away, then try again")
	}
	return true, nil
}
