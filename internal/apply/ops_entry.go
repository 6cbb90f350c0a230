package apply

import (
	"path"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// entry resolves a path whose entry itself is moved or removed. A link may be the entry, but not with a slash behind it,
// which would name what it points to.
func (p *planner) entry(raw, dir string) (batch.Path, *Node, *diag.Error) {
	at, n, err := p.look(raw, dir)
	if err != nil {
		return at, nil, err
	}
	if err := p.mayWrite(at, false); err != nil {
		return at, nil, err
	}
	if n == nil || !strings.HasSuffix(raw, "/") {
		return at, n, nil
	}
	switch n.Kind {
	case Symlink:
		return at, nil, throughLink(at, at)
	case Regular, Special:
		return at, nil, diag.New(diag.NotDirectory, "%s is not a directory", at).In(string(at))
	}
	return at, n, nil
}

// mayTake makes sure that everything below at may be moved, removed or overwritten.
func (p *planner) mayTake(at batch.Path) *diag.Error {
	return p.tree.walk(at, func(q batch.Path, n *Node) *diag.Error {
		switch n.Kind {
		case Submodule:
			return denied(at, "%s is a submodule or nested repository", q)
		case Special:
			return denied(at, "%s is a FIFO, socket or device", q)
		}
		return p.mayWrite(q, false)
	})
}

func (p *planner) remove(r *Result, raw, dir string, op batch.Remove) *diag.Error {
	at, n, err := p.entry(raw, dir)
	if at != "" {
		r.Path = string(at)
	}
	if err != nil && op.Force && err.Case == "parent is a file" {
		return nil // below a file nothing can be
	}
	if err != nil {
		return err
	}
	if n == nil {
		if op.Force {
			return nil
		}
		r.AlreadyApplied = true
		return notFound(at)
	}
	if op.OnlyDir && n.Kind != Dir {
		return diag.New(diag.NotDirectory, "%s is not a directory", at).In(string(at))
	}
	if n.Kind == Dir && !op.Recursive {
		names, err := p.tree.list(at)
		if err != nil {
			return err
		}
		if !op.EmptyDir {
			return diag.New(diag.IsDirectory, "%s is a directory", at).In(string(at)).WithHint("use rm -r to remove a directory")
		}
		if len(names) > 0 {
			return notEmpty(at)
		}
	}
	files := 0
	if n.Kind == Dir {
		if err := p.tree.walk(at, func(_ batch.Path, n *Node) *diag.Error {
			if n.Kind != Dir {
				files++
			}
			return nil
		}); err != nil {
			return err
		}
	}
	remove := p.take
	if gone, err := p.discardable(at); err != nil {
		return err
	} else if gone {
		remove = func(at batch.Path) *diag.Error { return p.discard(r, at) }
	}
	if err := remove(at); err != nil {
		return err
	}
	verb := "removed"
	if n.Kind == Dir && !op.Recursive {
		verb = "removed-directory"
	}
	r.Did = append(r.Did, Effect{Verb: verb, Path: at, Files: files})
	return nil
}

func notEmpty(at batch.Path) *diag.Error {
	return diag.New(diag.DirectoryNotEmpty, "%s is not empty", at).In(string(at))
}

// take removes at and everything below it.
func (p *planner) take(at batch.Path) *diag.Error {
	if err := p.mayTake(at); err != nil {
		return err
	}
	var below []batch.Path
	if err := p.tree.walk(at, func(q batch.Path, _ *Node) *diag.Error {
		below = append(below, q)
		return nil
	}); err != nil {
		return err
	}
	for _, q := range below {
		if err := p.tree.set(q, nil); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) mkdir(r *Result, raw, dir string, parents bool) *diag.Error {
	at, n, err := p.look(raw, dir)
	if at != "" {
		r.Path = string(at)
	}
	if err != nil {
		return err
	}
	if n != nil {
		switch {
		case n.Kind == Dir && parents:
			return nil
		case n.Kind == Symlink:
			return throughLink(at, at)
		}
		r.AlreadyApplied = n.Kind == Dir
		return diag.New(diag.FileExists, "%s exists already", at).In(string(at)).With("", "what", "file")
	}
	if err := p.mayWrite(at, true); err != nil {
		return err
	}
	if parents {
		_, err = p.tree.makeParents(at)
	} else if up, lookErr := p.tree.lstat(parent(at)); lookErr != nil || up == nil {
		err = notFound(parent(at)).WithHint("use mkdir -p to make the directories above it too")
	}
	if err != nil {
		return err
	}
	r.Did = append(r.Did, Effect{Verb: "created-directory", Path: at})
	return p.tree.set(at, &Node{Kind: Dir, Perm: 0o777 &^ p.o.Umask})
}

func (p *planner) rmdir(r *Result, op batch.Rmdir) *diag.Error {
	at, n, err := p.entry(op.Path, "")
	if at != "" {
		r.Path = string(at)
	}
	if err != nil {
		return err
	}
	switch {
	case n == nil:
		r.AlreadyApplied = true
		return notFound(at)
	case n.Kind != Dir:
		return diag.New(diag.NotDirectory, "%s is not a directory", at).In(string(at))
	}
	return p.remove(r, op.Path, "", batch.Remove{EmptyDir: true})
}

func (p *planner) touch(r *Result, raw, dir string, noCreate bool) *diag.Error {
	at, n, err := p.look(raw, dir)
	if at != "" {
		r.Path = string(at)
	}
	if err != nil {
		return err
	}
	if n != nil {
		if n.Kind == Symlink {
			return throughLink(at, at)
		}
		if n.Kind != Dir && strings.HasSuffix(raw, "/") {
			return diag.New(diag.NotDirectory, "%s is not a directory", at).In(string(at))
		}
		return p.mayWrite(at, false)
	}
	if noCreate {
		return nil
	}
	if strings.HasSuffix(raw, "/") {
		return diag.New(diag.NotDirectory, "%s is not a directory", at).In(string(at))
	}
	if err := p.mayWrite(at, true); err != nil {
		return err
	}
	if up, lookErr := p.tree.lstat(parent(at)); lookErr != nil || up == nil {
		return notFound(parent(at)).WithHint("make the directory first")
	}
	r.Did = append(r.Did, Effect{Verb: "touched", Path: at})
	return p.tree.set(at, &Node{Kind: Regular, Perm: 0o666 &^ p.o.Umask, Data: []byte{}})
}

// caseTwin gives a path beside p whose name differs from p's only in case, or "".
func (o *overlay) caseTwin(p batch.Path) batch.Path {
	dir := parent(p)
	if n, err := o.lstat(dir); err != nil || n == nil {
		return ""
	}
	names, err := o.list(dir)
	if err != nil {
		return ""
	}
	base := path.Base(string(p))
	for _, name := range names {
		if name != base && strings.EqualFold(name, base) {
			return join(dir, name)
		}
	}
	return ""
}
