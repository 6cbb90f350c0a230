package apply

import (
	"fmt"
	"maps"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// fact records something about a task that its dialect's words may mention.
func (r *Result) fact(name string, value any) {
	if r.Facts == nil {
		r.Facts = map[string]any{}
	}
	r.Facts[name] = value
}

// facts gives what is known about the task and a failure, with the usual names: path (relative to the top) and written
// (as the reply has it).
func (r *Result) facts(err *diag.Error) map[string]any {
	all := map[string]any{"action": r.Task.Action, "path": r.Path, "written": batch.Target(r.Task.Op)}
	switch op := r.Task.Op.(type) {
	case batch.Move:
		all["from"], all["to"] = op.From, op.To
	case batch.Copy:
		all["from"], all["to"] = op.From, op.To
	}
	maps.Copy(all, r.Facts)
	if err != nil {
		maps.Copy(all, err.Facts)
	}
	return all
}

// speak puts a failure into the words of the task's dialect, if it has any for it.
func (r *Result) speak(err *diag.Error) {
	w := r.Task.Words
	if w == nil {
		return
	}
	facts := r.facts(err)
	for _, key := range []string{err.Case, string(err.Code)} {
		if text, ok := batch.Render(w.Failures, key, facts); ok {
			err.Message, err.Worded = text, true
			break
		}
	}
	for _, key := range []string{err.Case, string(err.Code)} {
		if text, ok := batch.Render(w.Hints, key, facts); ok {
			err.Hint = text
			break
		}
	}
	if code, ok := w.Codes[err.Case]; ok {
		err.Code = diag.Code(code)
	}
}

// about gives the failure of one path of several as a text.
func (r *Result) about(err *diag.Error, written string) string {
	one := &Result{Task: r.Task, Path: written, Facts: map[string]any{"written": written}}
	one.speak(err)
	return err.Message
}

// shape gives the data of a successful task the members that its dialect promises.
func (r *Result) shape() {
	w := r.Task.Words
	if w == nil || w.Data == nil {
		return
	}
	facts, data := r.facts(nil), map[string]any{}
	for member, fact := range w.Data {
		if value, ok := facts[fact]; ok {
			data[member] = value
		}
	}
	if len(data) > 0 {
		r.Data = data
	}
}

// megabytes writes a size in bytes as 15.2MB, whole numbers without a fraction.
func megabytes(n int64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1e6), ".0") + "MB"
}
