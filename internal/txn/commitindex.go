package txn

import (
	"context"

	"github.com/git-clada/git-clada/internal/repo"
)

// moveIndex makes the index what the transition says.
func (t *Tx) moveIndex(ctx context.Context, tr *Transition) error {
	if tr.Index.Empty() {
		now, err := repo.SignIndex(t.Repo.IndexFile)
		if err == nil && now != t.Photo.Scan.Index.Sign {
			err = repo.ErrIndexMoved
		}
		return err
	}
	if err := t.effect("index"); err != nil {
		return err
	}
	if err := t.Repo.PrepareIndex(ctx, t.Photo.Scan, tr.Index); err != nil {
		return err
	}
	if err := t.checkIndex(tr); err != nil {
		return err
	}
	if err := t.effect("publish index"); err != nil {
		return err
	}
	return t.Repo.PublishIndex(t.Photo.Scan.Index.Sign)
}

// checkIndex makes sure that git found in the working tree what the plan wrote there: the files still hold it. Where a
// filter stands in between, the prepared index itself is read.
func (t *Tx) checkIndex(tr *Transition) error {
	converted := map[string]repo.Blob{}
	attributes := changesAttributes(t.Files()) // then the rules that are known are not those that hold now
	for p, want := range tr.Index.Refresh {
		if attributes || t.Photo.Scan.Converts(p) {
			converted[p] = want
			continue
		}
		now, err := t.root.state(p)
		if err != nil {
			return cannotWrite(err)
		}
		if !now.holds(want) {
			return changedMeanwhile(p)
		}
	}
	if len(converted) == 0 {
		return nil
	}
	return t.checkPrepared(converted)
}

// holds reports whether a state is what a tree has at a path.
func (s FileState) holds(b repo.Blob) bool {
	switch b.Mode {
	case repo.ModeNone:
		return s.kind() != typeFile && s.kind() != typeLink
	case repo.ModeLink:
		return s.Blob == string(b.OID)
	}
	return s.kind() == typeFile && s.Blob == string(b.OID)
}

// checkPrepared compares entries of the prepared index with what they must be.
func (t *Tx) checkPrepared(want map[string]repo.Blob) error {
	x, err := t.Repo.PreparedIndex()
	if err != nil || x == nil {
		return err
	}
	for p, blob := range want {
		var have repo.Blob
		if e := x.Find(p); e != nil && !e.IntentToAdd() {
			have = repo.Blob{Mode: e.Mode, OID: x.OID(e)}
		}
		if have != blob {
			return changedMeanwhile(p)
		}
	}
	return nil
}
