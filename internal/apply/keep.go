package apply

import (
	"fmt"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// keepable makes sure that what the last task removed or overwrote can be kept for undo: files that git has no copy of
// are stored before they go, up to the caps of a snapshot.
func (p *planner) keepable() *diag.Error {
	if p.o.Unkept == nil {
		return nil
	}
	seen := map[batch.Path]bool{}
	for _, u := range p.tree.undo {
		if n := p.tree.nodes[u.path]; n != nil && n.From != "" {
			seen[n.From] = true // it lives on under another name
		}
	}
	var total int64
	for _, u := range p.tree.undo {
		was := p.tree.before[u.path]
		if u.had || seen[u.path] || was == nil || was.Kind != Regular || p.tree.discarded(u.path) || !p.o.Unkept(u.path) {
			continue
		}
		seen[u.path] = true
		if was.Size > MaxKeptFile {
			return tooLargeToKeep(u.path, was.Size)
		}
		if total += was.Size; p.kept+total > MaxKept {
			return tooLargeToKeep(u.path, p.kept+total)
		}
	}
	p.kept += total
	return nil
}

func tooLargeToKeep(at batch.Path, size int64) *diag.Error {
	return diag.New(diag.FileTooLarge, "git has no copy of %s, and with %s it is too large to be kept for undo", at, megabytes(size)).In(string(at)).
		WithHint("do it by hand; or, to remove a directory that git ignores for good, use --discard-ignored")
}

// discardable reports whether a removal is of something that git ignores as a whole, is too large to be kept, and may go
// for good.
func (p *planner) discardable(at batch.Path) (bool, *diag.Error) {
	if !p.o.Discard || p.o.Ignored == nil || p.o.Unkept == nil || !p.o.Ignored(at) {
		return false, nil
	}
	var total int64
	whole, large := true, false
	err := p.tree.walk(at, func(q batch.Path, n *Node) *diag.Error {
		switch n.Kind {
		case Dir:
		case Regular:
			total += n.Size
			large = large || n.Size > MaxKeptFile
			fallthrough
		default:
			whole = whole && n.From == q && p.o.Unkept(q)
		}
		return nil
	})
	return whole && (large || p.kept+total > MaxKept), err
}

// discard removes at and everything below it for good.
func (p *planner) discard(r *Result, at batch.Path) *diag.Error {
	if err := p.take(at); err != nil {
		return err
	}
	p.tree.discards = append(p.tree.discards, at)
	r.Hint = fmt.Sprintf("%s is removed for good: undo does not bring it back", at)
	return nil
}
