package apply

import (
	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// exec runs code.
func (p *planner) exec(r *Result, op batch.Exec) *diag.Error {
	r.Path = ""
	r.Data = map[string]any{"stdout": "", "stderr": ""}
	if p.o.NoRun {
		return diag.New(diag.CommandNotAllowed, "commands are switched off (--no-run)").With("not allowed", "reason", "commands are switched off (--no-run)")
	}
	return p.program(r, Command{Text: op.Code, Language: op.Language, Dir: op.Dir})
}

// leaveOut names something that is never carried out.
func (p *planner) leaveOut(r *Result, op batch.NotDone) *diag.Error {
	r.Path = ""
	code := op.Code
	if code == "" {
		code = diag.CommandNotAllowed
	}
	err := diag.New(code, "%s", op.Why).WithHint("%s", op.Hint)
	if op.Fails {
		return err
	}
	r.Status, r.ExitsClean = Skipped, op.Harmless
	if !op.Harmless {
		r.Err = err
	}
	return nil
}

// ContextEntry is a file of the working context; Size is in bytes.
type ContextEntry struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
}

// context changes or shows the working context. It touches no file.
func (p *planner) context(r *Result, op batch.Context) *diag.Error {
	list := p.o.Context
	if list == nil {
		return diag.New(diag.InvalidArgument, "there is no working context without a repository").
			WithHint("run git clada inside a repository, without --no-git")
	}
	switch op.Verb {
	case "add":
		return p.contextAdd(r, list, op.Path)
	case "remove":
		at, err := p.o.resolve(op.Path, p.o.Dir)
		if err != nil {
			return err
		}
		r.Path = string(at)
		if !list.Remove(string(at)) {
			return diag.New(diag.FileNotFound, "%s is not in the context", at).In(string(at)).WithHint("git clada context list shows what is").
				With("not in the context")
		}
		r.Did = append(r.Did, Effect{Verb: "left-context", Path: at})
	case "list":
		entries := []ContextEntry{}
		for _, name := range list.Paths() {
			entries = append(entries, ContextEntry{name, p.sizeOf(batch.Path(name))})
		}
		r.Data = entries
		r.Did = append(r.Did, Effect{Verb: "listed-context", Files: len(entries)})
	case "prune", "clear":
		removed := []string{}
		for _, name := range append([]string(nil), list.Paths()...) {
			if op.Verb == "prune" {
				if n, err := p.tree.lstat(batch.Path(name)); err != nil || n != nil {
					continue
				}
			}
			list.Remove(name)
			removed = append(removed, name)
		}
		r.Data = map[string]any{"removed": removed}
		r.Did = append(r.Did, Effect{Verb: op.Verb + "-context", Files: len(removed)})
	}
	return nil
}

func (p *planner) contextAdd(r *Result, list Context, written string) *diag.Error {
	at, n, err := p.target(r, written, "")
	if err != nil {
		return err
	}
	if n == nil {
		return p.missing(at)
	}
	list.Add(string(at))
	r.Did = append(r.Did, Effect{Verb: "joined-context", Path: at})
	return nil
}

func (p *planner) sizeOf(at batch.Path) int64 {
	n, err := p.tree.lstat(at)
	if err != nil || n == nil || n.Kind != Regular {
		return 0
	}
	return n.Size
}
