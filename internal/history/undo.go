package history

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/repo"
	"github.com/git-clada/git-clada/internal/txn"
)

// Moved says what undo or redo did.
type Moved struct {
	Op     *txn.Op   // the operation that was taken back or brought back
	Files  []string  // that changed
	Head   repo.Head // where HEAD is now
	Branch string    // short name of the branch, "" if detached
}

// Undo takes back the last operation that is in force. If anything changed since, it changes nothing.
func Undo(ctx context.Context, r *repo.Repo, o txn.Options) (*Moved, error) {
	tx, err := txn.Begin(ctx, r, o)
	if err != nil {
		return nil, err
	}
	defer tx.Close()
	op, err := tx.Log.Current()
	if err != nil {
		return nil, err
	}
	if op == nil {
		return nil, diag.New(diag.InvalidArgument, "there is nothing to undo").WithHint("git clada log shows what was done")
	}
	changes := make([]txn.FileChange, len(op.Files))
	for i, c := range op.Files {
		changes[i] = c.Reversed()
	}
	return travel(ctx, tx, op, step{from: op.After, to: op.Before, files: changes, cursor: op.Cursor, verb: "undo"})
}

// Redo brings back the operation that undo took back last. If anything changed since, it changes nothing.
func Redo(ctx context.Context, r *repo.Repo, o txn.Options) (*Moved, error) {
	tx, err := txn.Begin(ctx, r, o)
	if err != nil {
		return nil, err
	}
	defer tx.Close()
	op, err := tx.Log.Redoable()
	if err != nil {
		return nil, err
	}
	if op == nil {
		return nil, diag.New(diag.InvalidArgument, "there is nothing to redo").
			WithHint("redo brings back what undo took back, as long as nothing else was done since")
	}
	return travel(ctx, tx, op, step{from: op.Before, to: op.After, files: op.Files, cursor: op.OID, verb: "redo"})
}

// step is a way from one recorded state to another.
type step struct {
	from, to txn.State
	files    []txn.FileChange
	cursor   repo.OID
	verb     string
}

func travel(ctx context.Context, tx *txn.Tx, op *txn.Op, s step) (*Moved, error) {
	if err := unchanged(ctx, tx, s); err != nil {
		return nil, err
	}
	edit, err := IndexEdit(tx.Repo.Objects, tx.Photo.State, s.to)
	if err != nil {
		return nil, err
	}
	files, err := tx.Fit(s.files)
	if err != nil {
		return nil, err
	}
	tx.StageFiles(files)
	tr := txn.Transition{
		Op:     txn.Op{Batch: op.Batch, Summary: s.verb + " " + op.Kind, Target: op.OID, After: s.to},
		Index:  edit,
		Cursor: txn.Cursor{To: s.cursor},
	}
	for _, name := range slices.Sorted(maps.Keys(s.from.Refs)) {
		tr.Refs = append(tr.Refs, repo.RefUpdate{Name: name, Old: s.from.Refs[name], New: s.to.Refs[name]})
	}
	if _, err := tx.Commit(ctx, tr); err != nil {
		return nil, err
	}
	m := &Moved{Op: op, Head: s.to.Head, Branch: strings.TrimPrefix(s.to.Head.Ref, "refs/heads/")}
	for _, c := range s.files {
		m.Files = append(m.Files, c.Path)
	}
	return m, nil
}

// unchanged makes sure that the repository is as the operation left it.
func unchanged(ctx context.Context, tx *txn.Tx, s step) error {
	found, err := Differences(tx.Repo, tx.Photo.State, s.from)
	if err != nil || len(found) == 0 {
		return err
	}
	const most = 10
	list := found[:min(len(found), most)]
	hint := strings.Join(list, "\n")
	if more := len(found) - len(list); more > 0 {
		hint += fmt.Sprintf("\nand %d more", more)
	}
	return diag.New(diag.ExternalModification, "something changed since that operation, so %s stops and changes nothing", s.verb).
		WithHint("%s\nput that aside first (git stash, or a commit on another branch), then try again", hint)
}

// Differences lists, for people, what differs between the present state and a recorded one.
func Differences(r *repo.Repo, now, then txn.State) ([]string, error) {
	var found []string
	if now.Head != then.Head {
		found = append(found, fmt.Sprintf("HEAD is at %s, it was at %s", HeadText(now.Head), HeadText(then.Head)))
	}
	for _, name := range slices.Sorted(maps.Keys(then.Refs)) {
		at, err := r.Ref(name)
		if err != nil {
			return nil, err
		}
		if at != then.Refs[name] && name != now.Head.Ref {
			found = append(found, fmt.Sprintf("%s is at %s, it was at %s", name, orNone(at), orNone(then.Refs[name])))
		}
	}
	for _, side := range []struct {
		what      string
		now, then repo.OID
	}{{"staged", now.Index, then.Index}, {"changed", now.WorkTree, then.WorkTree}} {
		diff, err := r.Objects.Diff(side.then, side.now)
		if err != nil {
			return nil, err
		}
		for _, d := range diff {
			found = append(found, side.what+": "+d.Path)
		}
	}
	if !slices.Equal(announced(now.Flags), announced(then.Flags)) {
		found = append(found, "staged: files announced with git add --intent-to-add")
	}
	return found, nil
}

func announced(flags []repo.IndexFlag) []string {
	var paths []string
	for _, f := range flags {
		if f.IntentToAdd {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// HeadText writes where HEAD is, for people.
func HeadText(h repo.Head) string {
	switch {
	case h.Unborn():
		return strings.TrimPrefix(h.Ref, "refs/heads/") + " (no commit yet)"
	case h.Detached():
		return h.OID.Short() + " (detached)"
	}
	return strings.TrimPrefix(h.Ref, "refs/heads/") + " " + h.OID.Short()
}

func orNone(o repo.OID) string {
	if o == "" {
		return "nothing"
	}
	return o.Short()
}

// IndexEdit gives what brings the index from one state to another, when the working tree is that of the second.
func IndexEdit(s *repo.Store, from, to txn.State) (repo.IndexEdit, error) {
	edit := repo.IndexEdit{Set: map[string]repo.Blob{}, Refresh: map[string]repo.Blob{}}
	diff, err := s.Diff(from.Index, to.Index)
	if err != nil {
		return edit, err
	}
	dirty, err := s.Diff(to.Index, to.WorkTree)
	if err != nil {
		return edit, err
	}
	isDirty := make(map[string]bool, len(dirty))
	for _, d := range dirty {
		isDirty[d.Path] = true
	}
	for _, d := range diff {
		if d.New.Mode == repo.ModeNone || d.New.Mode == repo.ModeGitlink || isDirty[d.Path] {
			edit.Set[d.Path] = d.New
		} else {
			edit.Refresh[d.Path] = d.New
		}
	}
	had := announced(from.Flags)
	for _, f := range to.Flags {
		_, isSet := edit.Set[f.Path]
		_, isRefreshed := edit.Refresh[f.Path]
		if f.IntentToAdd && !slices.Contains(had, f.Path) || f.AssumeValid && (isSet || isRefreshed) {
			edit.Flags = append(edit.Flags, f)
		}
	}
	keep := announced(to.Flags)
	for _, path := range had {
		_, isSet := edit.Set[path]
		_, isRefreshed := edit.Refresh[path]
		if !isSet && !isRefreshed && !slices.Contains(keep, path) {
			edit.Set[path] = repo.Blob{}
		}
	}
	return edit, nil
}
