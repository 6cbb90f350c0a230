package txn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/repo"
)

// Record is what is to be recorded of a batch.
type Record struct {
	ID       string
	Batch    *batch.Batch
	Results  []apply.Result
	Problems int    // blocks that did not parse
	Author   string // NAME <EMAIL> of the post commit
	Message  string // subject of the post commit; "" generates one
	Model    string // which model wrote the reply
	Tool     string // our version
	Staged   bool   // stop before the post commit
}

// Receipt says what a batch has become.
type Receipt struct {
	Branch  string // the scratch branch, short
	Base    string // where it started, short
	Pre     repo.OID
	Post    repo.OID
	Tree    repo.OID
	Changed []Changed
	LeftOut []string
	Ignored []string // changed paths that git ignores: they are not in the commit
	Op      *Op      // nil if nothing changed
	Moved   bool     // a command moved HEAD or the branch, so nothing was committed
}

// Changed is a path that a batch changed: A, M, D, R or T.
type Changed struct {
	Path   string `json:"path"`
	Status string `json:"status"`
	From   string `json:"from,omitempty"`
}

// Stage takes note of what a plan found out. The content of what is there is stored before it is touched.
func (t *Tx) Stage(changes []apply.Change) error {
	for _, c := range changes {
		before, err := t.fileState(c.Path, c.Before)
		if err != nil {
			return err
		}
		after, err := t.fileState(c.Path, c.After)
		if err != nil {
			return err
		}
		if !before.same(after) {
			t.staged = append(t.staged, FileChange{Path: string(c.Path), Before: before, After: after})
		}
	}
	return nil
}

func (t *Tx) fileState(p batch.Path, n *apply.Node) (FileState, error) {
	if n == nil {
		return FileState{}, nil
	}
	perm := uint32(n.Perm)
	if n.Kind == apply.Dir {
		return FileState{Mode: typeDir | perm}, nil
	}
	data := n.Data
	if n.From != "" {
		var err error
		data, err = t.root.read(string(n.From))
		if errors.Is(err, fs.ErrNotExist) {
			return FileState{}, changedMeanwhile(string(p))
		}
		if err != nil {
			return FileState{}, cannotWrite(err)
		}
	}
	blob, err := t.blob(data)
	if n.Kind == apply.Symlink {
		return FileState{Mode: typeLink | 0o777, Blob: blob}, err
	}
	return FileState{Mode: typeFile | perm, Blob: blob}, err
}

// treeChanges gives the staged changes as git would store them, and the paths that git ignores.
func treeChanges(ctx context.Context, r *repo.Repo, photo *Photo, files []FileChange, content func(string) ([]byte, error)) (map[string]repo.Blob, []string, error) {
	changes := map[string]repo.Blob{}
	untracked := map[string]bool{}
	for _, f := range photo.Scan.Files {
		untracked[f.Path] = f.Untracked
	}
	rules := r.IgnoreRules()
	var ignored []string
	for _, c := range files {
		if (c.After.absent() || c.After.kind() == typeDir) && (c.Before.absent() || c.Before.kind() == typeDir) {
			continue
		}
		entry := photo.Scan.Index.Find(c.Path)
		if entry == nil && !untracked[c.Path] && rules.Ignored(c.Path) {
			ignored = append(ignored, c.Path)
			continue
		}
		blob, err := cleanBlob(ctx, r, photo, c, entry, content)
		if err != nil {
			return nil, nil, err
		}
		changes[c.Path] = blob
	}
	return changes, ignored, nil
}

func cleanBlob(ctx context.Context, r *repo.Repo, photo *Photo, c FileChange, entry *repo.IndexEntry, content func(string) ([]byte, error)) (repo.Blob, error) {
	switch c.After.kind() {
	case typeLink:
		return repo.Blob{Mode: repo.ModeLink, OID: repo.OID(c.After.Blob)}, nil
	case typeFile:
	default:
		return repo.Blob{}, nil
	}
	mode := repo.ModeFile
	switch {
	case !r.Config.Bool("core.fileMode", true):
		if entry != nil && entry.Mode == repo.ModeExec {
			mode = repo.ModeExec
		}
	case c.After.Mode&0o100 != 0:
		mode = repo.ModeExec
	}
	if !photo.Scan.Converts(c.Path) {
		return repo.Blob{Mode: mode, OID: repo.OID(c.After.Blob)}, nil
	}
	data, err := content(c.After.Blob)
	if err != nil {
		return repo.Blob{}, err
	}
	oid, err := r.CleanBlob(ctx, c.Path, data, photo.Scan)
	return repo.Blob{Mode: mode, OID: oid}, err
}

// PlannedTree gives the tree that a batch's changes make of the working tree, without writing anything: the tree that
// CommitBatch would commit. The repository's store should be dry.
func PlannedTree(ctx context.Context, r *repo.Repo, photo *Photo, changes []apply.Change) (*Receipt, error) {
	root, err := openRoot(r.Top, nil)
	if err != nil {
		return nil, cannotWrite(err)
	}
	defer root.close()
	t := &Tx{Repo: r, Photo: photo, root: root, contents: map[string][]byte{}}
	if err := t.Stage(changes); err != nil {
		return nil, err
	}
	blobs, ignored, err := treeChanges(ctx, r, photo, t.staged, t.content)
	if err != nil {
		return nil, err
	}
	receipt := &Receipt{Ignored: ignored, LeftOut: untouched(photo.LeftOut, t.staged)}
	if receipt.Tree, err = r.Objects.Overlay(photo.WorkTree, blobs); err != nil {
		return nil, err
	}
	receipt.Changed, err = changedPaths(r.Objects, photo.WorkTree, receipt.Tree)
	return receipt, err
}

// untouched gives the paths that no change is about.
func untouched(paths []string, files []FileChange) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		return slices.ContainsFunc(files, func(c FileChange) bool { return c.Path == p })
	})
}

// ReadTree gives the working tree for a plan that changes nothing. close ends its use.
func ReadTree(r *repo.Repo, photo *Photo) (tree *Tree, close func(), err error) {
	root, err := openRoot(r.Top, nil)
	if err != nil {
		return nil, nil, cannotWrite(err)
	}
	return &Tree{root: root, gitlinks: photo.Scan.Gitlinks, excluded: excluded(photo.Scan.Index)}, root.close, nil
}

// CommitBatch commits what was staged as a batch: pre commit, files, index, post commit, notes, log.
func (t *Tx) CommitBatch(ctx context.Context, rec Record) (*Receipt, error) {
	photo := t.Photo
	blobs, ignored, err := treeChanges(ctx, t.Repo, photo, t.Files(), t.content)
	if err != nil {
		return nil, err
	}
	for p, blob := range t.followed {
		if _, known := blobs[p]; !known {
			blobs[p] = blob
		}
	}
	receipt := &Receipt{Ignored: ignored, LeftOut: untouched(photo.LeftOut, t.Files())}
	if receipt.Tree, err = t.Repo.Objects.Overlay(photo.WorkTree, blobs); err != nil {
		return nil, err
	}
	if receipt.Changed, err = changedPaths(t.Repo.Objects, photo.WorkTree, receipt.Tree); err != nil {
		return nil, err
	}
	input, err := t.Repo.Objects.WriteBlob(rec.Batch.Reply)
	if err != nil {
		return nil, err
	}
	t.keep = append(t.keep, input)
	tr := Transition{Op: Op{
		Batch: rec.ID, Summary: summary(rec.Results), Input: input, Tasks: len(rec.Results), Failed: failures(rec.Results) + rec.Problems,
		After: photo.State, Time: t.o.Now,
	}}
	staged, err := t.stagedByCommand(&tr.Op.After)
	if err != nil {
		return nil, err
	}
	switch {
	case len(t.Files()) == 0 && !staged:
		tr.Op.NoOp = true
		tr.Cursor = Cursor{To: t.Log.Cursor}
	case receipt.Tree == photo.WorkTree:
		tr.Cursor = Cursor{Self: true} // only what git does not keep: ignored files, empty directories
		if strings.HasPrefix(photo.Head.Ref, ScratchPrefix) {
			tr.Op.Branch = photo.Head.Ref
		}
	default:
		tr.Cursor = Cursor{Self: true}
		tr.Op.Trees = commandTrees(rec.Results)
		if err := t.commits(ctx, rec, receipt, &tr); err != nil {
			return nil, err
		}
		tr.Index = repo.IndexEdit{Refresh: refreshed(photo, blobs)}
		if t.keptIndex {
			if tr.Index.Refresh, err = t.staging(receipt.Tree); err != nil {
				return nil, err
			}
		}
	}
	tr.Settle = changesRules(t.Files())
	receipt.Op, err = t.Commit(ctx, tr)
	return receipt, err
}

// changesRules reports whether files were changed that say what git tracks or converts.
func changesRules(files []FileChange) bool {
	for _, c := range files {
		if base := path.Base(c.Path); base == ".gitignore" || base == ".gitattributes" {
			return true
		}
	}
	return false
}

// changesAttributes reports whether files were changed that say what git converts.
func changesAttributes(files []FileChange) bool {
	return slices.ContainsFunc(files, func(c FileChange) bool { return path.Base(c.Path) == ".gitattributes" })
}

// refreshed gives the index entries that are not what the working tree is after the batch, with what they become.
func refreshed(photo *Photo, blobs map[string]repo.Blob) map[string]repo.Blob {
	all := make(map[string]repo.Blob, len(photo.Scan.Files)+len(blobs))
	for _, f := range photo.Scan.Files {
		all[f.Path] = f.Blob
	}
	maps.Copy(all, blobs)
	return all
}

// stagedByCommand reports whether a command changed the index, and puts what it is now into a state.
func (t *Tx) stagedByCommand(s *State) (bool, error) {
	if !t.keptIndex {
		return false, nil
	}
	index, err := t.Photo.Scan.Index.WriteTree(t.Repo.Objects)
	if err != nil {
		return false, err
	}
	flags := t.Photo.Scan.Index.Flags()
	changed := index != s.Index || !slices.Equal(flags, s.Flags)
	s.Index, s.Flags = index, flags
	return changed, nil
}

// staging gives what brings the index, as commands have left it, to a tree.
func (t *Tx) staging(tree repo.OID) (map[string]repo.Blob, error) {
	index, err := t.Photo.Scan.Index.WriteTree(t.Repo.Objects)
	if err != nil {
		return nil, err
	}
	diff, err := t.Repo.Objects.Diff(index, tree)
	if err != nil {
		return nil, err
	}
	all := make(map[string]repo.Blob, len(diff))
	for _, f := range t.Photo.Scan.Index.Flags() {
		if f.IntentToAdd {
			all[f.Path] = repo.Blob{}
		}
	}
	for _, d := range diff {
		all[d.Path] = d.New
	}
	return all, nil
}

// commits makes the pre and post commits and says where the branch goes.
func (t *Tx) commits(ctx context.Context, rec Record, receipt *Receipt, tr *Transition) error {
	s, photo, op := t.Repo.Objects, t.Photo, &tr.Op
	branch, err := t.scratchBranch(ctx)
	if err != nil {
		return err
	}
	op.Branch, op.BaseRef, op.BaseOID = branch.ref, branch.baseRef, branch.baseOID
	op.Pre = photo.Head.OID
	if n, err := photo.Dirty(s); err != nil {
		return err
	} else if n > 0 {
		op.Pre, err = s.WriteCommit(repo.Commit{
			Tree: photo.WorkTree, Parents: distinct([]repo.OID{photo.Head.OID}), Author: t.Who, Committer: t.Who, When: t.o.Now,
			Message: fmt.Sprintf("clada: before batch %s (%s)\n", rec.ID, count(n, "file")),
		})
		if err != nil {
			return err
		}
	}
	tip := op.Pre
	if !rec.Staged {
		op.Post, err = s.WriteCommit(repo.Commit{
			Tree: receipt.Tree, Parents: distinct([]repo.OID{op.Pre}), Author: rec.Author, Committer: t.Who, When: t.o.Now,
			Message: postMessage(rec, op),
		})
		if err != nil {
			return err
		}
		tip = op.Post
		tr.Notes = []Note{{On: op.Post, Lines: noteLines(rec, op, t.Files())}}
		tr.Input = rec.Batch.Reply
	}
	op.After = State{Head: repo.Head{Ref: branch.ref, OID: tip}, Index: receipt.Tree, WorkTree: receipt.Tree, Flags: settled(photo.Flags)}
	tr.Refs = []repo.RefUpdate{{Name: branch.ref, Old: branch.tip, New: tip}}
	receipt.Branch, receipt.Base = short(branch.ref), baseName(branch.baseRef, branch.baseOID)
	receipt.Pre, receipt.Post = op.Pre, op.Post
	return nil
}

// settled gives the flags that entries keep when everything in the working tree is staged.
func settled(flags []repo.IndexFlag) []repo.IndexFlag {
	var kept []repo.IndexFlag
	for _, f := range flags {
		if !f.IntentToAdd {
			kept = append(kept, f)
		}
	}
	return kept
}

// changedPaths gives what differs between two trees; a file that disappeared and reappeared as it was is a rename.
func changedPaths(s *repo.Store, a, b repo.OID) ([]Changed, error) {
	diff, err := s.Diff(a, b)
	if err != nil {
		return nil, err
	}
	gone := map[repo.Blob][]string{}
	for _, d := range diff {
		if d.New.Mode == repo.ModeNone {
			gone[d.Old] = append(gone[d.Old], d.Path)
		}
	}
	renamed := map[string]bool{}
	var all []Changed
	for _, d := range diff {
		if from := gone[d.New]; d.Old.Mode == repo.ModeNone && len(from) > 0 {
			all = append(all, Changed{Path: d.Path, Status: "R", From: from[0]})
			renamed[from[0]] = true
			gone[d.New] = from[1:]
			continue
		}
		all = append(all, Changed{Path: d.Path, Status: d.Letter()})
	}
	kept := all[:0]
	for _, c := range all {
		if c.Status != "D" || !renamed[c.Path] {
			kept = append(kept, c)
		}
	}
	return kept, nil
}
