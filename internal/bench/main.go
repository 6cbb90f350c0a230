// Command bench times git clada against the same work scripted with git, in pairs, in the same run, and prints ratios.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/git-clada/git-clada/internal/parse"
)

// script is what a careful person would write with git alone to get the same record: a snapshot of the working tree as a
// commit, the edit, a commit of it, the branch and two notes.
const script = `set -e
export GIT_INDEX_FILE=$PWD/.git/bench-index
cp .git/index "$GIT_INDEX_FILE"
git add -A
pre=$(git commit-tree -p HEAD -m pre "$(git write-tree)")
unset GIT_INDEX_FILE
sed -i 's/title 7/title seven/' d0/e0/f7.txt
git add d0/e0/f7.txt
post=$(git commit-tree -p "$pre" -m post "$(git write-tree)")
git update-ref refs/heads/bench "$post"
git notes --ref=bench add -f -m note "$post"
git notes --ref=bench-input add -f -m input "$post"
`

const scriptBack = `git update-ref -d refs/heads/bench; git checkout -q HEAD -- d0/e0/f7.txt; git update-index -q --refresh; rm -f .git/bench-index`

const reply = "<<<<<<< SEARCH path=\"d0/e0/f7.txt\"\ntitle 7\n=======\ntitle seven\n>>>>>>> REPLACE\n"

// many makes 50 edits in 20 files.
func many() string {
	var b strings.Builder
	for i := range 50 {
		fmt.Fprintf(&b, "<<<<<<< SEARCH path=\"d0/e0/f%d.txt\"\n%s\n=======\n%s, edited\n>>>>>>> REPLACE\n", i%20, line(i%20, i/20), line(i%20, i/20))
	}
	return b.String()
}

func line(file, n int) string {
	if n == 0 {
		return fmt.Sprintf("title %d", file)
	}
	return fmt.Sprintf("mark %d of file %d", n, file)
}

var program = flag.String("program", "git-clada", "the `FILE` to time")
var rounds = flag.Int("rounds", 9, "how many times each side runs")

func main() {
	flag.Parse()
	sizes := flag.Args()
	if len(sizes) == 0 {
		sizes = []string{"200", "20000"}
	}
	fmt.Printf("%-34s %8s %10s %10s %7s\n", "case", "files", "clada", "git", "ratio")
	for _, s := range sizes {
		if s == "parse" {
			continue
		}
		n, err := strconv.Atoi(s)
		check(err)
		benchRepository(n)
	}
	fmt.Printf("%-34s %8s %10s %10s %7s\n", "parse a reply of", "MB", "clada", "wc -l", "ratio")
	benchParse()
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func benchRepository(n int) {
	dir, err := os.MkdirTemp("", "clada-bench-")
	check(err)
	defer os.RemoveAll(dir)
	generate(dir, n)
	one, all := filepath.Join(dir, ".git", "one.md"), filepath.Join(dir, ".git", "many.md")
	check(os.WriteFile(one, []byte(reply), 0o666))
	check(os.WriteFile(all, []byte(many()), 0o666))
	clada := func(args ...string) func() { return func() { run(dir, *program, args...) } }
	sh := func(text string) func() { return func() { run(dir, "sh", "-c", text) } }
	undo := clada("undo", "-q")

	compare("apply, one edit", n, clada("apply", "-q", one), undo, sh(script), sh(scriptBack))
	compare("apply / git status", n, clada("apply", "-q", one), undo, sh("git status >/dev/null"), nil)
	// The reference is the script for one edit: more edits cost git more, so this ratio flatters git.
	compare("apply, 50 edits / script, 1", n, clada("apply", "-q", all), undo, sh(script), sh(scriptBack))
	compare("check, one edit / git status", n, clada("check", "-q", one), nil, sh("git status >/dev/null"), nil)
	run(dir, *program, "apply", "-q", one)
	compare("undo / git checkout", n, clada("undo", "-q"), clada("redo", "-q"), sh("git checkout -q HEAD~1"), sh("git checkout -q clada/main"))
	compare("status / git status", n, clada("status"), nil, sh("git status >/dev/null"), nil)
	undo()
	empty := filepath.Join(dir, ".git")
	compare("version / git version", n, func() { run(empty, *program, "version") }, nil, func() { run(empty, "git", "version") }, nil)
	ours := memory(dir, *program, "apply", "-q", one)
	undo()
	gits := memory(dir, "git", "status")
	fmt.Printf("%-34s %8d %9dM %9dM %7.2f\n", "memory: apply / git status", n, ours>>10, gits>>10, float64(ours)/float64(gits))
}

// generate makes a repository of n small files, committed, with an index that is not racy.
func generate(dir string, n int) {
	for i := range n {
		d := filepath.Join(dir, fmt.Sprintf("d%d/e%d", i/1000, i/50%20))
		if i%50 == 0 {
			check(os.MkdirAll(d, 0o777))
		}
		text := line(i, 0) + "\n" + line(i, 1) + "\n" + line(i, 2) + "\n" + strings.Repeat("a line of text\n", i%30)
		check(os.WriteFile(filepath.Join(d, fmt.Sprintf("f%d.txt", i)), []byte(text), 0o666))
	}
	run(dir, "sh", "-c", "git init -q -b main && git add -A && git -c user.name=b -c user.email=b@b commit -q -m start")
	run(dir, "git", "config", "user.name", "bench")
	run(dir, "git", "config", "user.email", "bench@example.com")
	// Entries as young as the index would all be read again: make the index younger than the files.
	later := time.Now().Add(2 * time.Second)
	check(os.Chtimes(filepath.Join(dir, ".git", "index"), later, later))
}

func run(dir, name string, args ...string) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		check(fmt.Errorf("%s %v: %w\n%s", name, args, err, out))
	}
}

// compare runs both sides in turn and prints the medians. The back functions undo what a side did, untimed.
func compare(name string, n int, clada, cladaBack, git, gitBack func()) {
	var a, b []time.Duration
	for i := range *rounds + 1 {
		ta, tb := timed(clada, cladaBack), timed(git, gitBack)
		if i > 0 { // the first round warms the caches
			a, b = append(a, ta), append(b, tb)
		}
	}
	ma, mb := median(a), median(b)
	fmt.Printf("%-34s %8d %8.1fms %8.1fms %7.2f\n", name, n, ms(ma), ms(mb), float64(ma)/float64(mb))
}

func timed(do, back func()) time.Duration {
	start := time.Now()
	do()
	took := time.Since(start)
	if back != nil {
		back()
	}
	return took
}

func median(d []time.Duration) time.Duration {
	sort.Slice(d, func(i, j int) bool { return d[i] < d[j] })
	return d[len(d)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// memory gives the peak resident memory of a command, in KiB.
func memory(dir, name string, args ...string) int64 {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	check(cmd.Run())
	return maxRSS(cmd.ProcessState)
}

// benchParse compares reading and parsing replies of 10 MB, in this process, with wc -l on the same file.
func benchParse() {
	dir, err := os.MkdirTemp("", "clada-bench-")
	check(err)
	defer os.RemoveAll(dir)
	for _, c := range parseCases() {
		text := c.text()
		file := filepath.Join(dir, "reply.md")
		check(os.WriteFile(file, []byte(text), 0o666))
		read := func() {
			text, err := os.ReadFile(file)
			check(err)
			parse.Parse(text, parse.Options{})
		}
		compare(c.name, len(text)/1_000_000, read, nil, func() { run(dir, "wc", "-l", file) }, nil)
	}
}
