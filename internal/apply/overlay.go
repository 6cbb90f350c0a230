package apply

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// overlay is a tree with changes in memory on top. A task's changes can be taken back until the next one starts.
type overlay struct {
	base     Tree
	nodes    map[batch.Path]*Node           // changed paths; nil means removed
	children map[batch.Path]map[string]bool // of each directory, the names that nodes knows about
	before   map[batch.Path]*Node           // what changed paths were in the base
	undo     []undoStep
	umask    fs.FileMode
	discards []batch.Path        // removed for good: what is below them is no change that could be taken back
	dirs     map[batch.Path]bool // directories of the base that are known to be plain directories
}

type undoStep struct {
	path batch.Path
	prev *Node
	had  bool
}

func newOverlay(base Tree) *overlay {
	return &overlay{
		base: base, nodes: map[batch.Path]*Node{}, children: map[batch.Path]map[string]bool{},
		before: map[batch.Path]*Node{}, dirs: map[batch.Path]bool{".": true},
	}
}

// begin forgets how to take back what came before.
func (o *overlay) begin() { o.undo = o.undo[:0] }

// rollback takes back everything since begin.
func (o *overlay) rollback() {
	for _, u := range slices.Backward(o.undo) {
		if u.had {
			o.nodes[u.path] = u.prev
		} else {
			delete(o.nodes, u.path)
		}
	}
	o.undo = o.undo[:0]
}

// lstat gives what is at p now, or nil.
func (o *overlay) lstat(p batch.Path) (*Node, *diag.Error) {
	if p == "." {
		return &Node{Kind: Dir, Perm: 0o777}, nil
	}
	if n, ok := o.nodes[p]; ok {
		return n, nil
	}
	return o.original(p)
}

// original gives what is at p in the base, or nil.
func (o *overlay) original(p batch.Path) (*Node, *diag.Error) {
	if n, ok := o.before[p]; ok {
		return n, nil
	}
	e, err := o.base.Lstat(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, systemError(err, p)
	}
	return &Node{Kind: e.Kind, Perm: e.Perm, From: p, Size: e.Size, Time: e.Time}, nil
}

// systemError gives an error of the file system its code.
func systemError(err error, p batch.Path) *diag.Error {
	var e *diag.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, fs.ErrNotExist):
		return notFound(p)
	case errors.Is(err, fs.ErrPermission):
		return diag.Wrap(err, diag.PermissionDenied, "the system denies access to %s", p).In(string(p)).With("system")
	}
	return diag.Wrap(err, diag.PermissionDenied, "%s: %v", p, err).In(string(p)).With("system")
}

func notFound(p batch.Path) *diag.Error {
	return diag.New(diag.FileNotFound, "%s does not exist", p).In(string(p))
}

// content gives the bytes of a file or the target of a link.
func (o *overlay) content(p batch.Path, n *Node) ([]byte, *diag.Error) {
	if n.From == "" {
		return n.Data, nil
	}
	data, err := o.base.Read(n.From)
	if err != nil {
		return nil, systemError(err, p)
	}
	return data, nil
}

// set puts n at p; nil removes what is there.
func (o *overlay) set(p batch.Path, n *Node) *diag.Error {
	if _, known := o.before[p]; !known {
		was, err := o.original(p)
		if err != nil {
			return err
		}
		o.before[p] = was
	}
	prev, had := o.nodes[p]
	o.undo = append(o.undo, undoStep{p, prev, had})
	o.nodes[p] = n
	dir := parent(p)
	if o.children[dir] == nil {
		o.children[dir] = map[string]bool{}
	}
	o.children[dir][path.Base(string(p))] = true
	return nil
}

func parent(p batch.Path) batch.Path { return batch.Path(path.Dir(string(p))) }

func join(dir batch.Path, name string) batch.Path { return batch.Path(path.Join(string(dir), name)) }

// list gives the names in directory p, sorted.
func (o *overlay) list(p batch.Path) ([]string, *diag.Error) {
	var names []string
	if was, err := o.original(p); err != nil {
		return nil, err
	} else if p == "." || (was != nil && was.Kind == Dir) {
		entries, err := o.base.List(p)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, systemError(err, p)
		}
		for _, e := range entries {
			names = append(names, e.Name)
		}
	}
	present := make(map[string]bool, len(names))
	kept := names[:0]
	for _, name := range names {
		if n, changed := o.nodes[join(p, name)]; !changed || n != nil {
			kept = append(kept, name)
			present[name] = true
		}
	}
	for name := range o.children[p] {
		if n := o.nodes[join(p, name)]; n != nil && !present[name] {
			kept = append(kept, name)
		}
	}
	sort.Strings(kept)
	return kept, nil
}

// checkParents makes sure that every directory above p is a plain directory. What is missing is no error here.
func (o *overlay) checkParents(p batch.Path) *diag.Error {
	for i, c := range string(p) {
		if c != '/' {
			continue
		}
		dir := p[:i]
		if _, changed := o.nodes[dir]; !changed && o.dirs[dir] {
			continue
		}
		n, err := o.lstat(dir)
		if err != nil {
			return err
		}
		if n == nil {
			return nil
		}
		switch n.Kind {
		case Dir:
			if n.From != "" {
				o.dirs[dir] = true
			}
		case Symlink:
			return throughLink(p, dir)
		case Submodule:
			return denied(p, "%s is inside the submodule or nested repository %s", p, dir)
		default:
			err := diag.New(diag.NotDirectory, "%s is not a directory", dir).In(string(p))
			if dir == parent(p) {
				err.With("parent is a file")
			}
			return err
		}
	}
	return nil
}

func throughLink(p, link batch.Path) *diag.Error {
	return diag.New(diag.SymlinkNotAllowed, "%s is a symbolic link", link).In(string(p)).
		WithHint("name the file that the link points to")
}

// makeParents creates the missing directories above p and gives them, outermost first.
func (o *overlay) makeParents(p batch.Path) ([]batch.Path, *diag.Error) {
	dir := parent(p)
	if dir == "." {
		return nil, nil
	}
	n, err := o.lstat(dir)
	if err != nil || n != nil {
		return nil, err // the kind of what is there has been checked
	}
	made, err := o.makeParents(dir)
	if err != nil {
		return nil, err
	}
	return append(made, dir), o.set(dir, &Node{Kind: Dir, Perm: 0o777 &^ o.umask})
}

// walk calls visit for p and everything below it, parents first.
func (o *overlay) walk(p batch.Path, visit func(batch.Path, *Node) *diag.Error) *diag.Error {
	return o.walkIf(p, func(batch.Path) bool { return true }, visit)
}

// walkIf is walk for the paths that are wanted; what is below an unwanted one is not looked at.
func (o *overlay) walkIf(p batch.Path, wanted func(batch.Path) bool, visit func(batch.Path, *Node) *diag.Error) *diag.Error {
	if !wanted(p) {
		return nil
	}
	n, err := o.lstat(p)
	if err != nil || n == nil {
		return err
	}
	if err := visit(p, n); err != nil {
		return err
	}
	if n.Kind != Dir {
		return nil
	}
	names, err := o.list(p)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := o.walkIf(join(p, name), wanted, visit); err != nil {
			return err
		}
	}
	return nil
}

// changes gives the paths that are not what they were, sorted.
func (o *overlay) changes() []Change {
	var all []Change
	for p, after := range o.nodes {
		if o.discarded(p) {
			continue
		}
		before := o.before[p]
		if same(p, before, after) || o.sameContent(before, after) {
			continue
		}
		all = append(all, Change{Path: p, Before: before, After: after})
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Path < all[j].Path })
	return all
}

// discarded reports whether a path was removed for good.
func (o *overlay) discarded(p batch.Path) bool {
	for _, d := range o.discards {
		if p == d || strings.HasPrefix(string(p), string(d)+"/") {
			return true
		}
	}
	return false
}

// same reports whether a path is untouched. Content that was rewritten to the same bytes has been put back as From by
// the op that did it.
func same(p batch.Path, before, after *Node) bool {
	if before == nil || after == nil {
		return before == nil && after == nil
	}
	if before.Kind != after.Kind {
		return false
	}
	if before.Kind == Dir {
		return true
	}
	return after.From == p && before.Perm == after.Perm
}

// sameContent reports whether several tasks together brought a file back to what it was.
func (o *overlay) sameContent(before, after *Node) bool {
	if before == nil || after == nil || before.Kind != Regular || after.Kind != Regular || before.Perm != after.Perm {
		return false
	}
	if after.From != "" || int64(len(after.Data)) != before.Size {
		return false
	}
	was, err := o.base.Read(before.From)
	return err == nil && bytes.Equal(was, after.Data)
}

// similar gives the names near a missing path: the same name in another case or with another ending, or with up to two
// letters wrong.
func (o *overlay) similar(p batch.Path) []string {
	dir := parent(p)
	if n, err := o.lstat(dir); err != nil || n == nil || n.Kind != Dir {
		return nil
	}
	names, err := o.list(dir)
	if err != nil {
		return nil
	}
	base := path.Base(string(p))
	stem := strings.TrimSuffix(base, path.Ext(base))
	var found []string
	for _, name := range names {
		sameStem := stem != "" && strings.EqualFold(strings.TrimSuffix(name, path.Ext(name)), stem)
		if strings.EqualFold(name, base) || sameStem || closeTo(name, base) {
			found = append(found, string(join(dir, name)))
		}
	}
	return found[:min(len(found), 3)]
}

// closeTo reports whether two names differ in at most two letters, and agree in most.
func closeTo(a, b string) bool {
	const most = 2
	if len(a) > 64 || len(b) > 64 || len(a)-len(b) > most || len(b)-len(a) > most || min(len(a), len(b)) <= 2*most {
		return false
	}
	row := make([]int, len(b)+1) // of the table of edit distances
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)] <= most
}
