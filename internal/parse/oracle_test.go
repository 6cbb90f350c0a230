package parse

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/git-clada/git-clada/internal/testkit"
)

// TestNeslOracle compares strict reading with the npm package nesl, which implements the same grammar for the newest
// generation, on generated documents: every block and every error, member for member.
func TestNeslOracle(t *testing.T) {
	if os.Getenv("NESL_ORACLE") == "" {
		t.Skip("needs node and the npm registry: make oracle runs it")
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--prefix", dir, "nesl@0.1.12-beta.1")
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("the npm registry cannot be reached: %v\n%s", err, out)
	}
	seed, rounds := testkit.Seed(t), testkit.Rounds(t, 20_000)
	rnd := rand.New(rand.NewSource(seed))
	docs := make([]string, rounds)
	for i := range docs {
		docs[i] = neslDocument(rnd)
	}
	theirs := askNesl(t, dir, docs)
	different := 0
	for i, doc := range docs {
		ours, err := json.Marshal(ParseSham(doc, true).Document(true))
		if err != nil {
			t.Fatal(err)
		}
		var a any
		if err := json.Unmarshal(ours, &a); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a, theirs[i]) {
			want, _ := json.Marshal(theirs[i])
			if different++; different <= 5 {
				t.Errorf("%q\nours   %s\ntheirs %s", doc, ours, want)
			}
		}
	}
	t.Logf("%d documents, %d differences (seed %d)", rounds, different, seed)
}

// askNesl runs the package on all documents.
func askNesl(t *testing.T, dir string, docs []string) []any {
	t.Helper()
	text, err := json.Marshal(docs)
	if err != nil {
		t.Fatal(err)
	}
	script := `const fs = require("fs"), { parseNesl } = require("nesl");
const docs = JSON.parse(fs.readFileSync("docs.json", "utf8"));
fs.writeFileSync("out.json", JSON.stringify(docs.map(d => parseNesl(d))));`
	for name, content := range map[string]string{"docs.json": string(text), "run.cjs": script} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("node", "run.cjs")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("node: %v\n%s", err, out)
	}
	out, err := os.ReadFile(filepath.Join(dir, "out.json"))
	if err != nil {
		t.Fatal(err)
	}
	var results []any
	if err := json.Unmarshal(out, &results); err != nil {
		t.Fatal(err)
	}
	return results
}

// neslDocument makes a document that is nearly right in many ways. Markers of the other generations, and keys that are
// members of a JavaScript object, are left out: there the package does something else.
func neslDocument(r *rand.Rand) string {
	ids := []string{"m5", "b2", "abc", "Zk7", "toolong99", "x", "a.c", "é7"}
	id := func() string { return ids[r.Intn(len(ids))] }
	pick := func(all ...string) string { return all[r.Intn(len(all))] }
	var b strings.Builder
	open := id()
	for range r.Intn(14) {
		if r.Intn(5) == 0 {
			open = id()
		}
		switch r.Intn(16) {
		case 0, 1, 2:
			b.WriteString(pick("", "", "", " ", "\t") + "#!nesl" + pick(" ", " ", " ", "  ", "") + "[@" + pick("three-char-SHA-256", "tag", "t_g", "") +
				pick(": ", ": ", ":", " : ") + open + "]" + pick("", "", "", " ", "x"))
		case 3, 4:
			b.WriteString(pick("", "", "", " ") + "#!end_" + pick(open, open, id()) + pick("", "", "'", " ", "''", " x"))
		case 5, 6, 7:
			b.WriteString(pick("", "", "", " ", "\t") + pick("a", "b", "größe", "k_1", "9x", "my-key", "𐐀k", "", "a b", strings.Repeat("k", 257)) +
				pick(" = ", "=", " =", " := ", " => ", " == ") +
				pick(`"v"`, `"a\tb"`, `"\w"`, `"half`, `"x" y`, `"x"  `, `""`, "12", "'x'", "true", `"i := 0"`, `"said "so""`, "😀", "\u00a0\"v\"\ufeff"))
		case 8, 9, 10:
			b.WriteString(pick("", "", "", " ") + pick("text", "a", "my-text", "") + pick(" = ", "=") +
				pick("<<'EOT_"+open+"'", "<<'EOT_"+open+"'", "<<'EOT_"+id()+"'", "<<EOT_"+open, "<<\"EOT_"+open+"\"", "<<'EOT_"+open+"' x", "<< 'EOT_"+open+"'", "<<''"))
		case 11, 12:
			b.WriteString(pick("", "", "body ", "see <<", "  ") + "EOT_" + pick(open, open, id()) + pick("", "", "'", " ", " more", "EOT_"+open))
		case 13:
			b.WriteString(pick("some text", "# note", "// a = b", "~~~", "k : v", "𐐀𐐀", "\u2028", "x\ry"))
		default:
			b.WriteString(pick("", "", " ", "\t"))
		}
		b.WriteString(pick("\n", "\n", "\n", "\n", "\r\n"))
	}
	if r.Intn(3) == 0 {
		fmt.Fprint(&b, pick("last", "#!end_"+open, "EOT_"+open))
	}
	return b.String()
}
