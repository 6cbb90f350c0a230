package history

import (
	"context"

	"github.com/git-clada/git-clada/internal/repo"
)

// mergeTrees makes on ours the changes that lead from base to theirs. A path that both sides changed is merged by
// lines; where that fails, conflict decides what stands there.
func mergeTrees(ctx context.Context, r *repo.Repo, base, ours, theirs repo.OID, conflict func(path string) (repo.Blob, error)) (repo.OID, error) {
	if base == ours {
		return theirs, nil
	}
	diff, err := r.Objects.Diff(base, theirs)
	if err != nil {
		return "", err
	}
	own, err := r.Objects.Diff(base, ours)
	if err != nil {
		return "", err
	}
	changed := make(map[string]repo.Blob, len(own))
	for _, d := range own {
		changed[d.Path] = d.New
	}
	result := map[string]repo.Blob{}
	for _, d := range diff {
		mine, both := changed[d.Path]
		switch {
		case !both:
			result[d.Path] = d.New
		case mine == d.New:
		default:
			merged, ok, err := mergeBlobs(ctx, r, d.Old, mine, d.New)
			if err == nil && !ok {
				merged, err = conflict(d.Path)
			}
			if err != nil {
				return "", err
			}
			result[d.Path] = merged
		}
	}
	return r.Objects.Overlay(ours, result)
}

// mergeBlobs merges one file by lines; ok is false if it cannot be done.
func mergeBlobs(ctx context.Context, r *repo.Repo, base, ours, theirs repo.Blob) (merged repo.Blob, ok bool, err error) {
	for _, b := range []repo.Blob{base, ours, theirs} {
		if b.Mode != repo.ModeFile && b.Mode != repo.ModeExec {
			return repo.Blob{}, false, nil
		}
	}
	oid, ok, err := mergeContents(ctx, r, base.OID, ours.OID, theirs.OID)
	mode := ours.Mode
	if ours.Mode == base.Mode {
		mode = theirs.Mode
	}
	return repo.Blob{Mode: mode, OID: oid}, ok, err
}

func mergeContents(ctx context.Context, r *repo.Repo, base, ours, theirs repo.OID) (repo.OID, bool, error) {
	var sides [3][]byte
	for i, oid := range []repo.OID{ours, base, theirs} {
		data, err := r.Objects.Blob(oid)
		if err != nil {
			return "", false, err
		}
		sides[i] = data
	}
	data, ok, err := r.MergeFile(ctx, sides[0], sides[1], sides[2])
	if err != nil || !ok {
		return "", false, err
	}
	oid, err := r.Objects.WriteBlob(data)
	return oid, true, err
}
