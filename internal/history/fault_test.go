package history_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/git-clada/git-clada/internal/history"
	"github.com/git-clada/git-clada/internal/repo"
	"github.com/git-clada/git-clada/internal/testkit"
	"github.com/git-clada/git-clada/internal/txn"
)

const reply = `<<<<<<< SEARCH path="a.txt"
two
=======
TWO
>>>>>>> REPLACE
<<<<<<< WRITE path="new/er.txt"
new
>>>>>>> END
<<<<<<< RUN
mv d e
>>>>>>> END
`

// faultWorld has staged, unstaged and untracked work.
func faultWorld(t *testing.T) *testkit.World {
	w := testkit.NewWorld(t)
	w.Write(t, "a.txt", "one\ntwo\n")
	w.Write(t, "d/x", "x\n")
	w.Git(t, "add", "-A")
	w.Git(t, "commit", "-q", "-m", "start")
	w.Write(t, "d/x", "staged\n")
	w.Git(t, "add", "-A")
	w.Write(t, "d/x", "unstaged\n")
	w.Write(t, "mine", "untracked\n")
	return w
}

// operation runs one command in a world.
type operation func(ctx context.Context, r *repo.Repo, o txn.Options) error

var doApply = applyReply(reply)

func doUndo(ctx context.Context, r *repo.Repo, o txn.Options) error {
	_, err := history.Undo(ctx, r, o)
	return err
}

func doRedo(ctx context.Context, r *repo.Repo, o txn.Options) error {
	_, err := history.Redo(ctx, r, o)
	return err
}

func doAccept(ctx context.Context, r *repo.Repo, o txn.Options) error {
	_, err := history.Accept(ctx, r, o, history.CommitOptions{})
	return err
}

func doRecover(ctx context.Context, r *repo.Repo, o txn.Options) error {
	_, err := txn.Recover(ctx, r, "", time.Second)
	return err
}

func doDiscard(ctx context.Context, r *repo.Repo, o txn.Options) error {
	_, err := history.Discard(ctx, r, o)
	return err
}

func perform(w *testkit.World, kind string, op operation, fault txn.Fault) error {
	ctx := context.Background()
	r, err := repo.Open(ctx, w.Dir, w.Env)
	if err != nil {
		return err
	}
	defer r.Close()
	return op(ctx, r, txn.Options{
		Kind: kind, Command: "git clada " + kind, Now: time.Unix(1700000000, 0), LockTimeout: time.Second, Fault: fault,
	})
}

// TestFaults makes the k-th effect of each operation fail, for every k and for several errors. The operation must fail
// and the state must be the one from before; without the fault it then succeeds.
func TestFaults(t *testing.T) {
	before := faultWorld(t)
	applied := before.Copy(t)
	if err := perform(applied, "apply", doApply, nil); err != nil {
		t.Fatal(err)
	}
	undone := applied.Copy(t)
	if err := perform(undone, "undo", doUndo, nil); err != nil {
		t.Fatal(err)
	}
	if diff := testkit.Diff(before.Photo(t), undone.Photo(t)); diff != "" {
		t.Fatalf("undo without any fault:\n%s", diff)
	}
	for _, c := range []struct {
		kind  string
		start *testkit.World
		op    operation
	}{
		{"apply", before, doApply}, {"command", before, doCommand}, {"undo", applied, doUndo}, {"redo", undone, doRedo},
		{"accept", applied, doAccept}, {"discard", applied, doDiscard},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			want := c.start.Photo(t)
			tried := 0
			for k := 1; ; k++ {
				w := c.start.Copy(t)
				n := 0
				var at string
				err := perform(w, c.kind, c.op, func(effect string) error {
					if n++; n == k {
						at = effect
						return &os.PathError{Op: "write", Path: effect, Err: syscall.ENOSPC}
					}
					return nil
				})
				if at == "" {
					if err != nil {
						t.Fatalf("without any fault: %v", err)
					}
					break
				}
				tried++
				checkFault(t, w, c.kind, c.op, fmt.Sprintf("effect %d (%s)", k, at), err, want)
			}
			if tried < 4 {
				t.Fatalf("only %d effects", tried)
			}
			t.Logf("%s: %d effects made to fail, all answered", c.kind, tried)
		})
	}
}

func checkFault(t *testing.T, w *testkit.World, kind string, op operation, at string, err error, want string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s failed and nobody noticed", at)
		return
	}
	now := w.Photo(t)
	if afterRefs(at) {
		// The refs have moved: the next command finishes.
		if err := perform(w, "recover", func(ctx context.Context, r *repo.Repo, o txn.Options) error {
			rec, err := txn.Recover(ctx, r, "", time.Second)
			if err == nil && (rec == nil || !rec.Finished) {
				err = fmt.Errorf("recovered as %+v", rec)
			}
			return err
		}, nil); err != nil {
			t.Errorf("%s: %v", at, err)
		}
		return
	}
	if diff := testkit.Diff(want, now); diff != "" {
		t.Errorf("%s: the state is not as before:\n%s", at, diff)
	}
	if _, err := os.Stat(filepath.Join(w.Dir, ".git/clada/journal")); err == nil {
		t.Errorf("%s: a journal is left", at)
	}
	if err := perform(w, kind, op, nil); err != nil {
		t.Errorf("%s: the second try: %v", at, err)
	}
}

// afterRefs names the effects behind the point of no return.
func afterRefs(at string) bool {
	for _, name := range []string{"(head)", "(forget journal)"} {
		if len(at) >= len(name) && at[len(at)-len(name):] == name {
			return true
		}
	}
	return false
}
