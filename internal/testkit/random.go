package testkit

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Seed is the seed of a random test: SEED, or else 1, so that everybody runs the same cases.
func Seed(t testing.TB) int64 {
	t.Helper()
	return number(t, "SEED", 1)
}

// Rounds is how many random cases a test runs: RANDOM_ROUNDS, or else usual.
func Rounds(t testing.TB, usual int) int {
	t.Helper()
	return int(number(t, "RANDOM_ROUNDS", int64(usual)))
}

// number reads a positive number of the environment. One that is not fails the test: it would not run what was asked for.
func number(t testing.TB, name string, usual int64) int64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		t.Fatalf("%s=%q is not a positive number", name, text)
	}
	return n
}

// Names are file names that tests make trees of: some need quoting, some look like patterns.
var Names = []string{"a", "b", "foo", "bar.o", "foo.txt", "x.log", "build", "doc", "aux.c", "weird name", "ümlaut", "#hash", "!bang", "tr ", "A"}

// Patterns are lines of ignore files.
var Patterns = []string{
	"*.o", "*.log", "/build", "build/", "foo*", "!foo.txt", "doc/**", "**/bar.o", "a/**/b", "/a/*", "!/a/b", "[ab]", "?", "*.t[x-z]t", "# comment",
	`\#hash`, `\!bang`, "weird name", "tr\\ ", "foo/", "**", "!**/", "*", "!*.txt", "!a", "/doc/foo", "a/b", "**/build/", "!build/", "[[:alpha:]].txt", "[!a]",
	"a/", "x.*", "ü*", "", "   ", "/*", "!/doc", "b/**/", "**/a", "*a*",
}

// RandomTree writes random files, links and directories below dir.
func RandomTree(t testing.TB, rng *rand.Rand, dir string, depth int) {
	t.Helper()
	for range 1 + rng.IntN(6) {
		name := filepath.Join(dir, Names[rng.IntN(len(Names))])
		if _, err := os.Lstat(name); err == nil {
			continue
		}
		switch k := rng.IntN(10); {
		case k < 3 && depth > 0:
			if err := os.Mkdir(name, 0o777); err != nil {
				t.Fatal(err)
			}
			RandomTree(t, rng, name, depth-1)
		case k == 3:
			if err := os.Symlink(Names[rng.IntN(len(Names))], name); err != nil {
				t.Fatal(err)
			}
		default:
			perm := os.FileMode(0o644)
			if k == 4 {
				perm = 0o755
			}
			if err := os.WriteFile(name, fmt.Appendf(nil, "content %d\n", rng.IntN(50)), perm); err != nil {
				t.Fatal(err)
			}
		}
	}
	if rng.IntN(3) == 0 {
		var lines []string
		for range 1 + rng.IntN(4) {
			lines = append(lines, Patterns[rng.IntN(len(Patterns))])
		}
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Disturb changes, removes and replaces random files.
func Disturb(t testing.TB, rng *rand.Rand, top string) {
	t.Helper()
	filepath.WalkDir(top, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" {
			return filepath.SkipDir
		}
		if p == top || d.Name() == ".gitignore" {
			return nil
		}
		switch rng.IntN(12) {
		case 0:
			os.RemoveAll(p)
			if d.IsDir() {
				return filepath.SkipDir
			}
		case 1:
			if d.Type().IsRegular() {
				os.WriteFile(p, fmt.Appendf(nil, "changed %d\n", rng.IntN(50)), 0o644)
			}
		case 2:
			if d.Type().IsRegular() {
				os.Chmod(p, 0o755)
			}
		case 3:
			if !d.IsDir() {
				os.Remove(p)
				os.Mkdir(p, 0o777)
				os.WriteFile(filepath.Join(p, "inner"), []byte("inner\n"), 0o644)
				return filepath.SkipDir
			}
			os.RemoveAll(p)
			os.WriteFile(p, []byte("was a directory\n"), 0o644)
			return filepath.SkipDir
		case 4:
			if d.Type().IsRegular() {
				os.Remove(p)
				os.Symlink("elsewhere", p)
			}
		}
		return nil
	})
}
