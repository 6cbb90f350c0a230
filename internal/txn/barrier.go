package txn

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/repo"
)

// Bracket is the state right before a command runs that may change anything.
type Bracket struct {
	Tree repo.OID // the working tree as git would store it
	scan *repo.Scan
	sign repo.Sign
	raw  map[string]FileState // by their very bytes, files that git stores otherwise
}

// Found is what a command changed, as far as it can be seen.
type Found struct {
	Tree       repo.OID  // the working tree afterwards
	Changed    []Changed // between the two trees
	Repository []string  // what changed below .git: HEAD, refs, config, hooks
	Unsaved    []string  // changed files whose former content was too large to be kept
	Unfinished string    // what the command has begun and not ended, such as a merge; "" if nothing
	Gone       bool      // there is no repository any more
}

// Moved reports whether the branch that batches are committed on is another one now, or stands elsewhere.
func (f *Found) Moved(head repo.Head) bool {
	return f.Unfinished != "" || slices.Contains(f.Repository, "HEAD") || head.Ref != "" && slices.Contains(f.Repository, head.Ref)
}

// Open is a barrier before a command that may change anything: everything staged is on the disk, and what is there is
// known exactly. If we die while it runs, a recovery puts back what we did, and says that the command was running.
func (t *Tx) Open(ctx context.Context, command string) (*Bracket, error) {
	if err := t.Flush(ctx); err != nil {
		return nil, err
	}
	if !t.keptIndex {
		if err := t.Repo.KeepIndex(); err != nil {
			return nil, err
		}
		t.keptIndex = true
	}
	t.journal.Running = command
	b := &Bracket{}
	var err error
	if b.scan, b.Tree, err = t.lookAround(ctx); err != nil {
		return nil, err
	}
	if b.sign, err = t.Repo.Sign(ctx); err != nil {
		return nil, err
	}
	b.raw, err = t.saveConverted(b.scan)
	if err == nil {
		err = t.protect()
	}
	return b, err
}

// lookAround scans the working tree thoroughly, with the index as it is now.
func (t *Tx) lookAround(ctx context.Context) (*repo.Scan, repo.OID, error) {
	x, err := t.Repo.ReadIndex(ctx)
	if err != nil {
		return nil, "", err
	}
	scan, err := t.Repo.ScanThoroughly(ctx, x)
	if err != nil {
		return nil, "", err
	}
	index, err := x.WriteTree(t.Repo.Objects)
	if err != nil {
		return nil, "", err
	}
	tree, err := t.Repo.Objects.Overlay(index, scan.Changes())
	return scan, tree, err
}

// saveConverted stores the very bytes of files that git stores otherwise, such as those with CRLF or a filter, up to the
// caps of a snapshot.
func (t *Tx) saveConverted(scan *repo.Scan) (map[string]FileState, error) {
	raw := map[string]FileState{}
	var total int64
	save := func(p string) error {
		if !scan.Converts(p) {
			return nil
		}
		st, err := t.root.lstat(p)
		if err != nil || uint32(st.Mode)&typeMask != typeFile {
			return nil
		}
		if total += st.Size; st.Size > repo.MaxUntrackedFile || total > repo.MaxUntracked {
			return nil
		}
		raw[p], err = t.Look(p)
		return err
	}
	for i := range scan.Index.Entries {
		if err := save(scan.Index.Entries[i].Path); err != nil {
			return nil, err
		}
	}
	for _, f := range scan.Files {
		if f.Untracked {
			if err := save(f.Path); err != nil {
				return nil, err
			}
		}
	}
	return raw, nil
}

// Shut is the barrier behind a command: what it changed becomes part of the operation, so that it is recorded, and taken
// back with the rest.
func (t *Tx) Shut(ctx context.Context, b *Bracket) (*Found, error) {
	f := &Found{}
	sign, err := t.Repo.Sign(ctx)
	if errors.Is(err, repo.ErrGone) {
		t.Abandon()
		return &Found{Gone: true}, nil
	}
	if err != nil {
		return nil, err
	}
	f.Repository = b.sign.Changed(sign)
	scan, tree, err := t.lookAround(ctx)
	if err != nil {
		return nil, err
	}
	f.Tree = tree
	if name, _ := t.Repo.InProgress(); name != "" {
		f.Unfinished = name + " in progress"
	} else if conflicts := scan.Index.Conflicts(); len(conflicts) > 0 {
		f.Unfinished = "a conflict in " + some(conflicts)
	}
	if f.Changed, err = changedPaths(t.Repo.Objects, b.Tree, tree); err != nil {
		return nil, err
	}
	files, err := t.between(b, scan, f)
	if err != nil {
		return nil, err
	}
	if files, err = t.alsoOurs(files); err != nil {
		return nil, err
	}
	t.Photo.Scan.Adopt(scan)
	t.journal.Running = ""
	t.written = append(t.written, files...)
	t.journal.Files = append(t.journal.Files, files...)
	return f, t.protect()
}

// between gives the changes that lead from the bracket to now, by their very bytes.
func (t *Tx) between(b *Bracket, scan *repo.Scan, f *Found) ([]FileChange, error) {
	diff, err := t.Repo.Objects.Diff(b.Tree, f.Tree)
	if err != nil {
		return nil, err
	}
	var files []FileChange
	differs := map[string]bool{}
	for _, d := range diff {
		if d.Old.Mode == repo.ModeGitlink || d.New.Mode == repo.ModeGitlink {
			continue
		}
		differs[d.Path] = true
		t.follow(d, scan)
		if d.Old.Mode == repo.ModeNone && b.unknown(d.Path) {
			continue // it may have been there before, unseen: undo must not remove it
		}
		after, err := t.Look(d.Path)
		if err != nil {
			return nil, err
		}
		before, known, err := t.stateBefore(b, d)
		if err != nil {
			return nil, err
		}
		if !known {
			f.Unsaved = append(f.Unsaved, d.Path)
			continue
		}
		files = append(files, FileChange{Path: d.Path, Before: before, After: after})
	}
	for _, p := range changedKeys(b.scan.Perms, scan.Perms) {
		if differs[p] {
			continue
		}
		after, err := t.Look(p)
		if err != nil || !after.IsFile() {
			return nil, err
		}
		before := after
		before.Mode = typeFile | permOf(b.scan.Perms, p, after.Mode)
		files = append(files, FileChange{Path: p, Before: before, After: after})
	}
	return merged(files, b.directories(scan)), nil
}

// alsoOurs adds what a command did to files that the tasks before it had changed and that no scan sees, since git ignores
// them.
func (t *Tx) alsoOurs(files []FileChange) ([]FileChange, error) {
	found := make(map[string]bool, len(files))
	for _, c := range files {
		found[c.Path] = true
	}
	for _, c := range joined(t.written) {
		if found[c.Path] {
			continue
		}
		now, err := t.root.state(c.Path)
		if err != nil {
			return nil, cannotWrite(err)
		}
		if now.same(c.After) {
			continue
		}
		if now, err = t.Look(c.Path); err != nil {
			return nil, err
		}
		files = append(files, FileChange{Path: c.Path, Before: c.After, After: now})
	}
	return files, nil
}

// merged adds directories to the changes of files: where one took the place of the other, it is one change.
func merged(files, dirs []FileChange) []FileChange {
	at := make(map[string]int, len(files))
	for i, c := range files {
		at[c.Path] = i
	}
	for _, d := range dirs {
		i, known := at[d.Path]
		switch {
		case !known:
			files = append(files, d)
		case d.After.absent():
			files[i].Before = d.Before
		default:
			files[i].After = d.After
		}
	}
	return files
}

// follow takes note of files that a command put into the index or took out of it although they are ignored: what is
// committed has them, or not, as the index has.
func (t *Tx) follow(d repo.TreeChange, scan *repo.Scan) {
	tracked := scan.Index.Find(d.Path) != nil
	if tracked == (d.New.Mode != repo.ModeNone) {
		if t.followed == nil {
			t.followed = map[string]repo.Blob{}
		}
		t.followed[d.Path] = d.New
	}
}

// stateBefore gives what stood at a path before the command, by its very bytes where they are known. They are not where
// git stores them otherwise and they were too large to keep, or where the attributes changed after the checkout, so that
// the file is not what they say now.
func (t *Tx) stateBefore(b *Bracket, d repo.TreeChange) (s FileState, known bool, err error) {
	if raw, ok := b.raw[d.Path]; ok {
		return raw, true, nil
	}
	s = stateOf(d.Old)
	if s.kind() != typeFile {
		return s, true, nil
	}
	s.Mode = typeFile | permOf(b.scan.Perms, d.Path, s.Mode)
	if b.scan.Converts(d.Path) {
		return s, false, nil
	}
	e := b.scan.Index.Find(d.Path)
	if e == nil || b.scan.Index.OID(e) != d.Old.OID || b.scan.Index.FileSize(e) == 0 {
		return s, true, nil // it was read, not only looked up in the index
	}
	content, err := t.content(s.Blob)
	return s, uint32(len(content)) == b.scan.Index.FileSize(e), err
}

// unknown reports whether nobody looked at a path before the command: git ignored it, it was in a repository of its own,
// or too large for a snapshot.
func (b *Bracket) unknown(p string) bool {
	return b.scan.WasClosed(p) || slices.Contains(b.scan.LeftOut, p)
}

// permOf gives the permissions of a file: what was noted, else what git gives it.
func permOf(noted map[string]uint32, p string, mode uint32) uint32 {
	if perm, ok := noted[p]; ok {
		return perm
	}
	if mode&0o100 != 0 {
		return 0o755
	}
	return 0o644
}

func changedKeys(a, b map[string]uint32) []string {
	var changed []string
	for p, v := range a {
		if w, ok := b[p]; !ok || w != v {
			changed = append(changed, p)
		}
	}
	for p := range b {
		if _, ok := a[p]; !ok {
			changed = append(changed, p)
		}
	}
	slices.Sort(changed)
	return changed
}

// directories gives the directories that came and went.
func (b *Bracket) directories(scan *repo.Scan) []FileChange {
	var files []FileChange
	for _, p := range slices.Sorted(maps.Keys(scan.Dirs)) {
		if _, was := b.scan.Dirs[p]; !was && !b.unknown(p) {
			files = append(files, FileChange{Path: p, After: FileState{Mode: typeDir | scan.Dirs[p]}})
		}
	}
	for _, p := range slices.Sorted(maps.Keys(b.scan.Dirs)) {
		if _, is := scan.Dirs[p]; !is {
			files = append(files, FileChange{Path: p, Before: FileState{Mode: typeDir | b.scan.Dirs[p]}})
		}
	}
	return files
}

// joined makes one change of all changes of a path, in the order of the first ones, and drops those that came to nothing.
func joined(files []FileChange) []FileChange {
	first := map[string]int{}
	all := make([]FileChange, 0, len(files))
	for _, c := range files {
		if i, ok := first[c.Path]; ok {
			all[i].After = c.After
			continue
		}
		first[c.Path] = len(all)
		all = append(all, c)
	}
	return slices.DeleteFunc(all, func(c FileChange) bool { return c.Before.same(c.After) })
}

// Abandon leaves everything as it is and forgets the operation: nothing is recorded and nothing put back. It is for a
// repository that a command has broken, in which to go on would break more.
func (t *Tx) Abandon() {
	j := t.journal
	t.journal = nil
	if j == nil {
		return
	}
	if now, err := t.Repo.Ref(j.Log); err == nil && now == j.Pending {
		t.Repo.UpdateRefs([]repo.RefUpdate{{Name: j.Log, Old: j.Pending, New: j.Begin}}, j.Message+" (abandoned)")
	}
	t.Repo.ForgetIndex()
	removeJournal(t.Repo)
}

// said gives the words of an error without its code.
func said(err error) string {
	var e *diag.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// CommitMoved records a batch of which a command moved HEAD or the branch itself: there is nothing left to commit, and
// what the repository is now is what the operation led to. Undo leads back.
func (t *Tx) CommitMoved(ctx context.Context, rec Record, f *Found, b *Bracket) (*Receipt, error) {
	now, err := Photograph(ctx, t.Repo.Renewed())
	if err == nil {
		err = Ready(t.Repo)
	}
	if err != nil {
		t.Abandon()
		return nil, diag.Wrap(err, diag.ExternalModification, "the command left a repository that cannot be recorded: %s", said(err)).
			WithHint("everything is as the command left it; nothing was committed here, and undo knows nothing of it")
	}
	input, err := t.Repo.Objects.WriteBlob(rec.Batch.Reply)
	if err != nil {
		return nil, err
	}
	t.keep = append(t.keep, input)
	tr := Transition{
		Op: Op{
			Batch: rec.ID, Summary: summary(rec.Results), Input: input, Tasks: len(rec.Results), Failed: failures(rec.Results) + rec.Problems,
			After: now.State, Trees: commandTrees(rec.Results),
		},
		Cursor: Cursor{Self: true},
	}
	for _, name := range f.Repository {
		if strings.HasPrefix(name, "refs/heads/") {
			at, err := t.Repo.Ref(name)
			if err != nil {
				return nil, err
			}
			tr.Moved = append(tr.Moved, repo.RefUpdate{Name: name, Old: repo.OID(b.sign[name]), New: at})
		}
	}
	t.before, t.Photo = &t.Photo.State, now
	t.journal.Before = now.Head
	receipt := &Receipt{Moved: true, Tree: now.WorkTree, LeftOut: now.LeftOut}
	if receipt.Changed, err = changedPaths(t.Repo.Objects, t.before.WorkTree, now.WorkTree); err != nil {
		return nil, err
	}
	receipt.Op, err = t.Commit(ctx, tr)
	return receipt, err
}

// FlushStaged is a barrier before a command that changes nothing: what is staged is on the disk.
func (t *Tx) FlushStaged(ctx context.Context) error {
	if len(t.staged)+len(t.discards) == 0 {
		return nil
	}
	return t.Flush(ctx)
}
