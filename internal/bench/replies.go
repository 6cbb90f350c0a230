package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/git-clada/git-clada/internal/parse"
)

// parseCase is a reply whose reading is timed.
type parseCase struct {
	name string
	text func() string // made when its turn comes: together they would fill the memory
}

// parseCases gives replies of 10 MB in each dialect, and of 50 MB to show that time grows with size only; then replies
// that are made to be slow to read.
func parseCases() []parseCase {
	const mb = 1_000_000
	var all []parseCase
	for _, dialect := range parse.Dialects() {
		for _, c := range []struct{ size, lines int }{{10 * mb, 200}, {49 * mb, 200}, {10 * mb, 10}} {
			all = append(all, parseCase{fmt.Sprintf("%s, files of %d lines", dialect, c.lines), func() string { return answer(dialect, c.size, c.lines) }})
		}
	}
	hostile := func(name, before, s, behind string) {
		all = append(all, parseCase{name, func() string { return fill(10*mb, before, s, behind) }})
	}
	hostile("prose", "", "a line of prose without anything in it\n", "")
	hostile("markers: one block", "<<<<<<< WRITE path=\"x\"\n", "a line of content\n", ">>>>>>> END\n")
	hostile("markers: openers", "", "<<<<<<< WRITE path=\"x\"\n", "")
	hostile("markers: closers", "", ">>>>>>> END\n", "")
	hostile("markers: dividers", "<<<<<<< EDIT path=\"x\"\n", "=======\n", ">>>>>>> REPLACE\n")
	hostile("one line of <", "", "<", "")
	hostile("think", "", "<think>\n", "")
	hostile("cml: openers", "", "<write path=\"x\">\n", "")
	hostile("cml: sections without end", "", "<write path=\"x\"><![CDATA[\n", "")
	hostile("cml: deep groups", "", "<tasks>", "")
	hostile("cml: end tags on one line", "", "</write>", "")
	hostile("cml: half a tag", "", "<write path=\"\n", "")
	hostile("tags: openers", "", "<edit><file>a</file><find>\n", "")
	hostile("tags: levels in one body", "<edit><file>a</file>", "<find><find></find>", "</edit>")
	hostile("tags: pairs", "<edit><file>a</file>", "<find>a</find><replace>b</replace>\n", "</edit>")
	hostile("tags: comments", "", "<!-- ", "")
	hostile("tags: closers", "", "</content>\n", "")
	hostile("sham: headers", "", "#!nesl [@three-char-SHA-256: abc]\n", "")
	hostile("sham: indented headers", "", " #!nesl [@three-char-SHA-256: abc]\n", "")
	hostile("sham: heredocs without end", "", "#!nesl [@three-char-SHA-256: abc]\na = <<'EOT_abc'\nx\n#!end_abc\n\n", "")
	hostile("sham: delimiters that end nothing", "#!nesl [@three-char-SHA-256: abc]\na = <<'EOT_abc'\n", "see <<EOT_abc\n", "")
	hostile("aider: openers", "a.py\n", "<<<<<<< SEARCH\n", "")
	hostile("aider: dividers", "a.py\n<<<<<<< SEARCH\n", "=======\n", ">>>>>>> REPLACE\n")
	hostile("v4a: openers", "", "*** Begin Patch\n", "")
	hostile("v4a: openers in lists", "", "- *** Begin Patch\n", "")
	hostile("patch: headers", "", "--- a/x\n+++ b/x\n@@\n", "")
	hostile("patch: hunks with wrong counts", "```diff\n--- a/x\n+++ b/x\n", "@@ -1,99999999 +1,99999999 @@\n x\n", "```\n")
	hostile("tags: terminals", "", "<terminal>\n</x>\n", "")
	hostile("cml: half an edit", "", "<edit x=1\n", "")
	hostile("sham: many indented blocks", "", " #!nesl [@a: m5]\n a = <<'EOT_m5'\n x\n EOT_m5\n #!end_m5\nx\n", "")
	hostile("aider: closers of another run", "a.py\n", "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>> REPLACE\n", ">>>>>>> REPLACE\n")
	hostile("patch: many in one fence", "```text\n", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\nprose\n", "")
	hostile("patch: counts of all that follows", "```diff\n--- a/x\n+++ b/x\n", "@@ -1,300000 +1,300000 @@\n x\n", "```\n")
	hostile("fences of 200 indentations", "", indented(), "")
	return all
}

// answer writes a reply in a dialect up to a size in bytes: prose, edits and files with some lines each.
func answer(dialect string, size, lines int) string {
	content := strings.Repeat("content of some length, as lines are\n", lines)
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		n := strconv.Itoa(i)
		b.WriteString("Some prose about it.\n\n" + blocks(dialect, n, content, lines))
	}
	return b.String()
}

// fill repeats s between two texts up to a size in bytes.
func fill(size int, before, s, behind string) string {
	return before + strings.Repeat(s, max(1, (size-len(before)-len(behind))/len(s))) + behind
}

func indented() string {
	var b strings.Builder
	for i := range 200 {
		b.WriteString(strings.Repeat(" ", i) + "```\n" + strings.Repeat(" ", i) + "<write path=\"x\"><![CDATA[]]></write>\n" + strings.Repeat(" ", i) + "```\n")
	}
	return b.String()
}

// blocks gives an edit and a file in a dialect; n makes them different from others.
func blocks(dialect, n, content string, lines int) string {
	added := "+" + strings.ReplaceAll(strings.TrimSuffix(content, "\n"), "\n", "\n+") + "\n"
	forms := map[string]string{
		"markers": "<<<<<<< SEARCH path=\"f%\"\ntitle 7\n=======\ntitle seven\n>>>>>>> REPLACE\n<<<<<<< WRITE path=\"x%\"\n$>>>>>>> END\n",
		"cml": "<edit path=\"f%\"><search><![CDATA[title 7]]></search><replace><![CDATA[title seven]]></replace></edit>\n" +
			"<write path=\"x%\"><![CDATA[$]]></write>\n",
		"tags": "<edit>\n<file>f%</file>\n<find>title 7</find>\n<replace>title seven</replace>\n</edit>\n" +
			"<create>\n<file>x%</file>\n<content>\n$</content>\n</create>\n",
		"sham":  "#!nesl [@three-char-SHA-256: abc]\naction = \"file_write\"\npath = \"x%\"\ncontent = <<'EOT_abc'\n$EOT_abc\n#!end_abc\n",
		"aider": "f%.txt\n```\n<<<<<<< SEARCH\ntitle 7\n=======\n$>>>>>>> REPLACE\n```\n",
		"v4a":   "*** Begin Patch\n*** Add File: x%\n+*** Update File: f%\n-title 7\n+title seven\n*** End Patch\n",
		"patch": "```diff\n--- a/f%\n+++ b/f%\n@@ -1,1 +1," + strconv.Itoa(lines+1) + " @@\n title 7\n+```\n",
	}
	form := forms[dialect]
	if dialect == "v4a" {
		form = strings.Replace(form, "x%\n+", "x%\n"+added, 1)
	}
	if dialect == "patch" {
		form = strings.Replace(form, " title 7\n+", " title 7\n"+added, 1)
	}
	return strings.Replace(strings.ReplaceAll(form, "%", n), "$", content, 1)
}
