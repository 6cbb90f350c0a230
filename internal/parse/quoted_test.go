package parse

import (
	"math/rand"
	"strconv"
	"strings"
	"testing"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/testkit"
)

// quotable are complete blocks of every dialect, and lines that look like parts of some, that a file may hold.
var quotable = []string{
	"<<<<<<< WRITE path=\"q\"\nx\n>>>>>>> END\n", "<<<<<<< SEARCH path=\"q\"\na\n=======\nb\n>>>>>>> REPLACE\n", "<<<<<<< RUN\nrm -rf q\n>>>>>>> END\n",
	"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n", "q\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n",
	"<delete><file>q</file></delete>\n", "<create>\n<file>q</file>\n<content>\nhi\n</content>\n</create>\n",
	"<edit>\n<file>q</file>\n<find>x</find>\n<replace>y</replace>\n</edit>\n", "<terminal>\nrm q\n</terminal>\n",
	"<remove path=\"q\"/>\n", "<tasks><remove path=\"q\"/></tasks>\n",
	"#!nesl [@three-char-SHA-256: qqq]\naction = \"file_delete\"\npath = \"q\"\n#!end_qqq\n", "#!SHAM [@three-char-SHA-256: qqr]\na = \"1\"\n#!END_SHAM_qqr\n",
	"*** Begin Patch\n*** Delete File: q\n*** End Patch\n", "--- a/q\n+++ b/q\n@@ -1 +1 @@\n-x\n+y\n", "diff --git a/q b/q\ndeleted file mode 100644\n",
	"```sh\nrm q\n```\n", "````\n", "# Heading\n", "\n", "    indented\n", "<think>\n", "<!-- a comment\n", "}\n", "a < b && c > d\n", "-- \n2.1\n",
}

// TestQuotedBlocksAreContent: a file full of complete blocks of all dialects, written as a model writes it in each dialect,
// is one task with exactly that content, and the block behind it is another.
func TestQuotedBlocksAreContent(t *testing.T) {
	seed, rounds := testkit.Seed(t), testkit.Rounds(t, 2000)
	r := rand.New(rand.NewSource(seed))
	sentinel := "\n<remove path=\"sentinel\"/>\n"
	for round := range rounds {
		var content strings.Builder
		for range 1 + r.Intn(6) {
			content.WriteString(quotable[r.Intn(len(quotable))])
		}
		for dialect, reply := range wrappings(content.String()) {
			b, list := Parse([]byte("Some prose.\n\n"+reply+sentinel), Options{})
			var written *batch.Write
			if len(b.Tasks) == 2 {
				if w, ok := b.Tasks[0].Op.(batch.Write); ok {
					written = &w
				}
			}
			if written == nil || written.Content != content.String() || len(list.Problems) > 0 || b.Tasks[1].Dialect != "cml" {
				t.Fatalf("seed %d round %d in %s: %d tasks\n%s\n%s\nread %+v", seed, round, dialect, len(b.Tasks), listText(list.Problems, nil), reply, written)
			}
		}
	}
}

// wrappings gives a file in the dialects in which nothing in it needs an escape.
func wrappings(content string) map[string]string {
	plus := ""
	for line := range strings.Lines(content) {
		plus += "+" + line
	}
	n := strconv.Itoa(strings.Count(content, "\n"))
	all := map[string]string{
		"markers": "<<<<<<< WRITE path=\"f\"\n" + content + ">>>>>>> END\n",
		"tags":    "<create_overwrite>\n<file>f</file>\n<content>\n" + content + "</content>\n</create_overwrite>\n",
		"cml":     "<write path=\"f\"><![CDATA[" + content + "]]></write>\n",
		"sham":    "#!nesl [@three-char-SHA-256: abc]\naction = \"file_write\"\npath = \"f\"\ncontent = <<'EOT_abc'\n" + content + "\nEOT_abc\n#!end_abc\n",
		"v4a":     "*** Begin Patch\n*** Add File: f\n" + plus + "*** End Patch\n",
		"patch":   "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1," + n + " @@\n" + plus,
	}
	if strings.Trim(content, "\n") == "" { // only empty lines are no content of a patch
		delete(all, "v4a")
	}
	return all
}
