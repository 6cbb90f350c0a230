package history_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/parse"
	"github.com/git-clada/git-clada/internal/repo"
	"github.com/git-clada/git-clada/internal/testkit"
	"github.com/git-clada/git-clada/internal/txn"
)

// command is something that changes a working tree behind our back, between two barriers.
type command func(w *testkit.World)

// applyAround applies a reply, then lets a command do what it wants, then applies another reply, all in one operation.
func applyAround(w *testkit.World, first, second string, c command, give bool) operation {
	return func(ctx context.Context, r *repo.Repo, o txn.Options) error {
		tx, err := txn.Begin(ctx, r, o)
		if err != nil {
			return err
		}
		defer tx.Close()
		b, _ := parse.Parse([]byte(first+second), parse.Options{})
		var results []apply.Result
		stage := func(text string) error {
			part, _ := parse.Parse([]byte(text), parse.Options{})
			cs := apply.Plan(part, tx.Tree(), apply.Options{TopDir: r.Top, Umask: 0o022})
			results = append(results, cs.Results...)
			return tx.Stage(cs.Changes)
		}
		if err := stage(first); err != nil {
			return err
		}
		bracket, err := tx.Open(ctx, "a command")
		if err != nil {
			return err
		}
		c(w)
		if _, err := tx.Shut(ctx, bracket); err != nil {
			return err
		}
		if give {
			return tx.Abort(ctx)
		}
		if err := stage(second); err != nil {
			return err
		}
		_, err = tx.CommitBatch(ctx, txn.Record{ID: "b", Batch: b, Results: results, Author: "clada <clada@localhost>"})
		return err
	}
}

// doCommand applies a reply with a command in the middle, which changes what the reply wrote and more. The command does
// nothing if it did it before, so that the operation can be tried again in the same world.
func doCommand(ctx context.Context, r *repo.Repo, o txn.Options) error {
	first := "<<<<<<< WRITE path=\"made.txt\"\nmade\n>>>>>>> END\n"
	second := "<<<<<<< EDIT path=\"made.txt\"\nby the command\n=======\nat last\n>>>>>>> REPLACE\n"
	w := &testkit.World{Dir: r.Top}
	return applyAround(w, first, second, func(w *testkit.World) {
		os.WriteFile(filepath.Join(w.Dir, "made.txt"), []byte("by the command\n"), 0o644)
		os.MkdirAll(filepath.Join(w.Dir, "by", "command"), 0o755)
		os.WriteFile(filepath.Join(w.Dir, "by", "command", "new"), []byte("new\n"), 0o600)
	}, false)(ctx, r, o)
}

// randomCommand changes files at random: content, permissions, kinds, ignore rules, attributes, and what is staged.
func randomCommand(t *testing.T, rng *rand.Rand) command {
	return func(w *testkit.World) {
		git := func(args ...string) {
			cmd := exec.Command("git", args...)
			cmd.Dir, cmd.Env = w.Dir, w.Env
			cmd.Run() // what cannot be done is not done
		}
		write := func(name, text string) { os.WriteFile(filepath.Join(w.Dir, name), []byte(text), 0o644) }
		for range 1 + rng.IntN(4) {
			switch rng.IntN(10) {
			case 0, 1:
				testkit.Disturb(t, rng, w.Dir)
			case 2:
				testkit.RandomTree(t, rng, w.Dir, 2)
			case 3:
				write(".gitignore", testkit.Patterns[rng.IntN(len(testkit.Patterns))]+"\n")
			case 4:
				write(".gitattributes", "* text=auto eol="+[]string{"lf", "crlf"}[rng.IntN(2)]+"\n")
			case 5:
				git("add", "-A")
			case 6:
				git("add", "-f", ".")
			case 7:
				git("rm", "-q", "--cached", "-r", testkit.Names[rng.IntN(len(testkit.Names))])
			case 8:
				name := filepath.Join(w.Dir, testkit.Names[rng.IntN(len(testkit.Names))])
				if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
					os.Chmod(name, 0o600)
				}
			case 9:
				os.MkdirAll(filepath.Join(w.Dir, "new", "empty"), 0o755)
			}
		}
	}
}

// seen leaves out of a photo what git ignored at some time: a command may change it, and nobody looks. Directories go with
// it, since they stay for what they hold.
func seen(photo string, unseen []string) string {
	var kept strings.Builder
	for line := range strings.Lines(photo) {
		rest, isFile := strings.CutPrefix(line, "file ")
		isDir := strings.Contains(line, `" drwx`)
		hidden := len(unseen) > 0 && isDir || isFile && slices.ContainsFunc(unseen, func(p string) bool {
			quoted := fmt.Sprintf("%q", p)
			return strings.HasPrefix(rest, quoted+" ") || strings.HasPrefix(rest, strings.TrimSuffix(quoted, `"`)+"/")
		})
		if !hidden {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// ignored lists what git ignores now.
func ignored(t *testing.T, w *testkit.World) []string {
	var names []string
	out := w.Git(t, "ls-files", "-z", "--others", "--ignored", "--exclude-standard")
	for name := range strings.SplitSeq(out, "\x00") {
		if name != "" {
			names = append(names, strings.TrimSuffix(name, "/"))
		}
	}
	return names
}

// TestCommandsRoundTrip: whatever a command does to the files and the index between two barriers, undo gives back the
// state from before it, redo the one after it, and giving up puts everything back. What git ignores is left alone.
func TestCommandsRoundTrip(t *testing.T) {
	seed, rounds := uint64(testkit.Seed(t)), testkit.Rounds(t, 25)
	changed := 0
	for round := range rounds {
		t.Run(fmt.Sprintf("seed-%d-%d", seed, round), func(t *testing.T) {
			changed += commandRoundTrip(t, rand.New(rand.NewPCG(seed, uint64(round))))
		})
	}
	t.Logf("%d commands that changed something in %d random repositories", changed, rounds)
}

func commandRoundTrip(t *testing.T, rng *rand.Rand) int {
	w := testkit.NewWorld(t)
	testkit.RandomTree(t, rng, w.Dir, 3)
	attributes := func() {}
	if rng.IntN(3) == 0 {
		// What is staged under other attributes than those that hold later is dirty or not as git happens to look: that is
		// no state to come back to.
		attributes = func() {
			os.RemoveAll(filepath.Join(w.Dir, ".gitattributes"))
			w.Write(t, ".gitattributes", "*.txt text eol=crlf\n")
		}
		w.Write(t, "crlf.txt", "one\r\ntwo\r\n")
	}
	attributes()
	ignores := rng.IntN(3) == 0
	if !ignores {
		forgetRules(t, w)
	}
	w.Git(t, "add", "-A")
	w.Git(t, "commit", "-q", "--allow-empty", "-m", "start")
	testkit.Disturb(t, rng, w.Dir)
	attributes()
	if rng.IntN(2) == 0 {
		w.Git(t, "add", "-A")
		testkit.Disturb(t, rng, w.Dir)
		attributes()
	}
	reply := func() string {
		for {
			if text := randomReply(rng); ignores || !strings.Contains(text, ".gitignore") {
				return text
			}
		}
	}
	r := commandRound{World: w, ignores: ignores, first: reply(), second: reply(), before: w.Photo(t), unseen: ignored(t, w)}
	act := randomCommand(t, rng)
	return r.run(t, rng.IntN(4) == 0, func(w *testkit.World) {
		r.unseen = append(r.unseen, ignored(t, w)...)
		act(w)
		if !ignores {
			forgetRules(t, w)
		}
		r.unseen = append(r.unseen, ignored(t, w)...)
	})
}

// forgetRules removes all ignore files.
func forgetRules(t *testing.T, w *testkit.World) {
	filepath.WalkDir(w.Dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == ".gitignore" {
			os.Remove(p)
		}
		return nil
	})
}

// commandRound is one random repository with what happens in it.
type commandRound struct {
	*testkit.World
	ignores       bool // there are ignore rules, and what they hide is nobody's business
	first, second string
	before        string
	unseen        []string
}

func (r *commandRound) run(t *testing.T, give bool, c command) int {
	err := perform(r.World, "apply", applyAround(r.World, r.first, r.second, c, give), nil)
	switch {
	case r.refused(err):
		return 0
	case err != nil:
		r.fail(t, "apply", err)
	}
	r.unseen = append(r.unseen, ignored(t, r.World)...)
	after := r.Photo(t)
	if give {
		r.same(t, "giving up", r.before)
		return 1
	}
	if seen(after, r.unseen) == seen(r.before, r.unseen) {
		return 0
	}
	for _, step := range []struct {
		kind string
		op   operation
		want string
	}{{"undo", doUndo, r.before}, {"redo", doRedo, after}} {
		now := r.Photo(t)
		err := perform(r.World, step.kind, step.op, nil)
		switch {
		case r.refused(err):
			r.same(t, "refused "+step.kind, now)
			return 0
		case err != nil:
			r.fail(t, step.kind, err)
		}
		r.same(t, step.kind, step.want)
	}
	return 1
}

// withoutLeftovers leaves out files that are there besides those that should be: what was made where git does not look
// stays.
func withoutLeftovers(diff string) string {
	var kept strings.Builder
	for line := range strings.Lines(diff) {
		if !strings.HasPrefix(line, "+ file ") && strings.TrimSpace(line) != "" {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// refused reports whether an operation stopped for a file that git ignores, or ignored at some time: such files are left
// alone, and so may be in the way or come to light.
func (r *commandRound) refused(err error) bool {
	return r.ignores && diag.CodeOf(err) == diag.ExternalModification
}

func (r *commandRound) fail(t *testing.T, what string, err error) {
	t.Helper()
	var e *diag.Error
	if errors.As(err, &e) {
		t.Log(e.Hint)
	}
	t.Fatalf("%s: %v\nreplies:\n%s%s", what, err, r.first, r.second)
}

func (r *commandRound) same(t *testing.T, what, want string) {
	t.Helper()
	diff := testkit.Diff(seen(want, r.unseen), seen(r.Photo(t), r.unseen))
	if r.ignores {
		diff = withoutLeftovers(diff)
	}
	if diff != "" {
		t.Fatalf("%s:\n%s\nreplies:\n%s%s", what, diff, r.first, r.second)
	}
}
