package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/git-clada/git-clada/internal/testkit"
)

// killCommands changes a file around a command that only reads and around one that could change anything, and does not:
// what a command changes when it is killed is nobody's to put back.
const killCommands = `<<<<<<< WRITE path="before.txt"
before
>>>>>>> END
<<<<<<< RUN
cat before.txt
>>>>>>> END
<<<<<<< RUN
sh -c true
>>>>>>> END
<<<<<<< WRITE path="before.txt"
after
>>>>>>> END
`

// TestKill kills the whole process tree at its file-changing system calls, one after the other, and then lets the next
// command recover. The state must be the one from before the command or the one after it, exactly.
//
// KILL_STEP=n tries every n-th point only; the full sweep is make fault.
func TestKill(t *testing.T) {
	if why := testkit.CanKill(); why != "" {
		t.Skip(why)
	}
	program := buildProgram(t)
	before := killWorld(t)
	untouched := before.Photo(t)
	applied := before.Copy(t)
	clada(t, program, applied, "apply", "-q", "../reply.md")
	after := applied.Photo(t)

	accepted := applied.Copy(t)
	clada(t, program, accepted, "accept", "-q")
	discarded := applied.Copy(t)
	clada(t, program, discarded, "discard", "-q")
	undone := applied.Copy(t)
	clada(t, program, undone, "undo", "-q")
	if diff := testkit.Diff(untouched, undone.Photo(t)); diff != "" {
		t.Fatalf("undo without any kill:\n%s", diff)
	}

	commands := before.Copy(t)
	clada(t, program, commands, "allow", "add", "-q", "--", "sh", "-c", "true")
	commands.Write(t, "../commands.md", killCommands)

	for _, c := range []struct {
		name  string
		start *testkit.World
		from  string
		to    string // "" where commits get new dates: then undo must lead back to from
		args  []string
	}{
		{"apply", before, untouched, "", []string{"apply", "-q", "../reply.md"}},
		{"apply with commands", commands, commands.Photo(t), "", []string{"apply", "-q", "../commands.md"}},
		{"undo", applied, after, untouched, []string{"undo", "-q"}},
		{"redo", undone, untouched, after, []string{"redo", "-q"}},
		{"accept", applied, after, accepted.Photo(t), []string{"accept", "-q"}},
		{"discard", applied, after, discarded.Photo(t), []string{"discard", "-q"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			total, _, err := testkit.KillAt(cladaCommand(program, c.start.Copy(t), c.args...), 0)
			if err != nil {
				t.Fatal(err)
			}
			step, tried, finished := killStep(t), 0, 0
			for k := 1; k <= total; k += step {
				w := c.start.Copy(t)
				_, killed, err := testkit.KillAt(cladaCommand(program, w, c.args...), k)
				if err != nil {
					t.Fatal(err)
				}
				if !killed {
					continue // this run had fewer calls
				}
				tried++
				clada(t, program, w, "recover", "-q")
				now := w.Photo(t)
				if now != c.from {
					finished++
					if c.to == "" {
						clada(t, program, w, "undo", "-q")
						now = w.Photo(t)
					} else if now == c.to {
						now = c.from
					}
				}
				if diff := testkit.Diff(c.from, now); diff != "" {
					t.Errorf("killed at call %d of %d, then recovered:\n%s", k, total, diff)
				}
				if left := leftovers(t, w); len(left) > 0 {
					t.Errorf("killed at call %d of %d: left behind %v", k, total, left)
				}
				w.Git(t, "fsck", "--connectivity-only")
				os.RemoveAll(w.Home)
			}
			if tried == 0 {
				t.Fatal("no point was tried")
			}
			t.Logf("%s: %d of %d kill points tried, all recovered (%d taken back, %d finished)", c.name, tried, total, tried-finished, finished)
		})
	}
}

func killStep(t *testing.T) int {
	n, err := strconv.Atoi(os.Getenv("KILL_STEP"))
	if err != nil || n < 1 {
		return 10
	}
	return n
}

// buildProgram builds the real program: a test binary would have other system calls.
func buildProgram(t testing.TB) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "git-clada")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

func cladaCommand(program string, w *testkit.World, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = w.Dir, w.Env
	return cmd
}

func clada(t testing.TB, program string, w *testkit.World, args ...string) string {
	t.Helper()
	out, err := cladaCommand(program, w, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("git clada %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// killWorld is dirty in every way: staged, unstaged, untracked, announced, ignored, with links, modes and line endings.
func killWorld(t testing.TB) *testkit.World {
	w := testkit.NewWorld(t)
	w.Write(t, ".gitignore", "*.log\n")
	w.Write(t, ".gitattributes", "*.crlf text eol=crlf\n")
	w.Write(t, "a.txt", "one\ntwo\nthree\n")
	w.Write(t, "d/x", "x\n")
	w.Write(t, "d/y", "y\n")
	w.Write(t, "w.crlf", "one\r\ntwo\r\n")
	w.Git(t, "add", "-A")
	w.Git(t, "commit", "-q", "-m", "start")
	w.Write(t, "d/x", "x\nstaged\n")
	w.Git(t, "add", "d/x")
	w.Write(t, "d/x", "x\nstaged\nunstaged\n")
	w.Write(t, "untracked.txt", "mine\n")
	w.Write(t, "debug.log", "precious\n")
	w.Write(t, "announced", "soon\n")
	w.Git(t, "add", "-N", "announced")
	if err := os.Mkdir(filepath.Join(w.Dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	reply := `<<<<<<< SEARCH path="a.txt"
two
=======
TWO
>>>>>>> REPLACE
<<<<<<< WRITE path="deep/er/new.txt"
new
>>>>>>> END
<<<<<<< WRITE path="debug.log" append="true"
more
>>>>>>> END
<<<<<<< SEARCH path="w.crlf"
one
=======
ONE
>>>>>>> REPLACE
<<<<<<< RUN
mv d/y moved
>>>>>>> END
<<<<<<< RUN
rm -r empty
>>>>>>> END
`
	if err := os.WriteFile(filepath.Join(w.Home, "reply.md"), []byte(reply), 0o666); err != nil {
		t.Fatal(err)
	}
	return w
}

// leftovers finds locks, journals and temporary files of ours.
func leftovers(t testing.TB, w *testkit.World) []string {
	var found []string
	err := filepath.WalkDir(w.Dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		rel, _ := filepath.Rel(w.Dir, p)
		ours := strings.HasPrefix(rel, ".git/clada/") && name != "id" && name != "lock" && name != "trusted-commands.json" && !strings.HasSuffix(name, ".tmp")
		if strings.HasSuffix(name, ".lock") && name != "clada-notes.lock" || strings.HasPrefix(name, ".clada-tmp") || ours {
			found = append(found, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
