package apply

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/git-clada/git-clada/internal/parse"
	"github.com/git-clada/git-clada/internal/testkit"
)

// TestPatchesOfGit: what git writes as the difference of two random trees turns the one into the other - bare, in a fence,
// as a mail, with little context, with renames, copies, odd names, CRLF and missing newlines.
func TestPatchesOfGit(t *testing.T) {
	seed, rounds := testkit.Seed(t), testkit.Rounds(t, 60)
	r := rand.New(rand.NewSource(seed))
	w := testkit.NewWorld(t)
	w.Git(t, "config", "core.autocrlf", "false")
	w.Git(t, "config", "core.safecrlf", "false")
	tasks := 0
	for round := range rounds {
		before := randomFiles(r)
		after := changedFiles(r, before)
		a, b := commitFiles(t, w, before), commitFiles(t, w, after)
		if a == b {
			continue
		}
		for _, args := range [][]string{{"-M"}, {"-M", "-C", "--find-copies-harder", "-U1"}, {"--no-renames", "-U0"}, {"--no-prefix"}, {"-M", "--full-index"}} {
			diff := w.Git(t, append([]string{"diff", "--no-ext-diff", "--no-color"}, append(args, a, b)...)...)
			for form, reply := range map[string]string{
				"bare": diff, "fenced": "Here:\n\n````diff\n" + diff + "````\nDone.\n", "mail": mail(diff),
			} {
				name := fmt.Sprintf("seed %d round %d %v %s", seed, round, args, form)
				tasks += checkPatch(t, name, reply, before, after, args[len(args)-1] == "-U0")
				if t.Failed() {
					return
				}
			}
		}
	}
	t.Logf("%d sections of patches carried out", tasks)
}

func mail(diff string) string {
	return "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.com>\nSubject: [PATCH] x\n\n---\n" +
		" f | 2 +-\n\n" + diff + "-- \n2.45.0\n\n"
}

// checkPatch applies a reply to a tree and compares. Without any context git's own rules are looser than ours in one
// case, an insertion, which is then refused and changes nothing.
func checkPatch(t *testing.T, name, reply string, before, after map[string]string, mayRefuse bool) int {
	t.Helper()
	tree := memTree{}
	for k, v := range before {
		tree[k] = v
	}
	b, list := parse.Parse([]byte(reply), parse.Options{Dialect: "patch"})
	if len(list.Problems) > 0 {
		t.Errorf("%s: %v\n%q", name, list.Problems[0].Error, reply)
		return 0
	}
	cs := Plan(b, tree, Options{})
	for i := range cs.Results {
		if cs.Results[i].Err != nil {
			if mayRefuse {
				return 0
			}
			t.Errorf("%s: task %d: %v\n%s\n%q", name, i+1, cs.Results[i].Err, cs.Results[i].Err.Hint, reply)
			return 0
		}
	}
	got := tree.after(cs)
	for path, want := range after {
		have, ok := got[path]
		if ok && mayRefuse && strings.ReplaceAll(have, "\r", "") == strings.ReplaceAll(want, "\r", "") {
			continue // a hunk that shows no CR at all takes the line ends of the file
		}
		if !ok || have != want {
			t.Errorf("%s: %s is %q, want %q\n%q", name, path, have, want, reply)
		}
	}
	for path := range got {
		if _, wanted := after[path]; !wanted {
			t.Errorf("%s: %s is still there", name, path)
		}
	}
	return len(cs.Results)
}

var oddNames = []string{"a.txt", "b.txt", "dir/c.go", "dir/sub/d", "with blank.md", "é.txt", "back\\slash", "quo\"te", "f", "-dash", "x y/z", "日本.md"}

func randomFiles(r *rand.Rand) map[string]string {
	files := map[string]string{"always": "1\n2\n3\n"}
	for range 2 + r.Intn(5) {
		files[oddNames[r.Intn(len(oddNames))]] = randomText(r)
	}
	return files
}

func randomText(r *rand.Rand) string {
	end := []string{"\n", "\n", "\n", "\r\n"}[r.Intn(4)]
	var b strings.Builder
	for range r.Intn(30) {
		fmt.Fprintf(&b, "%s%d%s", []string{"line ", "-- ", "+++ ", "\tindented ", "", "@@ ", "```", "diff --git ", " "}[r.Intn(9)], r.Intn(40), end)
	}
	text := b.String()
	if r.Intn(4) == 0 {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	}
	return text
}

// changedFiles edits, adds, removes and moves some files.
func changedFiles(r *rand.Rand, before map[string]string) map[string]string {
	after := map[string]string{}
	for path, text := range before {
		switch r.Intn(6) {
		case 0:
			if path != "always" {
				continue
			}
		case 1:
			to := oddNames[r.Intn(len(oddNames))]
			if _, taken := before[to]; !taken && len(text) > 40 {
				after[to] = text
				continue
			}
		case 2, 3:
			text = changedText(r, text)
		}
		after[path] = text
	}
	if r.Intn(2) == 0 {
		path := "new/" + oddNames[r.Intn(len(oddNames))]
		after[path] = randomText(r)
	}
	return after
}

func changedText(r *rand.Rand, text string) string {
	lines := strings.SplitAfter(text, "\n")
	for range 1 + r.Intn(4) {
		i := r.Intn(len(lines))
		switch r.Intn(4) {
		case 0:
			lines = append(lines[:i:i], lines[i+1:]...)
		case 1:
			lines = append(lines[:i:i], append([]string{"added " + strconv.Itoa(r.Intn(100)) + "\n"}, lines[i:]...)...)
		case 2:
			lines[i] = "changed\n"
		default:
			lines[len(lines)-1] = strings.TrimSuffix(lines[len(lines)-1], "\n")
		}
		if len(lines) == 0 {
			return ""
		}
	}
	return strings.Join(lines, "")
}

// commitFiles makes a tree object of files and gives its id.
func commitFiles(t *testing.T, w *testkit.World, files map[string]string) string {
	t.Helper()
	for name := range strings.SplitSeq(w.Git(t, "ls-files", "-z"), "\x00") {
		if name != "" {
			os.Remove(filepath.Join(w.Dir, name))
		}
	}
	for path, text := range files {
		w.Write(t, path, text)
	}
	w.Git(t, "add", "-A")
	return strings.TrimSpace(w.Git(t, "write-tree"))
}
