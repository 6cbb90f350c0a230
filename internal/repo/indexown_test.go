package repo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-clada/git-clada/internal/testkit"
)

// TestOwnIndexConforms: an index that we write holds what git update-index makes of the same edit, git finds the same
// trees and the same status with it, and a concurrent reader sees no error.
func TestOwnIndexConforms(t *testing.T) {
	own := 0
	seed := uint64(testkit.Seed(t))
	for round := range testkit.Rounds(t, 25) {
		rng := rand.New(rand.NewPCG(seed, uint64(round)))
		t.Run(fmt.Sprintf("seed-%d-%d", seed, round), func(t *testing.T) {
			w := testkit.NewWorld(t)
			testkit.RandomTree(t, rng, w.Dir, 3)
			if rng.IntN(5) == 0 {
				setUpIndex(t, rng, w)
			}
			w.Git(t, "add", "-A")
			if rng.IntN(4) > 0 {
				w.Git(t, "commit", "-q", "--allow-empty", "-m", "start")
			}
			testkit.Disturb(t, rng, w.Dir)
			if ownIndex(t, rng, w) {
				own++
			}
		})
	}
	if own == 0 {
		t.Error("git wrote every index: nothing was compared")
	}
}

func ownIndex(t *testing.T, rng *rand.Rand, w *testkit.World) bool {
	ctx := context.Background()
	r := open(t, w)
	x, err := r.ReadIndex(ctx)
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Scan(ctx, x)
	if err != nil {
		t.Fatal(err)
	}
	edit := IndexEdit{Set: map[string]Blob{}, Refresh: map[string]Blob{}}
	all := rng.IntN(2) == 0 // otherwise some changed files stay as they are in the index
	for _, f := range s.Files {
		if all || rng.IntN(2) == 0 && !conflicting(s, f.Path) {
			edit.Refresh[f.Path] = f.Blob
		}
	}
	for i := range x.Entries {
		if p := strings.Clone(x.Entries[i].Path); rng.IntN(10) == 0 && !all {
			if _, also := edit.Refresh[p]; !also && !conflicting(s, p) {
				edit.Set[p] = []Blob{{}, {ModeExec, x.OID(&x.Entries[i])}}[rng.IntN(2)]
			}
		}
	}
	if err := os.MkdirAll(r.Private, 0o777); err != nil {
		t.Fatal(err)
	}
	ours := filepath.Join(w.Home, "ours")
	wrote, err := r.writeOwn(s, edit, ours)
	if err != nil {
		t.Fatal(err)
	}
	if !wrote {
		return false
	}
	gits := filepath.Join(r.Private, newIndex)
	s.Index.otherExtensions = true // now let git do it
	if err := r.PrepareIndex(ctx, s, edit); err != nil {
		t.Fatal(err)
	}
	s.Index.otherExtensions = false
	for _, args := range [][]string{{"ls-files", "-s"}, {"write-tree"}, {"status", "--porcelain"}, {"diff-files", "--name-only"}} {
		a, b := withIndex(t, w, ours, args...), withIndex(t, w, gits, args...)
		if args[0] == "diff-files" {
			// Where git took an entry from the file, neither may call it changed; others it may have to look at.
			for p := range edit.Refresh {
				if blob := edit.Refresh[p]; blob.Mode != ModeNone && strings.Contains("\n"+a, "\n"+p+"\n") {
					t.Errorf("%s is called changed", p)
				}
			}
			continue
		}
		if a != b {
			t.Errorf("git %v with our index:\n%s\nwith git's:\n%s", args, a, b)
		}
	}
	withIndex(t, w, ours, "update-index", "--refresh", "-q", "--unmerged", "--ignore-missing", "--really-refresh")
	withIndex(t, w, ours, "fsck", "--connectivity-only")
	return true
}

// conflicting reports whether a path is a directory of others in the scan, or the other way round: such paths must be
// edited together.
func conflicting(s *Scan, p string) bool {
	for _, f := range s.Files {
		if strings.HasPrefix(f.Path, p+"/") || strings.HasPrefix(p, f.Path+"/") {
			return true
		}
	}
	return false
}

func withIndex(t *testing.T, w *testkit.World, index string, args ...string) string {
	t.Helper()
	tmp := index + ".copy"
	copyIndex(t, index, tmp)
	cmd := exec.Command("git", args...)
	cmd.Dir = w.Dir
	cmd.Env = append(append([]string(nil), w.Env...), "GIT_INDEX_FILE="+tmp)
	out, err := cmd.CombinedOutput()
	if err != nil && args[0] != "update-index" {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestOwnIndexKeepsRaciness: a file that changes in the second of the old index, keeping its size, between our look and
// our writing, is still noticed by git with the new index, however much younger that is.
func TestOwnIndexKeepsRaciness(t *testing.T) {
	w := testkit.NewWorld(t)
	w.Write(t, "a", "one\n")
	w.Write(t, "b", "b\n")
	w.Git(t, "add", "-A")
	ctx := context.Background()
	r := open(t, w)
	x, err := r.ReadIndex(ctx)
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Scan(ctx, x)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(w.Dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	w.Write(t, "a", "two\n")
	// In the same second, whatever the clock says by now.
	later := info.ModTime().Truncate(time.Second).Add((time.Duration(info.ModTime().Nanosecond()) + 1) % time.Second)
	if err := os.Chtimes(filepath.Join(w.Dir, "a"), later, later); err != nil {
		t.Fatal(err)
	}
	ours := filepath.Join(w.Home, "ours")
	wrote, err := r.writeOwn(s, IndexEdit{Set: map[string]Blob{"b": {}}}, ours)
	if err != nil || !wrote {
		t.Fatal(wrote, err)
	}
	young := info.ModTime().Add(10 * time.Second)
	if err := os.Chtimes(ours, young, young); err != nil {
		t.Fatal(err)
	}
	if got := withIndex(t, w, ours, "diff", "--name-only"); got != "a\n" {
		t.Errorf("git diff says %q", got)
	}
}
