package apply

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/git-clada/git-clada/internal/parse"
)

// example is a worked example of a dialect: a tree, a reply, and what must become of both.
type example struct {
	name, reply           string
	flags                 map[string]string
	before, after         memTree
	tasks, problems, warn []string
	refused               bool
}

// notation writes out « » ≡ as seven marker characters, ⏎ as a line end, and ␠ ⇥ ␍ as blank, tab and CR.
var notation = strings.NewReplacer("«", "<<<<<<< ", "»", ">>>>>>> ", "≡", "=======", "⏎", "\n", "␠", " ", "⇥", "\t", "␍", "\r")

// readExamples reads a file of examples: a line "# name flag=value ...", then lines before:, reply:, after:, gone:,
// task:, problem:, warning: and refused.
func readExamples(t *testing.T, file string) []*example {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []*example
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		line := sc.Text()
		word, rest, _ := strings.Cut(line, " ")
		if word == "#" {
			e := &example{flags: map[string]string{}, before: memTree{}, after: memTree{}}
			for i, part := range strings.Fields(rest) {
				name, value, _ := strings.Cut(part, "=")
				if i == 0 {
					e.name = part
				} else {
					e.flags[name] = value
				}
			}
			all = append(all, e)
			continue
		}
		if line == "" || len(all) == 0 {
			continue
		}
		e := all[len(all)-1]
		path, content, _ := strings.Cut(rest, "=")
		switch word {
		case "before:":
			e.before[path] = notation.Replace(content)
			e.after[path] = notation.Replace(content)
		case "after:":
			e.after[path] = notation.Replace(content)
		case "gone:":
			delete(e.after, rest)
		case "reply:":
			e.reply = notation.Replace(rest)
		case "task:":
			e.tasks = append(e.tasks, notation.Replace(rest))
		case "problem:":
			e.problems = append(e.problems, rest)
		case "warning:":
			e.warn = append(e.warn, rest)
		case "refused":
			e.refused = true
		default:
			t.Fatalf("%s: unknown line %q", file, line)
		}
	}
	return all
}

// TestExamples: every worked example of the dialects does to a tree what its page says.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../testdata/apply/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	for _, file := range files {
		for _, e := range readExamples(t, file) {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+e.name, func(t *testing.T) { e.check(t) })
		}
	}
}

func (e *example) check(t *testing.T) {
	_, allowEmpty := e.flags["allow-empty"]
	_, strict := e.flags["strict-dividers"]
	_, strictForms := e.flags["strict"]
	_, exact := e.flags["exact"]
	reply := e.reply
	if _, ended := e.flags["ended"]; !ended {
		reply += "\n"
	}
	b, list := parse.Parse([]byte(reply), parse.Options{Dialect: e.flags["dialect"], AllowEmptyReplace: allowEmpty, StrictDividers: strict,
		Strict: strictForms, OnlyExact: exact, IgnoreFences: e.flags["fences"] == "ignore"})
	if list.Refused() != e.refused {
		t.Errorf("refused: %v, want %v", list.Refused(), e.refused)
	}
	var problems, warnings []string
	for _, p := range list.Problems {
		problems = append(problems, fmt.Sprintf("%d %s %s", p.Pos.Line, p.Code, p.Message))
		if p.Hint == "" {
			t.Errorf("no hint with %v", p.Error)
		}
	}
	for _, w := range list.Warnings {
		warnings = append(warnings, fmt.Sprintf("%d %s %s", w.Pos.Line, w.Code, w.Message))
	}
	var tasks []string
	tree := e.before
	if !list.Refused() {
		cs := Plan(b, e.before, Options{})
		tree = e.before.after(cs)
		for i := range cs.Results {
			tasks = append(tasks, outcomeOf(&cs.Results[i]))
		}
	}
	compare2(t, "tasks", tasks, e.tasks)
	compare2(t, "problems", problems, e.problems)
	compare2(t, "warnings", warnings, e.warn)
	for _, path := range sortedKeys(tree, e.after) {
		have, isThere := tree[path]
		want, wanted := e.after[path]
		if have != want || isThere != wanted {
			t.Errorf("%s: %q (%v), want %q (%v)", path, have, isThere, want, wanted)
		}
	}
	if t.Failed() {
		t.Logf("reply:\n%s", reply)
	}
}

// outcomeOf writes a result on one line: op, status, tier and what is special about it.
func outcomeOf(r *Result) string {
	s := r.Op + " " + string(r.Status)
	if r.Err != nil {
		s = fmt.Sprintf("%s %s: %s | %s", r.Op, r.Err.Code, r.Err.Message, r.Err.Hint)
	}
	if r.Status == Skipped {
		s = r.Op + " skipped"
	}
	if r.Match != nil && r.Err == nil {
		s += " " + r.Match.Tier + " " + Lines(r.Match.Lines)
		if r.Match.Moved != 0 {
			s += fmt.Sprintf(" moved %+d", r.Match.Moved)
		}
	}
	if r.Data != nil {
		s += fmt.Sprintf(" data %+v", r.Data)
	}
	return s
}

// compare2 compares what came with what was wanted: each wanted line is pieces, divided by " ... ", that the line has
// in this order, the first one at its start.
func compare2(t *testing.T, what string, have, want []string) {
	t.Helper()
	ok := len(have) == len(want)
	for i := 0; ok && i < len(want); i++ {
		rest := have[i]
		for k, piece := range strings.Split(want[i], " ... ") {
			at := strings.Index(rest, piece)
			if at < 0 || k == 0 && at > 0 {
				ok = false
				break
			}
			rest = rest[at+len(piece):]
		}
	}
	if !ok {
		t.Errorf("%s:\n  %s\nwant:\n  %s", what, strings.Join(have, "\n  "), strings.Join(want, "\n  "))
	}
}

func sortedKeys(a, b memTree) []string {
	seen := map[string]bool{}
	for k := range a {
		seen[k] = true
	}
	for k := range b {
		seen[k] = true
	}
	var keys []string
	for k := range seen {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
