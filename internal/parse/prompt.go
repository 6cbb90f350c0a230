package parse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// guide is what a model is told about a dialect: rules that hold for all of it, and an example for each thing that can
// be asked for.
type guide struct {
	rules    []string
	examples []guideExample
}

// guideExample is one thing that can be asked for. Its text is written by the dialect's own formatter where that can
// write it, so it is always what the parser reads.
type guideExample struct {
	op   string // as --ops names it
	what string
	text string
}

// Prompt gives the instructions to put into a model's system prompt, for the ops given or for all.
func Prompt(dialect string, ops []string) (string, error) {
	g := guideOf(dialect)
	known := map[string]bool{}
	for _, e := range g.examples {
		known[e.op] = true
	}
	for _, op := range ops {
		if !slices.Contains(batch.Names(), op) {
			return "", diag.New(diag.InvalidArgument, "%s is not an operation", op).WithHint("known: %s", strings.Join(batch.Names(), ", "))
		}
		if !known[op] {
			return "", diag.New(diag.InvalidArgument, "%s has no form for %s", dialect, op).WithHint("leave it out, or take another dialect")
		}
	}
	var b strings.Builder
	b.WriteString("To change files, write blocks of the following form anywhere in your reply. Everything else in the reply is prose.\n")
	b.WriteString("Paths are relative to the top of the repository, with /. Text to be replaced must be copied from the file exactly.\n\n")
	for _, rule := range g.rules {
		b.WriteString("- " + rule + "\n")
	}
	for _, e := range g.examples {
		if len(ops) == 0 || slices.Contains(ops, e.op) {
			fmt.Fprintf(&b, "\n%s:\n\n%s", e.what, e.text)
		}
	}
	return b.String(), nil
}

// Examples gives the examples of a dialect's prompt, for tests.
func Examples(dialect string) map[string]string {
	all := map[string]string{}
	for _, e := range guideOf(dialect).examples {
		all[e.what] = e.text
	}
	return all
}

func guideOf(dialect string) guide {
	switch dialect {
	case "cml":
		return cmlGuide()
	case "tags":
		return tagsGuide()
	case "sham":
		return shamGuide()
	case "aider":
		return aiderGuide()
	case "v4a":
		return v4aGuide()
	case "patch":
		return patchGuide()
	}
	return markersGuide()
}

// example formats an op in a dialect.
func exampleOf(dialect string, op batch.Op, what string) guideExample {
	b := &batch.Batch{Tasks: []batch.Task{{Seq: 1, Op: op, Action: op.Name()}}}
	text, err := Format(b, dialect)
	if err != nil {
		panic(fmt.Sprintf("parse: the example for %s cannot be written in %s: %v", op.Name(), dialect, err))
	}
	return guideExample{op.Name(), what, text}
}

var (
	sampleWrite = batch.Write{Path: "src/hello.py", Content: "def hello():\n    print(\"Hello\")\n"}
	sampleOld   = "    print(\"Hello\")"
	sampleNew   = "    print(\"Hello, world\")"
	sampleLine  = []batch.HunkLine{{Kind: ' ', Text: "def hello():"}, {Kind: '-', Text: sampleOld}, {Kind: '+', Text: sampleNew}}
)

func sampleEdit(e batch.Expect) batch.Edit {
	return batch.Edit{Path: "src/hello.py", Splits: []batch.Split{{Old: sampleOld, New: sampleNew}}, Expect: e}
}

func sampleRange() batch.EditRange {
	return batch.EditRange{Path: "src/hello.py", Start: "def old():", Splits: []batch.Split{{Old: "return None", New: "def new():\n    return 1"}}, Expect: batch.Expect{Count: 1}}
}

// What a model should know of commands, so that it asks for few that are refused.
const (
	commandRule = "One command per block, without shell syntax: no pipes, redirections, variables, globs, && or ;. Put patterns into quotes. " +
		"Each command starts afresh at the top, or in dir=\"...\"."
	otherCommandsRule = "rm, mv, cp, mkdir, touch, cat, head, tail, grep, find, ls, tree, wc, diff, file, stat, xxd and git status, diff, log, show, " +
		"branch, ls-files run at once, with their plain options. Any other command, such as npm test, runs only if the person approves it."
)

func markersGuide() guide {
	one := batch.Expect{Count: 1}
	g := guide{rules: []string{
		"Markers stand at the start of a line, in upper case. Do not put them into lists or quotes.",
		"If content has lines that look like markers, use longer markers for the whole block (8 or more characters).",
		"A search text must occur exactly once; count=\"2\" says how often, count=\"all\" replaces every occurrence.",
		"To delete text, repeat a neighbouring line in both parts.",
		commandRule, otherCommandsRule,
	}}
	add := func(op batch.Op, what string) { g.examples = append(g.examples, exampleOf("markers", op, what)) }
	add(sampleWrite, "Write a whole file, new or not")
	add(batch.Append{Path: "notes.txt", Content: "one more line\n", FreshLine: true}, "Append to a file")
	add(sampleEdit(one), "Replace text")
	add(sampleRange(), "Replace from one text through another")
	add(batch.Run{Command: "mv old.txt new.txt"}, "Move, copy or remove files, or run a command (one per block)")
	return g
}

func cmlGuide() guide {
	g := guide{rules: []string{
		"All content stands in <![CDATA[...]]> and is taken exactly, newlines too. Write \"]]>\" inside it as \"]]&gt;\".",
		"Attributes are quoted. Put <tasks version=\"1.1\">...</tasks> around elements that belong together: the first failure stops them.",
		"A search text must occur exactly once; count=\"2\" says how often, count=\"all\" replaces every occurrence.",
		commandRule, otherCommandsRule,
	}}
	add := func(op batch.Op, what string) { g.examples = append(g.examples, exampleOf("cml", op, what)) }
	add(sampleWrite, "Write a whole file, new or not")
	add(batch.Append{Path: "notes.txt", Content: "one more line\n"}, "Append to a file")
	add(sampleEdit(batch.Expect{Count: 1}), "Replace text")
	add(sampleRange(), "Replace from one text through another")
	add(batch.Move{From: "old.txt", To: "new.txt", Overwrite: true, Into: true}, "Move a file or directory")
	add(batch.Remove{Path: "old", Recursive: true, EmptyDir: true}, "Remove a file or directory")
	add(batch.Run{Command: "npm test"}, "Run one command, without shell syntax")
	return g
}

// tagSamples are values for the parts of operations.
var tagSamples = map[string]string{
	"file": "src/hello.py", "from": "old.txt", "to": "new.txt", "path": "docs/new", "find": "\n" + sampleOld + "\n", "replace": "\n" + sampleNew + "\n",
	"content": "\n# a line\n", "pattern": "import os", "lines": "10-20", "offset": "9", "limit": "11", "case_insensitive": "true",
}

// tagWhat says what each operation does.
var tagWhat = map[string]string{
	"edit": "Replace text, wherever it occurs in the file", "create": "Create a file, which must not exist", "create_overwrite": "Write a whole file, new or not",
	"delete": "Delete a file", "move": "Move a file", "copy": "Copy a file", "copy_overwrite": "Copy a file over another one", "append": "Append to a file",
	"insert_after": "Insert lines after the one line that has a text", "insert_before": "Insert lines before the one line that has a text",
	"mkdir": "Make a directory", "rmdir": "Remove an empty directory", "read": "Read lines of a file", "grep": "Find lines by a regular expression (RE2)",
}

func tagsGuide() guide {
	g := guide{rules: []string{
		"No attributes. Nothing is escaped. Each operation opens at the start of a line.",
		"Put text of several lines between tags on lines of their own; indentation is content.",
		"If content holds closing tags of these operations, put it into <![CDATA[...]]>.",
	}}
	for _, name := range tagNames {
		op := tagOps[name]
		var children []string
		for _, c := range op.children {
			if c.optional && c.name != "lines" {
				continue
			}
			children = append(children, c.name, tagSamples[c.name])
		}
		text := tagElement(name, children...)
		b, _ := Parse([]byte(text), Options{Dialect: "tags"})
		g.examples = append(g.examples, guideExample{b.Tasks[0].Op.Name(), tagWhat[name], text})
	}
	return g
}

// shamSamples are values for parameters.
var shamSamples = map[string]string{
	"path": "src/hello.py", "content": "# a line\n# another", "old_text": sampleOld, "new_text": sampleNew, "count": "2", "paths": "a.txt\nb.txt",
	"old_text_beginning": "def old():", "old_text_end": "return None", "lines": "10-20", "new_content": "one line\nanother", "old_path": "old.txt",
	"new_path": "new.txt", "pattern": "TODO", "base_path": ".", "code": "print(1 + 1)", "lang": "python", "recursive": "true",
}

// shamWhat says what each action does.
var shamWhat = map[string]string{
	"file_create": "Create a file, which must not exist", "file_write": "Write a whole file, new or not", "file_append": "Append to a file, byte for byte",
	"file_edit": "Replace text that occurs exactly count times", "file_replace_text": "Replace text that occurs exactly once",
	"file_replace_all_text": "Replace every occurrence of a text", "files_replace_all_text": "Replace every occurrence in several files",
	"file_replace_text_range": "Replace from one text through another", "file_replace_lines": "Replace lines by number",
	"file_read": "Read a file", "file_read_numbered": "Read lines with their numbers", "files_read": "Read several files", "file_delete": "Delete a file",
	"file_move": "Move a file or directory", "dir_create": "Make a directory", "dir_delete": "Remove a directory", "ls": "List a directory",
	"grep": "Find lines by a literal text", "glob": "Find files by a pattern", "exec": "Run code (python, javascript, bash or ruby)",
	"context_add": "Put a file into the working context", "context_remove": "Take a file out of it", "context_list": "List it",
	"context_prune": "Drop what is gone from it", "context_clear": "Empty it",
}

func shamGuide() guide {
	g := guide{rules: []string{
		"One action per block. Choose a new id of 3 letters or digits for each block; header, end marker and heredoc delimiters all carry it.",
		"Values are JSON strings on one line, or heredocs. A heredoc ends without a newline: leave an empty line before the delimiter to end the text with one.",
		"Keys start in column 1. Nothing else stands in a block.",
	}}
	f := &shamForm{}
	for _, a := range shamActions {
		if a.anything {
			continue
		}
		var out strings.Builder
		f.n++
		id := fmt.Sprintf("b%02d", f.n)
		fmt.Fprintf(&out, "#!nesl [@%s: %s]\naction = %s\n", usualTag, id, jsonString(a.names[0]))
		values := shamValues{}
		for _, p := range a.params {
			if !p.required && p.name != "count" && p.name != "recursive" {
				continue
			}
			value := shamSamples[p.name]
			values[p.name], _ = p.typed(value)
			if fitsHeredoc(value, "EOT_"+id) {
				fmt.Fprintf(&out, "%s = <<'EOT_%s'\n%s\nEOT_%s\n", p.name, id, value, id)
			} else {
				fmt.Fprintf(&out, "%s = %s\n", p.name, jsonString(value))
			}
		}
		out.WriteString("#!end_" + id + "\n")
		g.examples = append(g.examples, guideExample{a.build(values).Name(), shamWhat[a.names[0]], out.String()})
	}
	return g
}

func aiderGuide() guide {
	g := guide{rules: []string{
		"The path stands alone on the line above the block.",
		"SEARCH has whole lines, copied exactly, that occur once in the file. An empty SEARCH creates a file.",
		"A line of content that looks like a marker gets a backslash in front.",
	}}
	edit := sampleEdit(batch.Expect{Count: 1})
	edit.Lines, edit.Elision = true, true
	g.examples = append(g.examples, exampleOf("aider", edit, "Replace lines"),
		exampleOf("aider", batch.Write{Path: "src/new.py", Content: "x = 1\n", Mode: batch.Fill}, "Create a file"))
	return g
}

func v4aGuide() guide {
	g := guide{rules: []string{
		"Every line of content has a prefix: a blank (stays), - (goes) or + (comes). New files have + before every line.",
		"Give about three lines of context around a change. @@ lines name what surrounds it: a class, a function.",
		"Chunks stand in the order of the file.",
	}}
	add := func(op batch.Op, what string) { g.examples = append(g.examples, exampleOf("v4a", op, what)) }
	add(sampleWrite, "Write a whole file, new or not")
	hunk := batch.Hunk{Contexts: []string{"class Greeter:"}, Lines: sampleLine}
	add(batch.Patch{Path: "src/hello.py", InOrder: true, Overwrite: true, Hunks: []batch.Hunk{hunk}}, "Change lines")
	add(batch.Patch{Path: "old.py", To: "new.py", InOrder: true, Overwrite: true}, "Move a file, with or without changes")
	add(batch.Remove{Path: "old.txt"}, "Delete a file")
	return g
}

func patchGuide() guide {
	g := guide{rules: []string{
		"Write unified diffs in ```diff fences, with --- a/PATH and +++ b/PATH. /dev/null stands for a file that is not there.",
		"Context lines start with one blank. Line numbers need not be right, but the context must then be found only once.",
	}}
	add := func(op batch.Op, what string) { g.examples = append(g.examples, exampleOf("patch", op, what)) }
	hunk := batch.Hunk{Header: "@@ -1,2 +1,2 @@", Line: 1, Counted: true, Lines: sampleLine}
	add(batch.Patch{Path: "src/hello.py", Hunks: []batch.Hunk{hunk}}, "Change lines")
	create := sampleWrite
	create.Mode, create.Exec = batch.Create, new(bool)
	add(create, "Create a file")
	gone := batch.Hunk{Header: "@@ -1 +0,0 @@", Line: 1, Counted: true, Lines: []batch.HunkLine{{Kind: '-', Text: "last line"}}}
	add(batch.Patch{Path: "old.txt", Delete: true, Hunks: []batch.Hunk{gone}}, "Delete a file")
	add(batch.Patch{Path: "old.txt", To: "new.txt"}, "Rename a file")
	return g
}
