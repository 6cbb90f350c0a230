package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-clada/git-clada/internal/testkit"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"git-clada": main})
}

const scripts = "../../testdata/script"

// TestScript runs the scripts of testdata/script with the real git. The first line of each is the sentence that
// docs/behaviours.md promises.
func TestScript(t *testing.T) { testscript.Run(t, scriptParams(scripts)) }

func scriptParams(dir string) testscript.Params {
	return testscript.Params{
		Dir: dir,
		Setup: func(env *testscript.Env) error {
			vars, err := testkit.SealedEnv(env.WorkDir)
			if err != nil {
				return err
			}
			for _, kv := range vars {
				name, value, _ := strings.Cut(kv, "=")
				if name != "PATH" && name != "TMPDIR" {
					env.Setenv(name, value)
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"repo": scriptRepo, "photo": scriptPhoto, "same": scriptSame, "undone": scriptUndone, "bytes": scriptBytes,
			"blob": scriptBlob, "big": scriptBig, "lines": scriptLines,
			"await": scriptAwait,
		},
	}
}

// TestScriptsUndo: every script that changes something also shows that undo gives the whole state back.
func TestScriptsUndo(t *testing.T) {
	files, err := filepath.Glob(scripts + "/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	changing := regexp.MustCompile(`(?m)^exec git clada (apply|accept|discard)\b`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if changing.Match(text) && !bytes.Contains(text, []byte("\nundone ")) {
			t.Errorf("%s changes something and never says undone", filepath.Base(file))
		}
		if !bytes.HasPrefix(text, []byte("# ")) {
			t.Errorf("%s does not start with the sentence it shows", filepath.Base(file))
		}
	}
}

func scriptEnv(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "XDG_CONFIG_HOME", "TZ", "LC_ALL", "TMPDIR"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}

func run1(ts *testscript.TestScript, dir string, args ...string) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, scriptEnv(ts)
	if out, err := cmd.CombinedOutput(); err != nil {
		ts.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// repo DIR makes a repository of the files in DIR, committed, and goes there.
func scriptRepo(ts *testscript.TestScript, neg bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o777))
	run1(ts, dir, "git", "init", "-q")
	run1(ts, dir, "git", "add", "-A")
	run1(ts, dir, "git", "commit", "-q", "--allow-empty", "-m", "start")
	ts.Check(ts.Chdir(dir))
}

// photo NAME photographs the repository of the current directory.
func scriptPhoto(ts *testscript.TestScript, neg bool, args []string) {
	text, err := testkit.Photo(ts.MkAbs("."), scriptEnv(ts))
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), args[0]+".photo"), []byte(text), 0o666))
}

// same NAME compares the repository with a photo; ! same wants a difference.
func scriptSame(ts *testscript.TestScript, neg bool, args []string) {
	before, err := os.ReadFile(filepath.Join(ts.Getenv("WORK"), args[0]+".photo"))
	ts.Check(err)
	now, err := testkit.Photo(ts.MkAbs("."), scriptEnv(ts))
	ts.Check(err)
	diff := testkit.Diff(string(before), now)
	if (diff == "") == neg {
		ts.Fatalf("the state is not as in photo %s:\n%s", args[0], diff)
	}
}

// undone NAME [N] undoes N operations (one, if not said) and compares with a photo.
func scriptUndone(ts *testscript.TestScript, neg bool, args []string) {
	n := 1
	if len(args) > 1 {
		var err error
		n, err = strconv.Atoi(args[1])
		ts.Check(err)
	}
	for range n {
		run1(ts, ts.MkAbs("."), "git", "clada", "undo")
	}
	scriptSame(ts, false, args[:1])
}

// await FILE waits until another process has written to a file.
func scriptAwait(ts *testscript.TestScript, neg bool, args []string) {
	const patience = 30 * time.Second
	for start := time.Now(); time.Since(start) < patience; {
		if info, err := os.Stat(ts.MkAbs(args[0])); err == nil && info.Size() > 0 {
			return
		}
		run1(ts, ts.MkAbs("."), "true") // gives the other process the time
	}
	ts.Fatalf("nobody wrote %s", args[0])
}

// bytes FILE QUOTED writes a file from a Go string literal.
func scriptBytes(ts *testscript.TestScript, neg bool, args []string) {
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	file := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o777))
	ts.Check(os.WriteFile(file, []byte(text), 0o666))
}

// blob FILE QUOTED compares a file with a Go string literal.
func scriptBlob(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	have, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	if (string(have) == want) == neg {
		ts.Fatalf("%s holds %q, not %q", args[0], have, want)
	}
}

// big FILE N makes a file of N bytes.
func scriptBig(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat([]byte("0123456789abcde\n"), n/16+1)[:n], 0o666))
}

// lines FILE N counts the lines of a file.
func scriptLines(ts *testscript.TestScript, neg bool, args []string) {
	text := ts.ReadFile(args[0])
	if got := fmt.Sprint(strings.Count(text, "\n")); (got == args[1]) == neg {
		ts.Fatalf("%s has %s lines, not %s:\n%s", args[0], got, args[1], text)
	}
}
