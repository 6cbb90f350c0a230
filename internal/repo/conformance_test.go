package repo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/git-clada/git-clada/internal/testkit"
)

func open(t *testing.T, w *testkit.World) *Repo {
	t.Helper()
	r, err := Open(context.Background(), w.Dir, w.Env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// gitAll gives the tree that git add -A and git write-tree make, in a copy of the index.
func gitAll(t *testing.T, w *testkit.World, r *Repo) OID {
	t.Helper()
	tmp := filepath.Join(w.Home, "oracle-index")
	os.Remove(tmp)
	if _, err := os.Stat(r.IndexFile); err == nil {
		copyIndex(t, r.IndexFile, tmp)
	}
	run := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = w.Dir
		cmd.Env = append(append([]string(nil), w.Env...), "GIT_INDEX_FILE="+tmp)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("add", "-A")
	return OID(strings.TrimSpace(run("write-tree")))
}

// copyIndex copies an index with its time: a younger copy would make git trust entries that it must look at.
func copyIndex(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := copyFile(from, to); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(to, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

// TestScanConforms: on random dirty trees, what we take for the working tree is what git add -A would store, what we
// take for untracked is what git ls-files says, and our reading of the index is git's.
func TestScanConforms(t *testing.T) {
	seed := uint64(testkit.Seed(t))
	for round := range testkit.Rounds(t, 25) {
		rng := rand.New(rand.NewPCG(seed, uint64(round)))
		t.Run(fmt.Sprintf("seed-%d-%d", seed, round), func(t *testing.T) {
			w := testkit.NewWorld(t)
			testkit.RandomTree(t, rng, w.Dir, 3)
			setUpIndex(t, rng, w)
			w.Git(t, "add", "-A")
			w.Git(t, "commit", "-q", "--allow-empty", "-m", "start")
			testkit.Disturb(t, rng, w.Dir)
			if rng.IntN(2) == 0 {
				w.Git(t, "add", "-A")
				testkit.Disturb(t, rng, w.Dir)
			}
			compareWithGit(t, w)
		})
	}
}

func setUpIndex(t *testing.T, rng *rand.Rand, w *testkit.World) {
	switch rng.IntN(4) {
	case 0:
		w.Git(t, "config", "index.version", "4")
	case 1:
		w.Git(t, "config", "core.splitIndex", "true")
	case 2:
		w.Git(t, "config", "core.untrackedCache", "true")
	}
	if rng.IntN(4) == 0 {
		w.Git(t, "config", "core.autocrlf", "input")
	}
	if rng.IntN(4) == 0 {
		w.Write(t, ".git/info/exclude", testkit.Patterns[rng.IntN(len(testkit.Patterns))]+"\n")
	}
}

func compareWithGit(t *testing.T, w *testkit.World) {
	t.Helper()
	ctx := context.Background()
	r := open(t, w)
	x, err := r.ReadIndex(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var entries strings.Builder
	for i := range x.Entries {
		e := &x.Entries[i]
		fmt.Fprintf(&entries, "%06o %s %d\t%s\x00", e.Mode, x.OID(e), e.Stage, e.Path)
	}
	if want := w.Git(t, "ls-files", "-s", "-z"); entries.String() != want {
		t.Fatalf("index entries:\n%q\ngit:\n%q", entries.String(), want)
	}
	s, err := r.Scan(ctx, x)
	if err != nil {
		t.Fatal(err)
	}
	var untracked []string
	for _, f := range s.Files {
		if f.Untracked {
			untracked = append(untracked, f.Path)
		}
	}
	want := strings.Split(strings.TrimSuffix(w.Git(t, "ls-files", "-o", "--exclude-standard", "-z"), "\x00"), "\x00")
	if len(want) == 1 && want[0] == "" {
		want = nil
	}
	sort.Strings(want)
	if fmt.Sprint(untracked) != fmt.Sprint(want) {
		t.Errorf("untracked: %q\ngit:       %q", untracked, want)
	}
	index, err := x.WriteTree(r.Objects)
	if err != nil {
		t.Fatal(err)
	}
	if want := OID(strings.TrimSpace(w.Git(t, "write-tree"))); index != want {
		t.Errorf("tree of the index: %s, git: %s", index, want)
	}
	tree, err := r.Objects.Overlay(index, s.Changes())
	if err != nil {
		t.Fatal(err)
	}
	if want := gitAll(t, w, r); tree != want {
		diff, _ := r.Objects.Diff(want, tree)
		t.Errorf("tree of the working tree: %s, git: %s\n%+v", tree, want, diff)
	}
}

// TestRacyEntry: a file that changes in the second in which the index was written, keeping its size, is noticed.
func TestRacyEntry(t *testing.T) {
	for range 5 {
		w := testkit.NewWorld(t)
		w.Write(t, "a", "one\n")
		w.Git(t, "add", "a")
		w.Write(t, "a", "two\n")
		compareWithGit(t, w)
	}
}

// TestNotesTreeIsGits: notes that we write are read by git, and the other way round, with and without a fan-out.
func TestNotesTreeIsGits(t *testing.T) {
	w := testkit.NewWorld(t)
	w.Write(t, "a", "a\n")
	w.Git(t, "add", "a")
	w.Git(t, "commit", "-q", "-m", "start")
	r := open(t, w)
	var tree OID
	var objects []OID
	for i := range 700 {
		on, err := r.Objects.WriteBlob(fmt.Appendf(nil, "object %d\n", i))
		if err != nil {
			t.Fatal(err)
		}
		note, err := r.Objects.WriteBlob(fmt.Appendf(nil, "note %d\n", i))
		if err != nil {
			t.Fatal(err)
		}
		if tree, err = r.Objects.SetNotes(tree, map[OID]OID{on: note}); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, on)
	}
	commit, err := r.Objects.WriteCommit(Commit{Tree: tree, Author: "A <a@b>", Committer: "A <a@b>", Message: "notes\n"})
	if err != nil {
		t.Fatal(err)
	}
	w.Git(t, "update-ref", "refs/notes/test", string(commit))
	if n := strings.Count(w.Git(t, "notes", "--ref=test", "list"), "\n"); n != len(objects) {
		t.Fatalf("git sees %d notes of %d", n, len(objects))
	}
	w.Git(t, "notes", "--ref=test", "add", "-f", "-m", "from git", string(objects[3]))
	tip, err := r.Ref("refs/notes/test")
	if err != nil {
		t.Fatal(err)
	}
	tree, _ = r.Objects.Resolve(string(tip) + "^{tree}")
	for i, on := range objects {
		note, err := r.Objects.Note(tree, on)
		if err != nil || note == "" {
			t.Fatalf("note %d is lost: %v", i, err)
		}
	}
	note, _ := r.Objects.Note(tree, objects[3])
	if text, err := r.Objects.Blob(note); err != nil || string(text) != "from git\n" {
		t.Fatalf("git's note reads %q, %v", text, err)
	}
}

// TestObjectsAreGits: the objects that we write are well formed, and git names them as we do.
func TestObjectsAreGits(t *testing.T) {
	w := testkit.NewWorld(t)
	r := open(t, w)
	blob, err := r.Objects.WriteBlob([]byte("hello\n"))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := r.Objects.Overlay("", map[string]Blob{"a/b/c": {ModeFile, blob}, "a.b": {ModeExec, blob}, "a0": {ModeLink, blob}})
	if err != nil {
		t.Fatal(err)
	}
	commit, err := r.Objects.WriteCommit(Commit{Tree: tree, Author: "Ä <a@b>", Committer: "C <c@d>", Message: "s\n\nbody\n"})
	if err != nil {
		t.Fatal(err)
	}
	w.Git(t, "update-ref", "refs/heads/main", string(commit))
	w.Git(t, "fsck", "--strict")
	if got := strings.TrimSpace(w.Git(t, "ls-tree", "-r", "--name-only", "main")); got != "a.b\na/b/c\na0" {
		t.Errorf("tree: %q", got)
	}
	info, err := os.Stat(filepath.Join(w.Dir, ".git/objects", string(blob[:2]), string(blob[2:])))
	if err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("mode of an object: %v %v", info.Mode(), err)
	}
}
