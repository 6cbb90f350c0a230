package apply

import (
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// destination prepares to as the place of a copy or move of from: what may be overwritten is taken away.
func (p *planner) destination(from batch.Path, n *Node, to batch.Path, was *Node, overwrite bool) *diag.Error {
	if err := p.mayWrite(to, was == nil); err != nil {
		return err
	}
	if n.Kind == Dir && (to == from || strings.HasPrefix(string(to), string(from)+"/")) {
		return diag.New(diag.InvalidArgument, "%s cannot go into itself", from).In(string(from)).With("into itself")
	}
	if was == nil {
		_, err := p.tree.makeParents(to)
		return err
	}
	switch {
	case !overwrite:
		return diag.New(diag.FileExists, "%s exists already", to).In(string(to)).With("destination exists", "destination", string(to))
	case was.Kind == Dir && n.Kind != Dir:
		return diag.New(diag.IsDirectory, "%s is a directory", to).In(string(to))
	case was.Kind != Dir && n.Kind == Dir:
		return diag.New(diag.NotDirectory, "%s is not a directory", to).In(string(to))
	case was.Kind == Dir:
		names, err := p.tree.list(to)
		if err != nil {
			return err
		}
		if len(names) > 0 {
			return notEmpty(to)
		}
	}
	return p.take(to)
}

func (p *planner) move(r *Result, rawFrom, rawTo, dir string, overwrite bool) *diag.Error {
	from, n, err := p.entry(rawFrom, dir)
	if from != "" {
		r.Path = string(from)
	}
	if err != nil {
		return err
	}
	if n == nil {
		return p.missing(from)
	}
	to, was, err := p.look(rawTo, dir)
	if err != nil {
		return err
	}
	if from == to {
		return sameEnds(from, rawFrom, rawTo)
	}
	if p.leadsTo(from, n, to) {
		return diag.New(diag.InvalidArgument, "%s is a link to %s: moving it there would leave neither", from, to).In(string(from)).
			WithHint("remove the link, or move what it points to")
	}
	if err := p.mayTake(from); err != nil {
		return err
	}
	if err := p.destination(from, n, to, was, overwrite); err != nil {
		return err
	}
	if err := p.duplicate(from, to, nil); err != nil {
		return err
	}
	if err := p.take(from); err != nil {
		return err
	}
	r.Did = append(r.Did, Effect{Verb: "moved", Path: from, To: to})
	return nil
}

func sameEnds(from batch.Path, rawFrom, rawTo string) *diag.Error {
	return diag.New(diag.InvalidArgument, "%s and %s are the same", rawFrom, rawTo).In(string(from)).
		WithHint("name another destination").With("source and destination are the same", "from", string(from))
}

// moveOp finds the destination of a Move before it is carried out.
func (p *planner) moveOp(r *Result, op batch.Move) *diag.Error {
	from, n, err := p.look(op.From, "")
	if err != nil {
		return err
	}
	to, was, err := p.look(op.To, "")
	if err != nil {
		return err
	}
	if op.SameIsOK && from == to && n != nil {
		r.Path = string(from)
		r.fact("overwrote", true)
		return p.mayWrite(from, false)
	}
	if !op.SameIsOK && from == to {
		r.Path = string(from)
		return sameEnds(from, op.From, op.To)
	}
	target := op.To
	if op.Into && n != nil && from != to {
		isDir := was != nil && was.Kind == Dir
		if isDir || (strings.HasSuffix(op.To, "/") && n.Kind != Dir) {
			target = path.Join(op.To, path.Base(string(from)))
			if path.IsAbs(op.To) {
				target = string(join(to, path.Base(string(from))))
			}
		}
	}
	if was != nil {
		r.fact("overwrote", true)
	}
	return p.move(r, op.From, target, "", op.Overwrite)
}

func (p *planner) missing(at batch.Path) *diag.Error {
	err := notFound(at)
	if near := p.tree.similar(at); len(near) > 0 {
		err.WithHint("did you mean %s?", near[0])
	}
	return err
}

// leadsTo reports whether n is a link whose target is the path to.
func (p *planner) leadsTo(from batch.Path, n *Node, to batch.Path) bool {
	if n.Kind != Symlink {
		return false
	}
	target, err := p.tree.content(from, n)
	return err == nil && batch.Path(path.Join(string(parent(from)), string(target))) == to
}

// duplicate puts what is at from, with all below it, also at to.
func (p *planner) duplicate(from, to batch.Path, adjust func(batch.Path, *Node)) *diag.Error {
	type pair struct {
		path batch.Path
		node *Node
	}
	var all []pair
	err := p.tree.walk(from, func(q batch.Path, n *Node) *diag.Error {
		rest := strings.TrimPrefix(string(q), string(from))
		target := batch.Path(string(to) + rest)
		copied := *n
		if copied.Kind == Dir {
			copied.From = ""
		}
		if adjust != nil {
			adjust(target, &copied)
		}
		all = append(all, pair{target, &copied})
		return p.mayWrite(target, true)
	})
	if err != nil {
		return err
	}
	for _, c := range all {
		if err := p.tree.set(c.path, c.node); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) copy(r *Result, rawFrom, rawTo, dir string, op batch.Copy) *diag.Error {
	from, n, err := p.look(rawFrom, dir)
	if from != "" {
		r.Path = string(from)
	}
	if err != nil {
		return err
	}
	switch {
	case n == nil:
		return p.missing(from)
	case from == ".":
		return denied(from, "the top of the working tree cannot be copied into itself")
	case n.Kind == Dir && !op.Recursive:
		return diag.New(diag.IsDirectory, "%s is a directory", from).In(string(from)).WithHint("use cp -r to copy a directory")
	case n.Kind == Symlink && !op.KeepLinks:
		return throughLink(from, from)
	case n.Kind == Symlink && strings.HasSuffix(rawFrom, "/"):
		return throughLink(from, from)
	case n.Kind != Dir && strings.HasSuffix(rawFrom, "/"):
		return diag.New(diag.NotDirectory, "%s is not a directory", from).In(string(from))
	}
	to, was, err := p.look(rawTo, dir)
	if err != nil {
		return err
	}
	if from == to {
		return sameEnds(from, rawFrom, rawTo)
	}
	if was != nil && was.Kind == Symlink {
		return throughLink(to, to)
	}
	if err := p.mayCopy(from); err != nil {
		return err
	}
	adjust, err := p.copyModes(from, to, op)
	if err != nil {
		return err
	}
	if merges := op.Overwrite && n.Kind == Dir && was != nil && was.Kind == Dir; merges {
		err = p.mayMerge(from, to)
	} else {
		err = p.destination(from, n, to, was, op.Overwrite)
	}
	if err != nil {
		return err
	}
	if err := p.duplicate(from, to, adjust); err != nil {
		return err
	}
	r.Did = append(r.Did, Effect{Verb: "copied", Path: from, To: to})
	return nil
}

// copyModes gives what changes about a node on its way to the copy: its time, and where modes are not kept, the bits that
// the umask takes from a new file; a file that is overwritten keeps its own.
func (p *planner) copyModes(from, to batch.Path, op batch.Copy) (func(batch.Path, *Node), *diag.Error) {
	own := map[batch.Path]fs.FileMode{}
	if op.KeepMode {
		err := p.tree.walk(from, func(q batch.Path, _ *Node) *diag.Error {
			target := to + q[len(from):]
			was, err := p.tree.lstat(target)
			if err == nil && was != nil {
				own[target] = was.Perm
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return func(target batch.Path, n *Node) {
		n.Time = time.Time{}
		if perm, ok := own[target]; ok {
			n.Perm = perm
		} else if op.KeepMode && n.Kind != Symlink {
			n.Perm &^= p.o.Umask
		}
	}, nil
}

// mayMerge makes sure that copying from over the directory to replaces files by files and directories by directories.
func (p *planner) mayMerge(from, to batch.Path) *diag.Error {
	if strings.HasPrefix(string(to), string(from)+"/") {
		return diag.New(diag.InvalidArgument, "%s cannot go into itself", from).In(string(from)).With("into itself")
	}
	return p.tree.walk(from, func(q batch.Path, n *Node) *diag.Error {
		target := to + q[len(from):]
		was, err := p.tree.lstat(target)
		if err != nil || was == nil {
			return err
		}
		switch {
		case was.Kind == Symlink:
			return throughLink(target, target)
		case was.Kind == Dir && n.Kind != Dir:
			return diag.New(diag.IsDirectory, "%s is a directory", target).In(string(target))
		case was.Kind != Dir && n.Kind == Dir:
			return diag.New(diag.NotDirectory, "%s is not a directory", target).In(string(target))
		}
		return nil
	})
}

// mayCopy makes sure that everything below from can be read.
func (p *planner) mayCopy(from batch.Path) *diag.Error {
	return p.tree.walk(from, func(q batch.Path, n *Node) *diag.Error {
		switch n.Kind {
		case Submodule:
			return denied(from, "%s is a submodule or nested repository", q)
		case Special:
			return denied(from, "%s is a FIFO, socket or device", q)
		}
		return nil
	})
}
