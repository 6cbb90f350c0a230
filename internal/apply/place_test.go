package apply

import (
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"testing"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/parse"
	"github.com/git-clada/git-clada/internal/testkit"
)

// TestNeverTheWrongPlace: an edit of some lines of a file full of repetitions either changes just these lines, or is
// refused and changes nothing - in every format whose edits are lines, exact and with shifted or trailing blanks.
func TestNeverTheWrongPlace(t *testing.T) {
	seed, rounds := testkit.Seed(t), testkit.Rounds(t, 3000)
	r := rand.New(rand.NewSource(seed))
	done, refused := map[string]int{}, map[string]int{}
	overlapping := 0
	for round := range rounds {
		e := randomEdit(r)
		for dialect, reply := range e.replies(r) {
			b, list := parse.Parse([]byte(reply), parse.Options{})
			if len(b.Tasks) != 1 || len(list.Problems) > 0 {
				t.Fatalf("seed %d round %d %s: %d tasks, %v\n%s", seed, round, dialect, len(b.Tasks), list.Problems, reply)
			}
			cs := Plan(b, memTree{"f.x": e.before}, Options{})
			got := memTree{"f.x": e.before}.after(cs)["f.x"]
			switch {
			case cs.Results[0].Err != nil && got == e.before:
				refused[dialect]++
			case cs.Results[0].Err == nil && got == e.after:
				done[dialect]++
			case len(cs.Warnings) > 0 && cs.Warnings[0].Code == "OVERLAPPING":
				overlapping++ // not silent
			default:
				t.Fatalf("seed %d round %d %s: %v\nbefore %q\nreply\n%s\ngot    %q\nwanted %q", seed, round, dialect, cs.Results[0].Err, e.before, reply, got, e.after)
			}
		}
	}
	for dialect, n := range done {
		if n < rounds/40 || refused[dialect] == 0 {
			t.Errorf("%s: %d done, %d refused: the test says little", dialect, n, refused[dialect])
		}
	}
	t.Log("done", done, "refused", refused, "overlapping", overlapping)
}

// lineEdit replaces the lines [from, to) of a file.
type lineEdit struct {
	before, after string
	lines, added  []string
	from, to      int
}

func randomEdit(r *rand.Rand) lineEdit {
	words := []string{"a", "b", "  a", "    b", "}", "", "x = 1", "\ty"}
	var e lineEdit
	for range 3 + r.Intn(14) {
		e.lines = append(e.lines, words[r.Intn(len(words))])
	}
	e.from = r.Intn(len(e.lines))
	e.to = e.from + 1 + r.Intn(min(2, len(e.lines)-e.from))
	for range 1 + r.Intn(2) {
		e.added = append(e.added, fmt.Sprintf("new %d", r.Intn(1000)))
	}
	e.before = strings.Join(e.lines, "\n") + "\n"
	after := append(append(append([]string{}, e.lines[:e.from]...), e.added...), e.lines[e.to:]...)
	e.after = strings.Join(after, "\n") + "\n"
	return e
}

// replies asks for the edit in several formats, with some lines of context.
func (e lineEdit) replies(r *rand.Rand) map[string]string {
	lo, hi := max(0, e.from-r.Intn(3)), min(len(e.lines), e.to+r.Intn(3))
	above, old, below := e.lines[lo:e.from], e.lines[e.from:e.to], e.lines[e.to:hi]
	join := func(parts ...[]string) string {
		var all []string
		for _, p := range parts {
			all = append(all, p...)
		}
		return strings.Join(all, "\n")
	}
	search, replace := join(above, old, below), join(above, e.added, below)
	all := map[string]string{}
	if strings.TrimSpace(search) != "" {
		all["aider"] = "f.x\n<<<<<<< SEARCH\n" + search + "\n=======\n" + replace + "\n>>>>>>> REPLACE\n"
		one := batch.Batch{Tasks: []batch.Task{{Seq: 1, Op: batch.Edit{
			Path: "f.x", Splits: []batch.Split{{Old: "\n" + search + "\n", New: "\n" + replace + "\n"}}, Expect: batch.Expect{Count: 1},
		}}}}
		if lo > 0 { // with the newline before it, the text is whole lines
			for _, dialect := range []string{"markers", "cml", "sham"} {
				if text, err := parse.Format(&one, dialect); err == nil {
					all[dialect] = text
				}
			}
		}
	}
	prefixed := func(prefix string, lines []string) string {
		var b strings.Builder
		for _, line := range lines {
			b.WriteString(prefix + line + "\n")
		}
		return b.String()
	}
	body := prefixed(" ", above) + prefixed("-", old) + prefixed("+", e.added) + prefixed(" ", below)
	all["v4a"] = "*** Begin Patch\n*** Update File: f.x\n@@\n" + body + "*** End Patch\n"
	if n := r.Intn(len(e.lines)); strings.TrimSpace(e.lines[n]) != "" && n < lo && e.inScopeOf(n) {
		all["v4a with context"] = "*** Begin Patch\n*** Update File: f.x\n@@ " + e.lines[n] + "\n" + body + "*** End Patch\n"
	}
	all["patch"] = "```diff\n--- a/f.x\n+++ b/f.x\n@@ -" + strconv.Itoa(1+r.Intn(len(e.lines))) + ",99 +1,99 @@\n" + body + "```\n"
	return all
}

// inScopeOf reports whether the edit lies in what a context line stands for: the lines indented deeper below it, or all
// that follow if there are none.
func (e lineEdit) inScopeOf(n int) bool {
	end := newLineFile([]byte(e.before)).scopeEnd(n)
	return end == n+1 || end >= e.to
}
