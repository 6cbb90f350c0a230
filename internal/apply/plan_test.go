package apply

import (
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/parse"
)

// memTree is a tree from strings: path to content, "-> target" for a link, a slash at the end for a directory.
type memTree map[string]string

func (m memTree) Lstat(p batch.Path) (Entry, error) {
	s := string(p)
	if content, ok := m[s]; ok {
		e := Entry{Name: path.Base(s), Perm: 0o644, Size: int64(len(content))}
		if strings.HasPrefix(content, "-> ") {
			e.Kind = Symlink
		}
		return e, nil
	}
	for name := range m {
		if strings.HasPrefix(name, s+"/") || s == "." {
			return Entry{Name: path.Base(s), Kind: Dir, Perm: 0o755}, nil
		}
	}
	return Entry{}, fs.ErrNotExist
}

func (m memTree) Read(p batch.Path) ([]byte, error) { return []byte(m[string(p)]), nil }

func (m memTree) List(p batch.Path) ([]Entry, error) {
	seen := map[string]bool{}
	var all []Entry
	for name := range m {
		rest := name
		if p != "." {
			var ok bool
			if rest, ok = strings.CutPrefix(name, string(p)+"/"); !ok {
				continue
			}
		}
		first, _, _ := strings.Cut(rest, "/")
		if first == "" || seen[first] {
			continue
		}
		seen[first] = true
		e, _ := m.Lstat(batch.Path(path.Join(string(p), first)))
		all = append(all, e)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all, nil
}

// after gives the tree with the changes made.
func (m memTree) after(cs *Changeset) memTree {
	out := memTree{}
	for k, v := range m {
		out[k] = v
	}
	for _, c := range cs.Changes {
		if c.Before != nil && c.Before.Kind != Dir {
			delete(out, string(c.Path))
		}
	}
	for _, c := range cs.Changes {
		if c.After == nil || c.After.Kind == Dir {
			continue
		}
		if c.After.From != "" {
			out[string(c.Path)] = m[string(c.After.From)]
		} else {
			out[string(c.Path)] = string(c.After.Data)
		}
	}
	return out
}

// expand writes out « » ≡ as seven marker characters and ⏎ as a line end.
var expand = strings.NewReplacer("«", "<<<<<<< ", "»", ">>>>>>> ", "≡", "=======", "⏎", "\n")

// plan applies a reply in notation to a tree and gives the statuses.
func plan(t *testing.T, tree memTree, reply string, po parse.Options, o Options) (*Changeset, string) {
	t.Helper()
	b, list := parse.Parse([]byte(expand.Replace(reply)+"\n"), po)
	if list.Refused() {
		t.Fatalf("refused: %v", list.Problems[0].Error)
	}
	cs := Plan(b, tree, o)
	var statuses []string
	for i := range cs.Results {
		r := &cs.Results[i]
		s := string(r.Status)
		if r.Err != nil {
			s = string(r.Err.Code) + ": " + r.Err.Message
		}
		statuses = append(statuses, s)
	}
	return cs, strings.Join(statuses, "; ")
}

// TestEdits: what the worked examples of the markers dialect do to files, and the bytes they leave.
func TestEdits(t *testing.T) {
	for _, c := range []struct{ name, file, reply, want, status string }{
		{"9 longest search first", "Heading⏎≡⏎old text⏎", `«SEARCH path="a"⏎Heading⏎≡⏎old text⏎≡⏎Heading⏎≡⏎new text⏎»REPLACE`, "Heading⏎≡⏎new text⏎", "ok"},
		{"10 the file decides", "x⏎old⏎y⏎", `«SEARCH path="a"⏎old⏎≡⏎Heading⏎≡⏎new⏎»REPLACE`, "x⏎Heading⏎≡⏎new⏎y⏎", "ok"},
		{"42 CRLF reply", "x\nold\ny\n", "«SEARCH path=\"a\"\r⏎old\r⏎≡\r⏎Heading\r⏎≡\r⏎new\r⏎»REPLACE\r", "x\nHeading\n=======\nnew\ny\n", "ok"},
		{"42 CRLF file", "x\r\nold\r\ny\r\n", `«SEARCH path="a"⏎old⏎≡⏎Heading⏎≡⏎new⏎»REPLACE`, "x\r\nHeading\r\n=======\r\nnew\r\ny\r\n", "ok"},
		{"45 second finds none", "o⏎", `«SEARCH path="a"⏎o⏎≡⏎n⏎»REPLACE⏎«SEARCH path="a"⏎o⏎≡⏎n⏎»REPLACE`, "n⏎", "ok; match_count_mismatch: found 0 matches, expected 1"},
		{"46 wrong count", "o⏎o⏎", `«SEARCH path="a" count="3"⏎o⏎≡⏎n⏎»REPLACE`, "o⏎o⏎", "match_count_mismatch: found 2 matches, expected 3"},
		{"51 empty replace does not win", "old⏎", `«SEARCH path="a"⏎old⏎≡⏎Title⏎≡⏎»REPLACE`, "Title⏎≡⏎", "ok"},
		{"54 an empty line", "x⏎foo⏎y⏎", `«SEARCH path="a"⏎foo⏎≡⏎⏎»REPLACE`, "x⏎⏎y⏎", "ok"},
		{"56 one range too many", "<a>1</a><a>2</a>⏎", `«SEARCH-START path="a"⏎<a>⏎«SEARCH-END⏎</a>⏎≡⏎-⏎»REPLACE`, "<a>1</a><a>2</a>⏎", "match_count_mismatch: found 2 ranges, expected 1"},
		{"56 two ranges", "<a>1</a><a>2</a>⏎", `«SEARCH-START path="a" count="2"⏎<a>⏎«SEARCH-END⏎</a>⏎≡⏎-⏎»REPLACE`, "--⏎", "ok"},
		{"range without end", "s⏎1⏎e⏎s⏎2⏎", `«SEARCH-START path="a" count="2"⏎s⏎«SEARCH-END⏎e⏎≡⏎-⏎»REPLACE`, "s⏎1⏎e⏎s⏎2⏎", "match_count_mismatch: found 1 range, expected 2, start at line 4 has no end"},
		{"all", "a b a⏎a⏎", `«EDIT path="a" count="all"⏎a⏎≡⏎c⏎»REPLACE`, "c b c⏎c⏎", "ok"},
		{"all needs one", "b⏎", `«EDIT path="a" count="any"⏎a⏎≡⏎c⏎»REPLACE`, "b⏎", "match_count_mismatch: found 0 matches, expected at least 1"},
		{"does not overlap", "aaaa⏎", `«EDIT path="a" count="2"⏎aa⏎≡⏎b⏎»REPLACE`, "bb⏎", "ok"},
		{"end overlaps itself", "s xaxax⏎", `«SEARCH-START path="a"⏎s⏎«SEARCH-END⏎xax⏎≡⏎-⏎»REPLACE`, "-ax⏎", "ok"},
		{"unchanged", "a⏎", `«EDIT path="a"⏎a⏎≡⏎a⏎»REPLACE`, "a⏎", "unchanged"},
		{"append to an unfinished line", "a", `«WRITE path="a" append="true"⏎b⏎»END`, "a⏎b⏎", "ok"},
		{"append", "a⏎", `«WRITE path="a" append="true"⏎b⏎»END`, "a⏎b⏎", "ok"},
		{"append behind an empty line", "a⏎⏎", `«WRITE path="a" append="true"⏎b⏎»END`, "a⏎⏎b⏎", "ok"},
		{"append to nothing", "", `«WRITE path="a" append="true"⏎b⏎»END`, "b⏎", "ok"},
		{"append nothing", "a", `«WRITE path="a" append="true"⏎»END`, "a", "unchanged"},
		{"append takes the file's endings", "a\r\nb\r\n", `«WRITE path="a" append="true"⏎c⏎d⏎»END`, "a\r\nb\r\nc\r\nd\r\n", "ok"},
		{"edit takes the region's ending", "a\r\nb\nc\nd\n", `«EDIT path="a"⏎a⏎b⏎≡⏎x⏎y⏎z⏎»REPLACE`, "x\r\ny\r\nz\nc\nd\n", "ok"},
		{"NUL behind the first 8000 bytes", strings.Repeat("x", 8000) + "\x00⏎o⏎", `«EDIT path="a"⏎⏎o⏎≡⏎⏎n⏎»REPLACE`, strings.Repeat("x", 8000) + "\x00⏎n⏎", "ok"},
		{"binary", "o\x00⏎", `«EDIT path="a"⏎o⏎≡⏎n⏎»REPLACE`, "o\x00⏎", "binary_file: a is binary"},
		{"final newline", "", `«WRITE path="a" final-newline="false"⏎x⏎»END`, "x", "ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := memTree{"a": expand.Replace(c.file), "other": ""}
			cs, status := plan(t, tree, c.reply, parse.Options{}, Options{})
			if got, want := tree.after(cs)["a"], expand.Replace(c.want); got != want || status != c.status {
				t.Errorf("got %q (%s), want %q (%s)", got, status, want, c.status)
			}
		})
	}
}

// TestEmptyReplace: deleting, where it is allowed.
func TestEmptyReplace(t *testing.T) {
	for _, c := range []struct{ file, reply, want string }{
		{"n⏎o⏎p⏎", `«SEARCH path="a"⏎o⏎≡⏎»REPLACE`, "n⏎p⏎"},
		{"foo⏎", `«SEARCH path="a" count="all"⏎o⏎≡⏎»REPLACE`, "f⏎"},
		{"n\r\no\r\np\r\n", `«SEARCH path="a"⏎o⏎≡⏎»REPLACE`, "n\r\np\r\n"},
	} {
		tree := memTree{"a": expand.Replace(c.file)}
		cs, status := plan(t, tree, c.reply, parse.Options{AllowEmptyReplace: true}, Options{})
		if got := tree.after(cs)["a"]; got != expand.Replace(c.want) {
			t.Errorf("%q: got %q (%s), want %q", c.file, got, status, c.want)
		}
	}
}

// TestTiers: with --match=whitespace blanks at line ends and a uniform indentation may differ, and nothing else.
func TestTiers(t *testing.T) {
	for _, c := range []struct{ file, old, new, want, tier string }{
		{"a  ⏎b⏎", "a⏎b", "x", "x⏎", tierTrailing},
		{"    if x {⏎        y⏎    }⏎", "if x {⏎    y⏎}", "if z {⏎    y⏎}", "    if z {⏎        y⏎    }⏎", tierIndent},
		{"if x {⏎    y⏎}⏎", "    if x {⏎        y⏎    }", "    if z {⏎    }", "if z {⏎}⏎", tierIndent},
		{"a⏎b⏎", "a⏎b", "x", "x⏎", tierExact},
		{" a⏎  b⏎", "a⏎b", "x", " a⏎  b⏎", ""},
		{"a⏎b⏎", "    a⏎    b", "    x⏎  y", "a⏎b⏎", ""}, // a new line that lacks what the others lose
	} {
		tree := memTree{"a": expand.Replace(c.file)}
		cs, status := plan(t, tree, `«EDIT path="a"⏎`+c.old+"⏎≡⏎"+c.new+"⏎»REPLACE", parse.Options{Match: batch.Whitespace}, Options{})
		got := tree.after(cs)["a"]
		tier := ""
		if m := cs.Results[0].Match; m != nil && status == "ok" {
			tier = m.Tier
		}
		if got != expand.Replace(c.want) || tier != c.tier {
			t.Errorf("%q: got %q, tier %q (%s), want %q, %q", c.file, got, tier, status, c.want, c.tier)
		}
	}
}

// TestGroups: the first failure skips the rest of its group and nothing else.
func TestGroups(t *testing.T) {
	tree := memTree{"z": "z\n"}
	cs, status := plan(t, tree, `«TASKS⏎«WRITE path="a"⏎1⏎»END⏎«EDIT path="no"⏎o⏎≡⏎n⏎»REPLACE⏎«WRITE path="b"⏎1⏎»END⏎»TASKS⏎«TASKS⏎«WRITE path="c"⏎1⏎»END⏎»TASKS`, parse.Options{}, Options{})
	if want := "ok; file_not_found: no does not exist; skipped; ok"; status != want {
		t.Errorf("got %s, want %s", status, want)
	}
	if got := fmt.Sprint(tree.after(cs)); got != fmt.Sprint(memTree{"a": "1\n", "c": "1\n", "z": "z\n"}) {
		t.Error(got)
	}
}

// TestFailedTaskLeavesNoTrace: an op that fails half way (the second source of mv) changes no byte.
func TestFailedTaskLeavesNoTrace(t *testing.T) {
	tree := memTree{"a": "a\n", "d/x": "x\n"}
	cs, status := plan(t, tree, `«RUN⏎mv a missing d⏎»END`, parse.Options{}, Options{})
	if len(cs.Changes) != 0 || !strings.HasPrefix(status, "file_not_found") {
		t.Errorf("%s: %+v", status, cs.Changes)
	}
}

// TestOps: the ops that no dialect reaches yet do what their fields say.
func TestOps(t *testing.T) {
	tree := memTree{"a": "1\n2\n3\n", "d/x.go": "package x\n", "d/e/y.go": "package y\n", "l": "-> a"}
	for _, c := range []struct {
		op   batch.Op
		want string
		code diag.Code
	}{
		{batch.EditLines{Path: "a", Spec: "2", New: "two\n"}, "1\ntwo\n3\n", ""},
		{batch.EditLines{Path: "a", Spec: "3-9", New: "x"}, "1\n2\n3\n", diag.InvalidArgument},
		{batch.Insert{Path: "a", Anchors: []string{"2"}, Content: "2b\n"}, "1\n2\n2b\n3\n", ""},
		{batch.Insert{Path: "a", Anchors: []string{"2"}, Content: "1b\n", Before: true}, "1\n1b\n2\n3\n", ""},
		{batch.Write{Path: "a", Content: "x", Mode: batch.Create}, "1\n2\n3\n", diag.FileExists},
		{batch.Write{Path: "new", Content: "x", Mode: batch.Overwrite}, "1\n2\n3\n", diag.FileNotFound},
		{batch.Rmdir{Path: "d"}, "1\n2\n3\n", diag.DirectoryNotEmpty},
		{batch.Move{From: "a", To: "d/x.go"}, "1\n2\n3\n", diag.FileExists},
		{batch.Copy{From: "d", To: "d/e", Recursive: true, Overwrite: true}, "1\n2\n3\n", diag.InvalidArgument},
		{batch.Read{Path: "l"}, "1\n2\n3\n", diag.SymlinkNotAllowed},
		{batch.Append{Path: "d", Content: "x"}, "1\n2\n3\n", diag.IsDirectory},
		{batch.Mkdir{Path: "q/r"}, "1\n2\n3\n", diag.FileNotFound},
	} {
		b := &batch.Batch{Tasks: []batch.Task{{Seq: 1, Op: c.op}}}
		cs := Plan(b, tree, Options{})
		var code diag.Code
		if e := cs.Results[0].Err; e != nil {
			code = e.Code
		}
		if e := cs.Results[0].Err; e != nil && e.Hint == "" {
			t.Errorf("%s: no hint with %v", c.op.Name(), e)
		}
		if got := tree.after(cs)["a"]; got != c.want || code != c.code {
			t.Errorf("%s %+v: %q %s %v", c.op.Name(), c.op, got, code, cs.Results[0].Err)
		}
	}
	for _, c := range []struct {
		op   batch.Op
		want string
	}{
		{batch.Read{Path: "a", Ranges: []batch.LineRange{{First: 2, Last: 3}}}, "{a 2\n3\n}"},
		{batch.List{Path: "d"}, "[{e directory 0 0001-01-01T00:00:00Z} {x.go file 10 0001-01-01T00:00:00Z}]"},
		{batch.Glob{Pattern: "**/*.go"}, "[d/e/y.go d/x.go]"},
		{batch.Grep{Pattern: "^package y"}, "[{d/e/y.go 1 package y}]"},
	} {
		cs := Plan(&batch.Batch{Tasks: []batch.Task{{Seq: 1, Op: c.op}}}, tree, Options{})
		if got := fmt.Sprint(cs.Results[0].Data); got != c.want {
			t.Errorf("%s: %s, want %s (%v)", c.op.Name(), got, c.want, cs.Results[0].Err)
		}
	}
}

// TestHints: a miss says what the difference is, in time that does not depend on luck.
func TestHints(t *testing.T) {
	for _, c := range []struct{ file, old, want string }{
		{"  indented line here\n", "indented line here\nx", ""},
		{"    return total\n", "\treturn total", "differs only in indentation at line 1\n"},
		{"a == b  \nnext\n", "a == b\nnext", "differs only in trailing blanks"},
		{"say “hello” to them\n", `say "hello" to them`, "differs only in typographic quotes"},
		{"if a && b {\n", "if a &amp;&amp; b {", "differs only in HTML entities"},
		{"x\nfunc total(a int) int {\n\treturn a + b\n}\n", "func total(a int) int {\n\treturn a - b\n}", "nearest text at lines 2-4"},
		{"", "x y z", "the file is empty"},
	} {
		hint := newText([]byte(c.file)).missHint(c.old)
		if c.want != "" && !strings.HasPrefix(hint, c.want) {
			t.Errorf("%q in %q: %s", c.old, c.file, hint)
		}
		if lines := strings.Count(hint, "\n"); lines > maxShown+2 {
			t.Errorf("%d lines of hint", lines)
		}
	}
	var big strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&big, "line number %d of a long file with some text\n", i%9000)
	}
	start := time.Now()
	newText([]byte(big.String())).missHint("line number 4711 of a lang file\nline number 4712 of a long file with some texts")
	t.Logf("a miss with its hint in 50,000 lines: %v", time.Since(start))
}

// FuzzPlan: bytes outside the matches never change, and an edit that is planned twice is the same twice.
func FuzzPlan(f *testing.F) {
	f.Add("a\nb\r\nc", "b", "x\ny", 1)
	f.Add("\xef\xbb\xbfa\n", "a", "b", 1)
	f.Add("aaa", "aa", "", 1)
	f.Fuzz(func(t *testing.T, file, old, new string, count int) {
		if old == "" {
			return
		}
		text := newText([]byte(file))
		found := text.find(old)
		result := text.replace(found, new, false)
		var outside, kept strings.Builder
		at := 0
		for _, p := range found {
			if p.lo < at || p.hi < p.lo || p.hi > len(file) {
				t.Fatalf("places %+v in %d bytes", found, len(file))
			}
			outside.WriteString(file[at:p.lo])
			at = p.hi
		}
		outside.WriteString(file[at:])
		if len(found) == 0 && result != file {
			t.Fatal("nothing matched and something changed")
		}
		// With an unchanged replacement of one match, everything else is where it was.
		if len(found) == 1 {
			p := found[0]
			if !strings.HasPrefix(result, file[:p.lo]) || !strings.HasSuffix(result, file[p.hi:]) {
				t.Fatalf("bytes outside %+v changed: %q to %q", p, file, result)
			}
		}
		kept.WriteString(text.replace(nil, new, false))
		if kept.String() != file {
			t.Fatal("no match, but a change")
		}
		if again := newText([]byte(file)); again.replace(again.find(old), new, false) != result {
			t.Fatal("two plans differ")
		}
	})
}

// FuzzCommand: reading a command never panics, and a refusal has a code.
func FuzzCommand(f *testing.F) {
	for _, s := range []string{"rm -rf x", "mv 'a b' c", "cp a $(b)", "touch \"$x\"", "a; b", "rm {a,b}", "x <<E\nE", "touch ~/x", "echo `id`"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		words, err := commandWords(s)
		if err == nil && len(words) == 0 {
			t.Fatal("no words and no refusal")
		}
		if err != nil && err.Code == "" {
			t.Fatal("a refusal without a code")
		}
	})
}
