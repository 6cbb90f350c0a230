package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/git-clada/git-clada/internal/testkit"
)

// TestReplies applies the whole replies of testdata/replies to the trees of their cases, in a repository, and compares
// the tree, the tree id that check foretold, and the state after undo.
func TestReplies(t *testing.T) {
	cases, err := filepath.Glob("../../testdata/replies/*/case.txtar")
	if err != nil || len(cases) < 40 {
		t.Fatal("only", len(cases), "replies", err)
	}
	program := buildProgram(t)
	for _, file := range cases {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			reply, err := filepath.Abs(filepath.Join(filepath.Dir(file), "reply.md"))
			if err != nil {
				t.Fatal(err)
			}
			w, want, status := testkit.NewWorld(t), map[string]string{}, map[string]string{}
			for _, f := range a.Files {
				side, name, ok := strings.Cut(f.Name, "/")
				switch {
				case !ok:
					status[f.Name] = strings.ReplaceAll(strings.TrimSpace(string(f.Data)), " \n", "\n")
				case side == "before":
					w.Write(t, name, string(f.Data))
				default:
					want[name] = string(f.Data)
				}
			}
			w.Git(t, "add", "-A")
			w.Git(t, "commit", "-q", "--allow-empty", "-m", "before")
			before := w.Photo(t)
			foretold := outcome(t, program, w, "check", reply)
			done := outcome(t, program, w, "apply", reply)
			if done.Tree != "" && foretold.Tree != done.Tree {
				t.Errorf("check foretold tree %s, apply made %s", foretold.Tree, done.Tree)
			}
			if got := strings.Join(done.statuses(), " "); got != status["status"] {
				t.Errorf("tasks: %s, want %s", got, status["status"])
			}
			if got := strings.Join(done.problems(), " "); got != status["problems"] {
				t.Errorf("problems: %s, want %s", got, status["problems"])
			}
			if got := done.batch(); got != status["batch"] {
				t.Errorf("batch:\n%s\nwant:\n%s", got, status["batch"])
			}
			compareFiles(t, w, want)
			if done.PreCommit != "" {
				clada(t, program, w, "undo", "-q")
			}
			if diff := testkit.Diff(before, w.Photo(t)); diff != "" {
				t.Errorf("after undo:\n%s", diff)
			}
		})
	}
}

type jsonOutcome struct {
	Tree      string
	PreCommit string
	Results   []struct{ Dialect, Op, Path, Status, Code string }
	Parse     []struct{ Code string } `json:"parseErrors"`
}

func (o *jsonOutcome) statuses() []string {
	var all []string
	for _, r := range o.Results {
		if r.Status == "failed" {
			r.Status = r.Code
		}
		all = append(all, r.Status)
	}
	return all
}

// batch gives what was understood, a task on each line.
func (o *jsonOutcome) batch() string {
	var lines []string
	for _, r := range o.Results {
		lines = append(lines, strings.TrimSpace(r.Dialect+" "+r.Op+" "+r.Path))
	}
	return strings.Join(lines, "\n")
}

func (o *jsonOutcome) problems() []string {
	var all []string
	for _, p := range o.Parse {
		all = append(all, p.Code)
	}
	return all
}

func outcome(t *testing.T, program string, w *testkit.World, args ...string) *jsonOutcome {
	t.Helper()
	cmd := cladaCommand(program, w, append(args, "--json")...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, _ := cmd.Output() // it may exit with 1
	var o jsonOutcome
	if err := json.Unmarshal(out, &o); err != nil {
		t.Fatalf("%v: %v\n%s%s", args, err, out, errs.String())
	}
	return &o
}

func compareFiles(t *testing.T, w *testkit.World, want map[string]string) {
	t.Helper()
	for name := range strings.SplitSeq(w.Git(t, "ls-files", "-coz"), "\x00") {
		have, err := os.ReadFile(filepath.Join(w.Dir, name))
		if err != nil {
			continue
		}
		if text, ok := want[name]; !ok || text != string(have) {
			t.Errorf("%s holds %q, want %q", name, have, text)
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s is missing", name)
	}
}
