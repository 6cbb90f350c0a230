package review

import (
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

// TestGitApplies: git apply takes every difference that we write, and makes the new file of the old one.
func TestGitApplies(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "line %d\n", rng.IntN(6))
		}
		return b.String()
	}
	w := testkit.NewWorld(t)
	cases := [][2]Side{
		{{}, {Exists: true, Data: []byte("new\n")}},
		{{}, {Exists: true, Exec: true, Data: []byte("no newline")}},
		{{Exists: true, Data: []byte("old\n")}, {}},
		{{}, {Exists: true}},
		{{Exists: true, Data: []byte("a\nb")}, {Exists: true, Data: []byte("a\nc\n")}},
		{{Exists: true, Data: []byte("a\n")}, {Exists: true, Exec: true, Data: []byte("a\n")}},
		{{Exists: true}, {Exists: true, Data: []byte("x\n")}},
		{{Exists: true, Data: []byte("x\n")}, {Exists: true}},
	}
	for range 60 {
		cases = append(cases, [2]Side{{Exists: true, Data: []byte(random(rng.IntN(30)))}, {Exists: true, Data: []byte(random(rng.IntN(30)))}})
	}
	big := random(3000)
	cases = append(cases, [2]Side{{Exists: true, Data: []byte(big)}, {Exists: true, Data: []byte("top\n" + big[:len(big)/2] + "middle\n" + big[len(big)/2:])}})
	for i, c := range cases {
		file := filepath.Join(w.Dir, "f.txt")
		os.Remove(file)
		if c[0].Exists {
			if err := os.WriteFile(file, c[0].Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		patch := Unified("f.txt", c[0], c[1])
		if string(c[0].Data) != string(c[1].Data) || c[0].mode() != c[1].mode() || c[0].Exists != c[1].Exists {
			cmd := exec.Command("git", "apply", "-")
			cmd.Dir, cmd.Env, cmd.Stdin = w.Dir, w.Env, strings.NewReader(patch)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("case %d: %v\n%s\n%s", i, err, out, patch)
			}
		}
		got, err := os.ReadFile(file)
		if (err == nil) != c[1].Exists || string(got) != string(c[1].Data) {
			t.Fatalf("case %d: got %q (%v), want %q\n%s", i, got, err, c[1].Data, patch)
		}
	}
}

// TestLargeRewrite: ten thousand different lines do not blow up.
func TestLargeRewrite(t *testing.T) {
	var a, b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&a, "old %d\n", i)
		fmt.Fprintf(&b, "new %d\n", i)
	}
	start := time.Now()
	patch := Unified("f", Side{Exists: true, Data: []byte(a.String())}, Side{Exists: true, Data: []byte(b.String())})
	if strings.Count(patch, "\n") < 20_000 {
		t.Error("lines are missing")
	}
	t.Logf("a rewrite of 10,000 lines: %v", time.Since(start))
}
