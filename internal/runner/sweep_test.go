package runner

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/testkit"
)

// anyPath lets every operand through: the sweep shows that options and confinement hold by themselves.
type anyPath struct{}

func (anyPath) Content(raw string) (string, *diag.Error) { return raw, nil }
func (anyPath) Entry(raw string) (string, *diag.Error)   { return raw, nil }
func (anyPath) Inside(raw string) (string, *diag.Error)  { return raw, nil }

const tripwire = "TRIPWIRE-8f3a"

// trap makes a repository in which everything that git and others could be led to start leaves a trace, beside a file
// with a secret that links of the tree point to.
func trap(t *testing.T) (home, top string, p *Policy) {
	t.Helper()
	home = t.TempDir()
	top = filepath.Join(home, "work")
	write := func(name, content string, perm fs.FileMode) {
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), perm); err != nil {
			t.Fatal(err)
		}
	}
	write("secret", tripwire+"\n", 0o644)
	write("trip", "#!/bin/sh\necho \"$0 $*\" >>"+home+"/tripped\ncat\n", 0o755)
	for name, content := range map[string]string{
		"README.md": "one\ntwo\nthree\n", "src/a.go": "package a\n\nfunc A() {}\n", "src/b.go": "package b\n", "src/c.bin": "\x00\x01", "list": "README.md\n",
		".gitattributes": "*.go diff=trip filter=trip\n",
	} {
		write("work/"+name, content, 0o644)
	}
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"}, args...)...)
		cmd.Dir = top
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("add", "-A")
	git("commit", "-q", "-m", "start")
	write("work/README.md", "one\n2\nthree\n", 0o644)
	git("stash", "-q")
	write("work/src/a.go", "package a\n\nfunc B() {}\n", 0o644)
	git("commit", "-q", "-a", "-m", "second")
	git("branch", "other")
	write("work/src/a.go", "package a\n\nfunc C() {}\n", 0o644)
	write("work/new", "new\n", 0o644)
	for link, target := range map[string]string{"out": "../secret", "outdir": "..", "inlink": "README.md", "srclink": "src"} {
		if err := os.Symlink(target, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	script := home + "/trip"
	for key, value := range map[string]string{
		"diff.external": script, "diff.trip.textconv": script, "diff.trip.command": script, "filter.trip.clean": script, "filter.trip.smudge": script,
		"filter.trip.process": script, "core.fsmonitor": script, "core.pager": script, "core.editor": script, "gpg.program": script,
		"core.sshCommand": script, "credential.helper": script, "core.askPass": script, "log.showSignature": "true", "core.hooksPath": home + "/hooks",
		"interactive.diffFilter": script, "remote.origin.url": "https://" + tripwire + "@example.com/x",
	} {
		git("config", key, value)
	}
	write("hooks/post-index-change", "#!/bin/sh\necho hook >>"+home+"/tripped\n", 0o755)
	p = &Policy{Top: top, System: SystemPath, Approvals: &Approvals{}, Git: &Git{
		Flags: []string{"--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false"},
		Env: []string{
			"GIT_DIR=" + top + "/.git", "GIT_WORK_TREE=" + top, "HOME=" + home, "PATH=/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1",
			"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=filter.trip.clean", "GIT_CONFIG_VALUE_0=", "GIT_CONFIG_KEY_1=filter.trip.process", "GIT_CONFIG_VALUE_1=",
		},
	}}
	os.Remove(home + "/tripped")
	return home, top, p
}

// snapshot gives names, modes and contents of everything below a directory.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = string(text)
		}
		all[path] = info.Mode().String() + " " + content
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sample gives a value for an option.
func sample(r *rand.Rand, kind string) string {
	switch kind = strings.TrimLeft(kind, "?="); kind {
	case "n":
		return []string{"1", "2", "10", "100"}[r.Intn(4)]
	case "p":
		return "src"
	case "s":
		return []string{"x", "*.go", "%H", "src", "../secret", "one"}[r.Intn(6)]
	}
	words := strings.Split(kind, "|")
	return words[r.Intn(len(words))]
}

// spelled gives the words of an option, with a value.
func spelled(r *rand.Rand, name, kind string, s style) []string {
	switch {
	case kind == "", strings.HasPrefix(kind, "?") && r.Intn(2) == 0:
		return []string{name}
	case s == words:
		return []string{name, sample(r, kind)}
	case strings.HasPrefix(name, "--"):
		return []string{name + "=" + sample(r, kind)}
	case s == apart:
		return []string{name, sample(r, kind)}
	case strings.HasPrefix(kind, "?") || r.Intn(2) == 0:
		return []string{name + sample(r, kind)}
	}
	return []string{name, sample(r, kind)}
}

// swept is a command whose options are swept, with operands to go with them.
type swept struct {
	begin    []string
	set      optionSet
	style    style
	operands [][]string
}

// With outside, some operands lead out of the tree, or through links.
func sweptCommands(outside bool) []swept {
	files := [][]string{{"README.md"}, {"src"}, {"src/b.go", "src/a.go"}}
	pairs := [][]string{{"README.md", "src/a.go"}, {".", "src"}}
	greps := [][]string{{"T", "README.md"}, {"-r", "T", "."}, {"-r", "T"}}
	compared := [][]string{nil, {"HEAD~1"}, {"HEAD", "--", "src"}}
	if outside {
		files = append(files, []string{"out"}, []string{"outdir/secret"}, []string{"inlink"})
		pairs = append(pairs, []string{"README.md", "out"}, []string{"src", "outdir"})
		greps = append(greps, []string{"T", "out"}, []string{"T", "outdir/secret"})
		compared = append(compared, []string{"--", "out", "README.md"}, []string{"README.md", "../secret"}, []string{"/dev/null", "../secret"})
	}
	var all []swept
	for _, name := range slices.Sorted(maps.Keys(builtins)) {
		b := builtins[name]
		s := swept{[]string{name}, readOptions(b.options, b.style), b.style, files}
		switch name {
		case "diff":
			s.operands = pairs
		case "grep":
			s.operands = greps
		case "pwd":
			s.operands = [][]string{nil}
		}
		all = append(all, s)
	}
	all = append(all, swept{[]string{"find"}, readOptions(findPrimaries, words), words, [][]string{nil}})
	for _, sub := range slices.Sorted(maps.Keys(gitCommands)) {
		c := gitCommands[sub]
		operands := [][]string{nil}
		switch c.operands {
		case revisions:
			operands = compared
		case pathspecs:
			operands = [][]string{nil, {"src"}, {"--", "*"}}
		}
		all = append(all, swept{append([]string{"git"}, strings.Fields(sub)...), readOptions(c.options, gitlike), gitlike, operands})
	}
	return all
}

// TestSweep runs every permitted option alone, and random threes of them: nothing is written, nothing outside is read,
// nothing else is started. Once operands that lead outside are let through and Landlock has to hold, once there is no
// Landlock and the options alone have to.
func TestSweep(t *testing.T) {
	t.Run("operands let through", func(t *testing.T) { sweepOptions(t, true) })
	t.Run("not confined", func(t *testing.T) { sweepOptions(t, false) })
}

func sweepOptions(t *testing.T, outside bool) {
	if raceDetector {
		t.Skip("thousands of processes, each of them slow to start with the race detector: run without it")
	}
	home, top, p := trap(t)
	if o := Run(context.Background(), Program{Path: "/bin/true", Args: []string{"true"}, Dir: top, Confine: p.readOnly("/bin/true", false)}); outside && !strings.HasPrefix(o.Confined, "Landlock") {
		t.Skip("operands are let through here, so the sweep needs Landlock: " + o.Confined + o.Failure)
	}
	checkTrap(t, home, top)
	before := snapshot(t, home)
	r := rand.New(rand.NewSource(testkit.Seed(t)))
	var lines [][]string
	for _, c := range sweptCommands(outside) {
		names := slices.Sorted(maps.Keys(c.set))
		add := func(chosen ...string) {
			words := slices.Clone(c.begin)
			for _, name := range chosen {
				words = append(words, spelled(r, name, c.set[name], c.style)...)
			}
			lines = append(lines, append(words, c.operands[r.Intn(len(c.operands))]...))
		}
		for _, name := range names {
			add(name)
		}
		for range testkit.Rounds(t, 10) {
			add(names[r.Intn(len(names))], names[r.Intn(len(names))], names[r.Intn(len(names))])
		}
	}
	var mu sync.Mutex
	var pool sync.WaitGroup
	queue := make(chan []string)
	ran, missing := 0, map[string]bool{}
	for range 4 {
		pool.Go(func() {
			for words := range queue {
				v, err := p.Judge(&Command{Text: strings.Join(words, " "), Words: words}, anyPath{})
				if err != nil {
					continue
				}
				if !outside {
					v.Program.Confine = Confinement{}
				}
				o := Run(context.Background(), v.Program)
				mu.Lock()
				switch {
				case o.Missing || strings.Contains(o.Failure, "no such file"):
					missing[words[0]] = true
				case o.Failure != "":
					t.Errorf("%q: %s", words, o.Failure)
				default:
					ran++
				}
				mu.Unlock()
				if strings.Contains(string(o.Stdout)+string(o.Stderr), tripwire) {
					t.Errorf("%q read what it must not:\n%.300s%.300s", words, o.Stdout, o.Stderr)
				}
			}
		})
	}
	for _, words := range lines {
		queue <- words
	}
	close(queue)
	pool.Wait()
	if diff := fmt.Sprint(difference(before, snapshot(t, home))); diff != "[]" {
		t.Errorf("something was written: %.2000s", diff)
	}
	if ran < len(lines)/2 {
		t.Errorf("only %d of %d commands ran", ran, len(lines))
	}
	t.Logf("%d commands ran, of %d; programs that are not installed here: %v", ran, len(lines), slices.Sorted(maps.Keys(missing)))
}

// checkTrap makes sure that the trap is one: without the policy, git trips it, and a link leads to the secret.
func checkTrap(t *testing.T, home, top string) {
	t.Helper()
	git := exec.Command("git", "diff")
	git.Dir = top
	git.Run()
	if err := os.Remove(home + "/tripped"); err != nil {
		t.Fatal("git diff started nothing: ", err)
	}
	o := Run(context.Background(), Program{Path: "/bin/cat", Args: []string{"cat", "out"}, Dir: top})
	if !strings.Contains(string(o.Stdout), tripwire) {
		t.Fatal("the secret cannot be read at all: ", o)
	}
}

func difference(a, b map[string]string) []string {
	var all []string
	for path := range b {
		if a[path] != b[path] {
			all = append(all, path+": "+b[path])
		}
	}
	for path := range a {
		if _, ok := b[path]; !ok {
			all = append(all, path+" is gone")
		}
	}
	slices.Sort(all)
	return all
}
