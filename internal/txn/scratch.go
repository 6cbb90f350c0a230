package txn

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/repo"
)

// scratch is the branch that batches are committed on.
type scratch struct {
	ref     string
	tip     repo.OID // where it is now; "" if it does not exist
	baseRef string
	baseOID repo.OID
}

// ScratchPrefix is what the names of scratch branches start with.
const ScratchPrefix = "refs/heads/clada/"

// scratchBranch finds the branch for a batch: the one that HEAD is on, if it is a scratch branch, else one for the base.
func (t *Tx) scratchBranch(ctx context.Context) (scratch, error) {
	head := t.Photo.Head
	if strings.HasPrefix(head.Ref, ScratchPrefix) {
		return t.continued(head)
	}
	name := ScratchPrefix + strings.TrimPrefix(head.Ref, "refs/heads/")
	if head.Detached() {
		name = ScratchPrefix + "detached-" + head.OID.Short()
	}
	if blocking, err := t.Repo.Ref("refs/heads/clada"); err != nil {
		return scratch{}, err
	} else if blocking != "" {
		return scratch{}, diag.New(diag.GitOperationFailed, "a branch named clada is in the way of branches named clada/...").
			WithHint("rename it: git branch -m clada something-else")
	}
	for n := 1; ; n++ {
		b := scratch{ref: name, baseRef: head.Ref, baseOID: head.OID}
		if n > 1 {
			b.ref = fmt.Sprintf("%s-%d", name, n)
		}
		var err error
		if b.tip, err = t.Repo.Ref(b.ref); err != nil {
			return b, err
		}
		if b.tip == "" || b.tip == head.OID {
			return b, t.notElsewhere(ctx, b)
		}
		if merged, err := t.Repo.IsAncestor(ctx, b.tip, head.OID); err != nil {
			return b, err
		} else if merged {
			return b, t.notElsewhere(ctx, b)
		}
	}
}

func (t *Tx) notElsewhere(ctx context.Context, b scratch) error {
	if b.tip == "" {
		return nil
	}
	where, err := t.Repo.CheckedOutElsewhere(ctx, b.ref)
	if err != nil || where == "" {
		return err
	}
	return diag.New(diag.GitOperationFailed, "the scratch branch %s is checked out in %s", short(b.ref), where).
		WithHint("finish there: git clada accept or discard")
}

// continued gives the scratch branch that HEAD is on, with the base that the log remembers.
func (t *Tx) continued(head repo.Head) (scratch, error) {
	b := scratch{ref: head.Ref, tip: head.OID, baseRef: "refs/heads/" + strings.TrimPrefix(head.Ref, ScratchPrefix)}
	op, err := t.Log.StartOf(head.Ref)
	if err != nil || op == nil {
		return b, err
	}
	b.baseRef, b.baseOID = op.BaseRef, op.BaseOID
	return b, nil
}

// StartOf gives the oldest operation in force that committed to the scratch branch ref without a break, or nil.
func (l *Log) StartOf(ref string) (*Op, error) {
	var first *Op
	err := l.Chain(func(op *Op) bool {
		if op.Branch == ref && op.Kind == "apply" {
			first = op
		}
		return op.Kind != "accept" && op.Kind != "discard"
	})
	return first, err
}

func short(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

func baseName(ref string, oid repo.OID) string {
	if ref == "" {
		return oid.Short()
	}
	return short(ref)
}
