package apply_test

import (
	"errors"
	"io/fs"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/testkit"
	"github.com/git-clada/git-clada/internal/txn"
)

// TestFileCommandsLikeCoreutils carries out random rm, mv, cp, mkdir and touch commands twice: by us, and by the programs
// of that name. Where both succeed the trees are the same, and where the program fails, so do we. Refusing more than it
// does is allowed; a task that fails changes nothing, which the programs do not promise.
func TestFileCommandsLikeCoreutils(t *testing.T) {
	if out, err := exec.Command("cp", "--version").Output(); err != nil || !strings.Contains(string(out), "coreutils") {
		t.Skip("the file commands of this system are not those of GNU coreutils")
	}
	seed, rounds := testkit.Seed(t), testkit.Rounds(t, 400)
	r := rand.New(rand.NewSource(seed))
	umask := txn.Umask()
	both, failed, refused := 0, 0, 0
	for round := range rounds {
		ours, theirs := t.TempDir(), t.TempDir()
		for _, dir := range []string{ours, theirs} {
			plant(t, dir, rand.New(rand.NewSource(seed+int64(round))))
		}
		words := randomCommand(r)
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir, cmd.Env = theirs, append(os.Environ(), "LC_ALL=C")
		said, theirErr := cmd.CombinedOutput()
		ourErr := carryOut(t, ours, strings.Join(words, " "), umask)
		var status *exec.ExitError
		switch {
		case theirErr != nil && !errors.As(theirErr, &status):
			t.Fatal(theirErr)
		case ourErr != nil && theirErr != nil, strings.Contains(string(said), "will not create hard link"):
			failed++ // copying a directory twice is an error of cp -a only because it keeps links
		case ourErr != nil:
			refused++
			if os.Getenv("REFUSED") != "" {
				t.Logf("refused: %v: %v", words, ourErr)
			}
		case theirErr != nil:
			t.Errorf("seed %d round %d: %v: the program fails (%v), we did\n%s", seed, round, words, theirErr, picture(t, ours))
		default:
			both++
			if a, b := picture(t, ours), picture(t, theirs); a != b {
				t.Errorf("seed %d round %d: %v:\nours\n%s\ntheirs\n%s", seed, round, words, a, b)
			}
		}
		if t.Failed() {
			return
		}
	}
	if both < rounds/5 {
		t.Errorf("only %d of %d commands were carried out by both", both, rounds)
	}
	t.Logf("%d commands: %d carried out by both, %d by neither, %d refused by us alone (seed %d)", rounds, both, failed, refused, seed)
}

func carryOut(t *testing.T, dir, command string, umask fs.FileMode) error {
	t.Helper()
	plain, err := txn.OpenPlain(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	b := &batch.Batch{Tasks: []batch.Task{{Seq: 1, Op: batch.Run{Command: command}}}}
	cs := apply.Plan(b, plain.Tree(), apply.Options{Umask: umask})
	if cs.Results[0].Err != nil {
		return cs.Results[0].Err
	}
	if cs.Results[0].AlreadyApplied {
		return errors.New("already in place")
	}
	if err := plain.Write(cs.Changes); err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return nil
}

// plant makes a small tree of files, directories and a link.
func plant(t *testing.T, dir string, r *rand.Rand) {
	t.Helper()
	write := func(name, content string, perm fs.FileMode) {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(full, perm); err != nil {
			t.Fatal(err)
		}
		when := unix.NsecToTimespec(int64(1_700_000_000+r.Intn(3)*100) * 1_000_000_000)
		if err := unix.UtimesNanoAt(unix.AT_FDCWD, full, []unix.Timespec{when, when}, 0); err != nil {
			t.Fatal(err)
		}
	}
	write("a", "A\n", 0o644)
	write("b", "B\n", 0o755)
	write("d/x", "X\n", 0o600)
	write("d/sub/y", "Y\n", 0o644)
	write("e/x", "EX\n", 0o755)
	write("f", "", 0o640)
	if err := os.MkdirAll(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "g/d"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
}

func randomCommand(r *rand.Rand) []string {
	pick := func(all ...string) string { return all[r.Intn(len(all))] }
	path := func() string {
		return pick("a", "b", "d", "d/x", "d/sub", "d/sub/y", "e", "e/x", "f", "empty", "g", "g/d", "link", "new", "new/er", "d/new", "a/below", "./a", "d/../b") +
			pick("", "", "", "", "/")
	}
	name := pick("rm", "mv", "mv", "cp", "cp", "mkdir", "touch")
	options := map[string][]string{
		"rm":    {"-r", "-f", "-rf", "-d", "-v", "--recursive", "--force", "--dir", "-R"},
		"mv":    {"-f", "-n", "-v", "-u", "-T", "--no-clobber", "--update", "--no-target-directory"},
		"cp":    {"-r", "-a", "-p", "-f", "-n", "-u", "-T", "-d", "-P", "-x", "-R", "--archive", "--recursive", "--preserve=mode", "--update"},
		"mkdir": {"-p", "-v", "--parents"},
		"touch": {"-c", "-a", "-m", "--no-create"},
	}[name]
	words := []string{name}
	for range r.Intn(3) {
		words = append(words, options[r.Intn(len(options))])
	}
	n := 1
	if name == "mv" || name == "cp" {
		n = 2
	}
	for range n + r.Intn(2) {
		words = append(words, path())
	}
	return words
}

// picture writes a tree as text: kind, mode and content of each path.
func picture(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(full string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, full)
		info, err := e.Info()
		if err != nil {
			return err
		}
		content := ""
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			content, err = os.Readlink(full)
		case info.Mode().IsRegular():
			var data []byte
			data, err = os.ReadFile(full)
			content = string(data)
		}
		mode := info.Mode().String()
		if name == "." || info.Mode()&fs.ModeSymlink != 0 {
			mode = mode[:1]
		}
		b.WriteString(name + " " + mode + " " + strconv.Quote(content) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
