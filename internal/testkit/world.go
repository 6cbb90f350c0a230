// Package testkit is for tests: a sealed world with the real git, photographs of a repository's whole state as text,
// and a supervisor that kills a process tree at a chosen system call. Only _test.go files import it.
package testkit

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// World is a directory with a repository in it, and an environment in which git sees nothing else.
type World struct {
	Home string
	Dir  string // the top of the repository's working tree
	Env  []string
}

const gitConfig = `[user]
	name = A U Thor
	email = author@example.com
[init]
	defaultBranch = main
[gc]
	auto = 0
[maintenance]
	auto = false
`

// SealedEnv gives an environment in which git reads no configuration but the one that it writes into home.
func SealedEnv(home string) ([]string, error) {
	config := filepath.Join(home, "gitconfig")
	if err := os.WriteFile(config, []byte(gitConfig), 0o666); err != nil {
		return nil, err
	}
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_GLOBAL=" + config, "GIT_CONFIG_NOSYSTEM=1",
		"XDG_CONFIG_HOME=" + filepath.Join(home, "xdg"), "TZ=UTC", "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "TMPDIR=" + os.TempDir(),
	}, nil
}

// NewWorld makes a world with an empty repository.
func NewWorld(t testing.TB) *World {
	t.Helper()
	home := t.TempDir()
	env, err := SealedEnv(home)
	if err != nil {
		t.Fatal(err)
	}
	w := &World{Home: home, Dir: filepath.Join(home, "work"), Env: env}
	if err := os.Mkdir(w.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	w.Git(t, "init", "-q")
	return w
}

// Copy makes a copy of the world, with the index's idea of the files intact as far as a copy can keep it.
func (w *World) Copy(t testing.TB) *World {
	t.Helper()
	home := t.TempDir()
	if out, err := exec.Command("cp", "-a", w.Home+"/.", home).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
	env, err := SealedEnv(home)
	if err != nil {
		t.Fatal(err)
	}
	return &World{Home: home, Dir: filepath.Join(home, "work"), Env: env}
}

// Git runs git in the repository and gives its output; a failure ends the test.
func (w *World) Git(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.Dir, w.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Write writes a file, with its parents.
func (w *World) Write(t testing.TB, name, content string) {
	t.Helper()
	file := filepath.Join(w.Dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Photo gives the whole state of the world's repository as text.
func (w *World) Photo(t testing.TB) string {
	t.Helper()
	text, err := Photo(w.Dir, w.Env)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Photo gives the state of a repository as text: HEAD, all refs but our log and notes, the index entry by entry with
// flags, and every file, link and directory of the working tree with mode and content.
func Photo(dir string, env []string) (string, error) {
	var b strings.Builder
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(append([]string(nil), env...), "GIT_OPTIONAL_LOCKS=0")
		out, err := cmd.Output()
		if err != nil {
			return "none\n"
		}
		return string(out)
	}
	b.WriteString("HEAD " + git("symbolic-ref", "-q", "HEAD"))
	b.WriteString("at " + git("rev-parse", "-q", "--verify", "HEAD"))
	for line := range strings.Lines(git("for-each-ref", "--format=%(refname) %(objectname)")) {
		if !strings.HasPrefix(line, "refs/clada/") && !strings.HasPrefix(line, "refs/notes/clada") {
			b.WriteString("ref " + line)
		}
	}
	for line := range strings.Lines(git("ls-files", "-s", "-v")) {
		b.WriteString("index " + line)
	}
	for line := range strings.Lines(git("diff-files", "--name-status", "--diff-filter=A")) {
		b.WriteString("announced " + line)
	}
	top := strings.TrimSpace(git("rev-parse", "--show-toplevel"))
	if top == "none" {
		top = dir
	}
	err := photoTree(&b, top)
	return b.String(), err
}

func photoTree(b *strings.Builder, top string) error {
	var lines []string
	err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(top, p)
		if d.Name() == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprintf("file %q %v", rel, info.Mode())
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %d %x", len(data), sha256.Sum256(data))
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			if err != nil {
				return err
			}
			line += " -> " + target
		}
		lines = append(lines, line)
		return nil
	})
	sort.Strings(lines)
	b.WriteString(strings.Join(lines, "\n") + "\n")
	return err
}

// Diff gives the lines that two photos have differently.
func Diff(before, after string) string {
	count := map[string]int{}
	for line := range strings.Lines(before) {
		count[line]++
	}
	for line := range strings.Lines(after) {
		count[line]--
	}
	var out []string
	for line, n := range count {
		switch {
		case n > 0:
			out = append(out, "- "+line)
		case n < 0:
			out = append(out, "+ "+line)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i][2:] < out[j][2:] })
	return strings.Join(out, "")
}
