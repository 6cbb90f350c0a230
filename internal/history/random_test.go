package history_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/parse"
	"github.com/git-clada/git-clada/internal/repo"
	"github.com/git-clada/git-clada/internal/testkit"
	"github.com/git-clada/git-clada/internal/txn"
)

// randomReply asks for random things about random files.
func randomReply(rng *rand.Rand) string {
	name := func() string {
		parts := make([]string, 1+rng.IntN(3))
		for i := range parts {
			parts[i] = testkit.Names[rng.IntN(len(testkit.Names))]
		}
		return path.Join(parts...)
	}
	var b strings.Builder
	for range 1 + rng.IntN(6) {
		switch rng.IntN(8) {
		case 0:
			fmt.Fprintf(&b, "<<<<<<< RUN\nrm -rf '%s'\n>>>>>>> END\n", name())
		case 1:
			fmt.Fprintf(&b, "<<<<<<< RUN\nmv '%s' '%s'\n>>>>>>> END\n", name(), name())
		case 2:
			fmt.Fprintf(&b, "<<<<<<< RUN\ncp -r '%s' '%s'\n>>>>>>> END\n", name(), name())
		case 3:
			fmt.Fprintf(&b, "<<<<<<< RUN\nmkdir -p '%s'\n>>>>>>> END\n", name())
		case 4:
			fmt.Fprintf(&b, "<<<<<<< WRITE path=%q append=\"true\"\nappended\n>>>>>>> END\n", name())
		case 5:
			fmt.Fprintf(&b, "<<<<<<< EDIT path=%q count=\"all\"\ncontent\n=======\nCONTENT\n>>>>>>> REPLACE\n", name())
		case 6:
			fmt.Fprintf(&b, "<<<<<<< WRITE path=\".gitignore\" append=\"true\"\n%s\n>>>>>>> END\n", testkit.Patterns[rng.IntN(len(testkit.Patterns))])
		default:
			fmt.Fprintf(&b, "<<<<<<< WRITE path=%q\nwritten %d\n>>>>>>> END\n", name(), rng.IntN(9))
		}
	}
	return b.String()
}

func applyReply(text string) operation {
	return func(ctx context.Context, r *repo.Repo, o txn.Options) error {
		b, _ := parse.Parse([]byte(text), parse.Options{}) // what does not parse is not carried out
		tx, err := txn.Begin(ctx, r, o)
		if err != nil {
			return err
		}
		defer tx.Close()
		cs := apply.Plan(b, tx.Tree(), apply.Options{TopDir: r.Top, Umask: 0o022})
		if err := tx.Stage(cs.Changes); err != nil {
			return err
		}
		_, err = tx.CommitBatch(ctx, txn.Record{ID: "b", Batch: b, Results: cs.Results, Author: "clada <clada@localhost>"})
		return err
	}
}

// TestRandomRoundTrips: on random dirty trees and for random replies, undo after an operation is the state before it,
// redo after undo is the state after it, and discarding all batches is the state before the first.
func TestRandomRoundTrips(t *testing.T) {
	seed, rounds := uint64(testkit.Seed(t)), testkit.Rounds(t, 40)
	steps := 0
	for round := range rounds {
		t.Run(fmt.Sprintf("seed-%d-%d", seed, round), func(t *testing.T) {
			steps += roundTrip(t, rand.New(rand.NewPCG(seed, uint64(round))))
		})
	}
	t.Logf("%d operations undone and redone in %d random repositories", steps, rounds)
}

func roundTrip(t *testing.T, rng *rand.Rand) (steps int) {
	w := testkit.NewWorld(t)
	testkit.RandomTree(t, rng, w.Dir, 3)
	born := rng.IntN(5) > 0
	if born {
		w.Git(t, "add", "-A")
		w.Git(t, "commit", "-q", "--allow-empty", "-m", "start")
	}
	testkit.Disturb(t, rng, w.Dir)
	if rng.IntN(2) == 0 {
		w.Git(t, "add", "-A")
		testkit.Disturb(t, rng, w.Dir)
	}
	if rng.IntN(3) == 0 {
		if err := os.WriteFile(filepath.Join(w.Dir, "announced"), []byte("soon\n"), 0o666); err == nil {
			w.Git(t, "add", "-N", "-f", "announced")
		}
	}
	start := w.Photo(t)
	same := func(what, want string, reply string) {
		t.Helper()
		steps++
		if diff := testkit.Diff(want, w.Photo(t)); diff != "" {
			t.Fatalf("%s:\n%s\nreply:\n%s", what, diff, reply)
		}
	}
	all := ""
	do := func(kind string, op operation) {
		t.Helper()
		if err := perform(w, kind, op, nil); err != nil {
			var e *diag.Error
			if errors.As(err, &e) {
				t.Log(e.Hint)
			}
			t.Fatalf("%s: %v\nreplies:\n%s", kind, err, all)
		}
	}
	before := start
	changed := 0
	for range 1 + rng.IntN(3) {
		reply := randomReply(rng)
		all += reply
		do("apply", applyReply(reply))
		after := w.Photo(t)
		if after == before {
			continue // nothing to undo
		}
		changed++
		do("undo", doUndo)
		same("undo of apply", before, reply)
		do("redo", doRedo)
		same("redo of apply", after, reply)
		before = after
	}
	if changed == 0 || !strings.Contains(before, "HEAD refs/heads/clada/") {
		return steps
	}
	for _, c := range []struct {
		kind string
		op   operation
	}{{"accept", doAccept}, {"discard", doDiscard}} {
		do(c.kind, c.op)
		after := w.Photo(t)
		do("undo", doUndo)
		same("undo of "+c.kind, before, all)
		do("redo", doRedo)
		same("redo of "+c.kind, after, all)
		do("undo", doUndo)
	}
	return steps
}
