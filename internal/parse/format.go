package parse

import (
	"errors"
	"reflect"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// ErrNoForm says that a dialect cannot express an op.
var ErrNoForm = errors.New("the dialect has no form for this operation")

// form writes tasks in one dialect. A dialect without groups gives ErrNoForm for one.
type form interface {
	task(out *strings.Builder, t *batch.Task) error
	group(out *strings.Builder, tasks func() error) error
}

func formOf(dialect string, b *batch.Batch) form {
	switch dialect {
	case "cml":
		return cmlForm{}
	case "tags":
		return tagsForm{}
	case "sham":
		return &shamForm{}
	case "aider":
		return aiderForm{}
	case "v4a":
		return v4aForm{}
	case "patch":
		return patchForm{}
	}
	return newMarkersForm(b)
}

// Format writes a batch in a dialect, such that reading the text gives the same batch again. It reads it again itself:
// what does not come back the same is refused, and the refusal names the task.
func Format(b *batch.Batch, dialect string) (string, error) {
	f := formOf(dialect, b)
	var out strings.Builder
	for i := 0; i < len(b.Tasks); {
		first := i
		group := b.Tasks[i].Group
		for i++; group > 0 && i < len(b.Tasks) && b.Tasks[i].Group == group; i++ {
		}
		write := func() error {
			for k := first; k < i; k++ {
				if err := f.task(&out, &b.Tasks[k]); err != nil {
					return cannotSay(&b.Tasks[k], dialect)
				}
			}
			return nil
		}
		err := write
		if i-first > 1 {
			err = func() error {
				err := f.group(&out, write)
				if errors.Is(err, ErrNoForm) {
					return diag.New(diag.InvalidArgument, "%s has no groups: tasks %d to %d stand in one", dialect, first+1, i).
						WithHint("use markers or cml")
				}
				return err
			}
		}
		if err := err(); err != nil {
			return "", err
		}
	}
	again, list := Parse([]byte(out.String()), Options{Dialect: dialect, AllowEmptyReplace: true})
	for k := range b.Tasks {
		if len(list.Problems) > 0 && len(again.Tasks) == 0 || k >= len(again.Tasks) || !SameOp(b.Tasks[k].Op, again.Tasks[k].Op) {
			return "", cannotSay(&b.Tasks[k], dialect)
		}
	}
	return out.String(), nil
}

func cannotSay(t *batch.Task, dialect string) error {
	return diag.New(diag.InvalidArgument, "task %d (%s) cannot be said in %s", t.Seq, t.Action, dialect).
		At(t.Span.Pos()).WithHint("%s has no form that does exactly the same; try another dialect", dialect)
}

// SameOp reports whether two ops ask for the same. How strictly text is compared by default, and how a dialect words
// its messages, does not count.
func SameOp(a, b batch.Op) bool { return reflect.DeepEqual(canonical(a), canonical(b)) }

// canonical drops from an op what says nothing about its outcome.
func canonical(op batch.Op) batch.Op {
	switch o := op.(type) {
	case batch.Write:
		o.Limit = 0
		return o
	case batch.Edit:
		return canonicalEdit(o)
	case batch.EditSeries:
		edits := make([]batch.Edit, len(o.Edits))
		for i, e := range o.Edits {
			edits[i] = canonicalEdit(e)
		}
		o.Edits = edits
		return o
	case batch.EditFiles:
		o.Edit = canonicalEdit(o.Edit)
		return o
	case batch.EditRange:
		o.Match, o.Splits = batch.Exact, canonicalSplits(o.Splits)
		o.AllowEmpty = o.Splits[0].NoNew
		return o
	case batch.Patch:
		o.Match = batch.Exact
		return o
	case batch.Exec:
		o.Echo = false
		return o
	}
	return op
}

func canonicalEdit(e batch.Edit) batch.Edit {
	e.Match, e.HintCount, e.Near, e.Splits = batch.Exact, "", 0, canonicalSplits(e.Splits)
	e.AllowEmpty = e.Lines || e.Splits[0].NoNew
	return e
}

func canonicalSplits(splits []batch.Split) []batch.Split {
	all := make([]batch.Split, len(splits))
	for i, s := range splits {
		s.Divider = 0
		all[i] = s
	}
	return all
}
