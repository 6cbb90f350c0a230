package txn

import (
	"context"
	"time"

	"github.com/git-clada/git-clada/internal/notes"
	"github.com/git-clada/git-clada/internal/repo"
)

// Look gives the present state of a path and stores its content.
func (t *Tx) Look(path string) (FileState, error) {
	s, err := t.root.state(path)
	if err != nil || (!s.IsFile() && s.kind() != typeLink) {
		return s, cannotWriteUnlessNil(err)
	}
	data, err := t.root.read(path)
	if err != nil {
		return s, cannotWrite(err)
	}
	s.Blob, err = t.blob(data)
	return s, err
}

func cannotWriteUnlessNil(err error) error {
	if err == nil {
		return nil
	}
	return cannotWrite(err)
}

// Same reports whether two states are the same.
func (s FileState) Same(o FileState) bool { return s.same(o) }

// IsFile reports whether a plain file stands there.
func (s FileState) IsFile() bool { return s.kind() == typeFile }

// WorkTreeAfter gives the tree of the working tree as the staged changes will make it.
func (t *Tx) WorkTreeAfter(ctx context.Context) (repo.OID, error) {
	blobs, _, err := treeChanges(ctx, t.Repo, t.Photo, t.Files(), t.content)
	if err != nil {
		return "", err
	}
	return t.Repo.Objects.Overlay(t.Photo.WorkTree, blobs)
}

// Amend makes a commit that git has made since, and what hooks changed with it, part of the operation that was
// committed last, and copies lines to the note on that commit.
func (t *Tx) Amend(ctx context.Context, op *Op, lines []notes.Line) (repo.OID, error) {
	t.Repo.Refresh(time.Now())
	photo, err := Photograph(ctx, t.Repo)
	if err != nil {
		return "", err
	}
	amended := *op
	if amended.Files, err = t.hookChanges(op, photo); err != nil {
		return "", err
	}
	amended.After = photo.State
	amended.After.Refs = map[string]repo.OID{}
	for name, oid := range op.After.Refs {
		amended.After.Refs[name] = oid
	}
	if ref := photo.Head.Ref; ref != "" {
		amended.Before.Refs[ref] = op.After.Head.OID
		amended.After.Refs[ref] = photo.Head.OID
	}
	oid, err := writeOp(t.Repo, &amended, append(t.parents(&amended), photo.Head.OID), t.keepers(), t.Who, amended.subject())
	if err != nil {
		return "", err
	}
	release, refs, err := t.noteRefs(ctx, &Transition{Notes: []Note{{On: photo.Head.OID, Lines: lines}}})
	if err != nil {
		return "", err
	}
	defer release()
	refs = append(refs,
		repo.RefUpdate{Name: t.Log.Ref, Old: op.OID, New: oid},
		repo.RefUpdate{Name: t.Log.cursorRef(), Old: op.OID, New: oid})
	if err := t.Repo.Objects.Sync(); err != nil {
		return "", err
	}
	return photo.Head.OID, t.updateRefs(refs)
}

// hookChanges gives the files that changed between the end of an operation and a photo.
func (t *Tx) hookChanges(op *Op, photo *Photo) ([]FileChange, error) {
	diff, err := t.Repo.Objects.Diff(op.After.WorkTree, photo.WorkTree)
	if err != nil {
		return nil, err
	}
	files := append([]FileChange(nil), op.Files...)
	for _, d := range diff {
		now, err := t.Look(d.Path)
		if err != nil {
			return nil, err
		}
		files = append(files, FileChange{Path: d.Path, Before: stateOf(d.Old), After: now})
	}
	t.written = files
	return files, nil
}

// stateOf gives the state that git gives a file when it checks it out.
func stateOf(b repo.Blob) FileState {
	switch b.Mode {
	case repo.ModeFile:
		return FileState{Mode: typeFile | 0o644, Blob: string(b.OID)}
	case repo.ModeExec:
		return FileState{Mode: typeFile | 0o755, Blob: string(b.OID)}
	case repo.ModeLink:
		return FileState{Mode: typeLink | 0o777, Blob: string(b.OID)}
	}
	return FileState{}
}
