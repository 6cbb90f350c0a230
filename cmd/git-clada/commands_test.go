package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/runner"
	"github.com/git-clada/git-clada/internal/txn"
)

// judged decides about the commands of a plan and starts none.
type judged struct {
	policy   *runner.Policy
	verdicts []*runner.Verdict
}

func (j *judged) Blocked(text string) bool { return j.policy.Approvals.Blocks(text) }

func (j *judged) Start(c *apply.Command) apply.Started {
	cmd := &runner.Command{Text: c.Text, Language: c.Language, Words: c.Words, Refusal: c.Refusal, Dir: c.Dir}
	v, err := j.policy.Judge(cmd, c.Paths)
	if err != nil {
		return apply.Started{Err: err}
	}
	j.verdicts = append(j.verdicts, v)
	return apply.Started{Rehearsed: true}
}

// commandWorld is a tree with something of everything.
func commandWorld(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range map[string]string{
		"README.md": "# x\n", "src/a.go": "package a\n", "src/b.go": "package b\n", "docs/x.md": "x\n", "a.txt": "a\n", "b.txt": "b\n",
		"with space.txt": "x\n", "-dash.txt": "x\n", ".github/workflows/ci.yml": "on: push\n", "..dots/x": "x\n", "old.txt": "x\n",
		"build/x": "x\n", "src/old/x": "x\n", "docs/old/x": "x\n", "src/old.go": "x\n", ".git/config": "[core]\n",
		".clada/allowed-commands.json": "{}\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"link": "README.md", "linkdir": "src"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// judge plans one command in a world.
func judge(t *testing.T, dir, command string) (*apply.Result, *runner.Verdict) {
	t.Helper()
	plain, err := txn.OpenPlain(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	policy := &runner.Policy{Top: dir, System: runner.SystemPath, Git: &runner.Git{}, Approvals: &runner.Approvals{}}
	j := &judged{policy: policy}
	b := &batch.Batch{Tasks: []batch.Task{{Seq: 1, Action: "RUN", Op: batch.Run{Command: command}}}}
	cs := apply.Plan(b, plain.Tree(), apply.Options{TopDir: dir, Programs: j})
	if len(j.verdicts) == 0 {
		return &cs.Results[0], nil
	}
	return &cs.Results[0], j.verdicts[0]
}

func corpus(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile("../../testdata/commands/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && !strings.HasPrefix(line, "# ") {
			lines = append(lines, line)
		}
	}
	if len(lines) < 50 {
		t.Fatalf("%s has only %d lines", name, len(lines))
	}
	return lines
}

// TestHonestCommands: what a model that means well asks for every day is not refused, and nothing of it but git's and
// find's own words reaches a program in a form that could be read otherwise.
func TestHonestCommands(t *testing.T) {
	dir := commandWorld(t)
	for _, command := range corpus(t, "honest.txt") {
		command = strings.ReplaceAll(command, "$TOP", dir)
		r, v := judge(t, dir, command)
		if r.Status != apply.OK && r.Status != apply.Unchanged {
			t.Errorf("%s\n\t%v\n\t%s", command, r.Err, strings.ReplaceAll(r.Err.Hint, "\n", "\n\t"))
		}
		if v != nil && (v.Class != runner.Builtin || v.Program.Timeout != runner.BuiltinTimeout) {
			t.Errorf("%s: %+v", command, v)
		}
	}
}

// TestRefusedCommands: what must not run is refused, with its code and a reason.
func TestRefusedCommands(t *testing.T) {
	dir := commandWorld(t)
	for _, line := range corpus(t, "refused.txt") {
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			t.Fatalf("three fields, please: %q", line)
		}
		command := strings.ReplaceAll(fields[0], `\n`, "\n")
		r, v := judge(t, dir, command)
		if r.Status != apply.Failed || v != nil {
			t.Errorf("%s: not refused", command)
			continue
		}
		if string(r.Err.Code) != fields[1] || !strings.Contains(r.Err.Message, fields[2]) {
			t.Errorf("%s\n\t%v\n\twant %s with %q", command, r.Err, fields[1], fields[2])
		}
		if r.Err.Code == diag.CommandNotAllowed && r.Err.Hint == "" {
			t.Errorf("%s: no hint", command)
		}
	}
}
