package apply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// Plan works out what a batch does to a tree.
func Plan(b *batch.Batch, tree Tree, o Options) *Changeset {
	p := newPlanner(tree, o)
	cs := p.run(b)
	if len(cs.Changes) == 0 && !p.started && p.mayBeInPlace(cs) {
		again := newPlanner(tree, o)
		again.acceptInPlace = true
		if all := again.run(b); all.Failed == 0 && len(all.Changes) == 0 {
			return all
		}
	}
	if o.Atomic && cs.Failed > 0 {
		cs.Changes = nil
	}
	return cs
}

// planner carries out the tasks of one batch on an overlay.
type planner struct {
	o    Options
	tree *overlay
	// acceptInPlace takes an edit that was made before as done. It is tried only when nothing else is left to do.
	acceptInPlace bool
	warnings      []diag.Warning
	writable      map[batch.Path]bool
	made          []batch.Path        // directories that the last stored file needed
	shifted       map[batch.Path]bool // files whose line count a line edit changed
	results       []Result
	kept          int64 // bytes of files that git has no copy of and that have to be kept for undo
	started       bool  // a program ran
	stopped       bool  // nothing more may be carried out
	unknown       int   // in a rehearsal, the first task that would start a program that may change something
}

func newPlanner(tree Tree, o Options) *planner {
	if o.MaxFileSize == 0 {
		o.MaxFileSize = DefaultMaxFileSize
	}
	p := &planner{o: o, tree: newOverlay(tree), writable: map[batch.Path]bool{}}
	p.tree.umask = o.Umask
	return p
}

func (p *planner) run(b *batch.Batch) *Changeset {
	cs := &Changeset{Results: make([]Result, len(b.Tasks))}
	p.results = cs.Results
	failedGroup := map[int]bool{}
	for i := range b.Tasks {
		t := &b.Tasks[i]
		r := &cs.Results[i]
		*r = Result{Task: t, Op: t.Op.Name(), Path: batch.Target(t.Op), Status: OK}
		r.Unknown = p.unknown
		if p.stopped || t.Group > 0 && failedGroup[t.Group] && !p.o.Everything {
			r.Status = Skipped
			cs.Failed++
			continue
		}
		p.task(r)
		switch {
		case r.Status == Failed:
			failedGroup[t.Group] = true
			cs.Failed++
		case r.Status == Skipped && !r.ExitsClean:
			cs.Failed++
		}
	}
	cs.Changes, cs.Discards = p.tree.changes(), p.tree.discards
	cs.Warnings = p.warnings
	return cs
}

// task carries out one task, all or nothing.
func (p *planner) task(r *Result) {
	p.tree.begin()
	err := p.allowed(r.Task)
	if err == nil {
		err = p.carryOut(r)
	}
	if err == nil {
		err = p.keepable()
	}
	switch {
	case err != nil && p.acceptInPlace && r.AlreadyApplied:
		p.tree.rollback()
		r.Status = Unchanged
		r.Did = nil
	case err != nil:
		p.tree.rollback()
		r.Status, r.Err, r.Did = Failed, err, nil
		if err.Path == "" {
			err.Path = r.Path
		}
		if err.Hint == "" {
			err.Hint = usualHint[err.Code]
		}
		r.speak(err)
	case r.Status == Skipped:
	case len(p.tree.undo) == 0 && changesFiles(r.Op):
		r.Status = Unchanged
		r.shape()
	default:
		r.shape()
	}
}

// usualHint is what to do about a failure that says nothing more specific.
var usualHint = map[diag.Code]string{
	diag.FileNotFound:      "paths start at the top of the working tree; check the spelling",
	diag.FileExists:        "choose another name, or remove what is there first",
	diag.IsDirectory:       "name a file, or remove the directory first",
	diag.NotDirectory:      "a file stands where a directory is needed: choose another place, or move it first",
	diag.DirectoryNotEmpty: "remove what is in it first, or use rm -r",
	diag.PermissionDenied:  "a reply may not do this; do it by hand if it is right",
	diag.PathEscape:        "name a path inside the working tree, relative to its top",
	diag.InvalidArgument:   "git clada --help shows the form of each operation",
	diag.InvalidUTF8:       "write names in UTF-8",
}

func changesFiles(op string) bool {
	switch op {
	case "read", "list", "grep", "glob", "run", "exec":
		return false
	}
	return !strings.HasPrefix(op, "context_")
}

// allowed refuses what the configuration leaves out. A name covers all names of the same action, and an op's name
// everything that comes to that op.
func (p *planner) allowed(t *batch.Task) *diag.Error {
	if p.o.Actions == nil || slices.Contains(p.o.Actions, t.Op.Name()) || slices.Contains(p.o.Actions, t.Action) ||
		slices.ContainsFunc(t.Actions, func(name string) bool { return slices.Contains(p.o.Actions, name) }) {
		return nil
	}
	return diag.New(diag.CommandNotAllowed, "Action '%s' is not in allowed-actions list (%s)", t.Action, strings.Join(p.o.Actions, ",")).
		WithHint("the configuration (clada.allowActions) says what a reply may do here")
}

// mayBeInPlace reports whether every task that was tried found its result already there.
func (p *planner) mayBeInPlace(cs *Changeset) bool {
	if len(cs.Results) == 0 {
		return false
	}
	tried := 0
	for i := range cs.Results {
		r := &cs.Results[i]
		if r.Status == Skipped {
			continue
		}
		tried++
		if r.Status != Unchanged && !r.AlreadyApplied {
			return false
		}
	}
	return tried > 0
}

func (p *planner) carryOut(r *Result) *diag.Error {
	switch op := r.Task.Op.(type) {
	case batch.Write:
		return p.write(r, op)
	case batch.Append:
		return p.append(r, op)
	case batch.Edit:
		return p.edit(r, op)
	case batch.EditSeries:
		return p.editSeries(r, op)
	case batch.EditFiles:
		return p.editFiles(r, op)
	case batch.Patch:
		return p.patch(r, op)
	case batch.EditRange:
		return p.editRange(r, op)
	case batch.EditLines:
		return p.editLines(r, op)
	case batch.Insert:
		return p.insert(r, op)
	case batch.Remove:
		return p.remove(r, op.Path, "", op)
	case batch.Move:
		return p.moveOp(r, op)
	case batch.Copy:
		return p.copy(r, op.From, op.To, "", op)
	case batch.Mkdir:
		return p.mkdir(r, op.Path, "", op.Parents)
	case batch.Rmdir:
		return p.rmdir(r, op)
	case batch.Touch:
		return p.touch(r, op.Path, "", op.NoCreate)
	case batch.Read:
		return p.read(r, op)
	case batch.ReadNumbered:
		return p.readNumbered(r, op)
	case batch.ReadFiles:
		return p.readFiles(r, op)
	case batch.List:
		return p.listDir(r, op)
	case batch.Grep:
		return p.grep(r, op)
	case batch.Glob:
		return p.glob(r, op)
	case batch.Run:
		return p.command(r, op)
	case batch.Exec:
		return p.exec(r, op)
	case batch.NotDone:
		return p.leaveOut(r, op)
	case batch.Context:
		return p.context(r, op)
	}
	panic(fmt.Sprintf("apply: no way to carry out %T", r.Task.Op))
}

// target resolves the path of the task, which r then reports.
func (p *planner) target(r *Result, raw, dir string) (batch.Path, *Node, *diag.Error) {
	path, n, err := p.look(raw, dir)
	if err == nil || path != "" {
		r.Path = string(path)
	}
	return path, n, err
}

// look resolves a path and gives what is there. Nothing is followed.
func (p *planner) look(raw, dir string) (batch.Path, *Node, *diag.Error) {
	if dir == "" {
		dir = p.o.Dir
	}
	path, err := p.o.resolve(raw, dir)
	if err != nil {
		return "", nil, err
	}
	if err := p.tree.checkParents(path); err != nil {
		return path, nil, err
	}
	n, err := p.tree.lstat(path)
	return path, n, err
}

// mayWrite says whether path may be changed, and if it is new whether the name is fit.
func (p *planner) mayWrite(path batch.Path, isNew bool) *diag.Error {
	if isNew && p.tree.discarded(path) {
		return denied(path, "%s is removed for good in this batch", path).WithHint("put it into a reply of its own")
	}
	if p.writable[path] {
		return nil
	}
	if err := p.o.guardWrite(path); err != nil {
		return err
	}
	if isNew {
		if err := checkNewName(path); err != nil {
			return err
		}
		if err := p.checkCase(path); err != nil {
			return err
		}
	}
	p.writable[path] = true
	return nil
}

// checkCase compares a new name with the ones beside it, and those above it, under case folding.
func (p *planner) checkCase(path batch.Path) *diag.Error {
	for at := path; at != "."; at = parent(at) {
		n, err := p.tree.lstat(at)
		if err != nil {
			return err
		}
		if n != nil {
			return nil
		}
		twin := p.tree.caseTwin(at)
		if twin == "" {
			continue
		}
		if p.o.FoldsCase {
			return diag.New(diag.FileExists, "%s differs from %s only in case", at, twin).In(string(path))
		}
		p.warnings = append(p.warnings, diag.Warning{
			Code: "CASE_COLLISION", Message: fmt.Sprintf("%s differs from %s only in case: some file systems cannot hold both", at, twin),
		})
	}
	return nil
}

// file resolves the path of the task and gives the content of the file that stands there.
func (p *planner) file(r *Result, raw string) (path batch.Path, n *Node, content []byte, err *diag.Error) {
	path, n, err = p.target(r, raw, "")
	if err == nil {
		content, err = p.readable(path, n)
	}
	return path, n, content, err
}

// readable gives the content of a file that an op wants to look into.
func (p *planner) readable(path batch.Path, n *Node) ([]byte, *diag.Error) {
	if n == nil {
		err := notFound(path)
		if near := p.tree.similar(path); len(near) > 0 {
			err.WithHint("did you mean %s?", near[0])
		}
		return nil, err
	}
	if err := regular(path, n); err != nil {
		return nil, err
	}
	if n.Size > p.o.MaxFileSize {
		return nil, tooLarge(path, n.Size, p.o.MaxFileSize)
	}
	data, err := p.tree.content(path, n)
	if err != nil {
		return nil, err
	}
	if isBinary(data) {
		return nil, diag.New(diag.BinaryFile, "%s is binary", path).In(string(path)).
			WithHint("binary files can be moved, copied and removed, not edited")
	}
	return data, nil
}

func tooLarge(path batch.Path, size, limit int64) *diag.Error {
	return diag.New(diag.FileTooLarge, "%s has %d bytes, at most %d are possible", path, size, limit).In(string(path)).
		WithHint("raise clada.maxFileSize").With("", "size", megabytes(size), "most", megabytes(limit), "limit", limit)
}

// regular refuses everything that is not a plain file.
func regular(path batch.Path, n *Node) *diag.Error {
	switch n.Kind {
	case Dir:
		return diag.New(diag.IsDirectory, "%s is a directory", path).In(string(path))
	case Symlink:
		return throughLink(path, path)
	case Submodule:
		return denied(path, "%s is a submodule or nested repository", path)
	case Special:
		return denied(path, "%s is a FIFO, socket or device", path)
	}
	return nil
}
