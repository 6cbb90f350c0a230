package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/tools/txtar"

	"github.com/git-clada/git-clada/internal/testkit"
)

const errorScripts = "../../testdata/errors"

// reserved are codes of things that do not exist yet: nothing can produce them.
var reserved = []string{"syntax_check_failed"}

// TestErrors runs the example of every error code.
func TestErrors(t *testing.T) {
	testscript.Run(t, scriptParams(errorScripts))
}

// TestEveryCodeHasAnExample compares the codes in the source with the examples.
func TestEveryCodeHasAnExample(t *testing.T) {
	source, err := os.ReadFile("../../internal/diag/codes.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`Code = "([a-z0-9_]+)"`).FindAllStringSubmatch(string(source), -1) {
		_, err := os.Stat(filepath.Join(errorScripts, m[1]+".txtar"))
		if has := err == nil; has == slices.Contains(reserved, m[1]) {
			t.Errorf("%s: has an example: %v, is reserved: %v", m[1], has, !has)
		}
	}
}

// TestGeneratedDocs: docs/errors.md and docs/behaviours.md are what the examples and scripts say. UPDATE_DOCS=1 writes
// them (make docs).
func TestGeneratedDocs(t *testing.T) {
	for file, text := range map[string]string{
		"../../docs/errors.md": errorsPage(t), "../../docs/behaviours.md": behavioursPage(t),
	} {
		if os.Getenv("UPDATE_DOCS") != "" {
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		have, err := os.ReadFile(file)
		if err != nil || string(have) != text {
			t.Errorf("%s is out of date: make docs (%v)", file, err)
		}
	}
}

func txtars(t *testing.T, dir string) []string {
	files, err := filepath.Glob(dir + "/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("nothing in", dir, err)
	}
	return files
}

func sentence(a *txtar.Archive) string {
	line, _, _ := strings.Cut(string(a.Comment), "\n")
	return strings.TrimPrefix(line, "# ")
}

func errorsPage(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Error codes\n\nThe codes are stable. Each entry has an example that a test runs.\n")
	for _, file := range txtars(t, errorScripts) {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", strings.TrimSuffix(filepath.Base(file), ".txtar"), sentence(a))
		for _, f := range a.Files {
			fmt.Fprintf(&b, "\n`%s`:\n\n%s", f.Name, indented(string(f.Data)))
		}
	}
	fmt.Fprintf(&b, "\n## Reserved\n\n%s: for what does not exist yet.\n", strings.Join(reserved, ", "))
	return b.String()
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("    " + line)
	}
	return b.String()
}

func behavioursPage(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Behaviours\n\nEach sentence is shown by the script of that name in testdata/script, with the real git.\n\n")
	for _, file := range txtars(t, scripts) {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "- %s (`%s`)\n", sentence(a), strings.TrimSuffix(filepath.Base(file), ".txtar"))
	}
	return b.String()
}

// TestReadme applies the example of the README and compares the report with the one printed there.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(readme), "<!-- example -->\n```\n")
	reply, rest, ok2 := strings.Cut(rest, "\n```\n")
	_, rest, ok3 := strings.Cut(rest, "    $ git clada apply reply.md\n")
	shown, _, ok4 := strings.Cut(rest, "\n\nThen ")
	if !ok || !ok2 || !ok3 || !ok4 {
		t.Fatal("the README has no example in the expected form")
	}
	w := testkit.NewWorld(t)
	w.Write(t, "greet.py", "def greet():\n    print(\"Hello\")\n")
	w.Git(t, "add", "-A")
	w.Git(t, "commit", "-q", "-m", "start")
	if err := os.WriteFile(filepath.Join(w.Home, "reply.md"), []byte(reply+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	before := w.Photo(t)
	program := buildProgram(t)
	out := clada(t, program, w, "apply", "../reply.md")
	want := strings.ReplaceAll(strings.TrimSpace("    "+shown), "\n    ", "\n")
	if !strings.HasPrefix(out, strings.TrimPrefix(want, "    ")) {
		t.Errorf("got:\n%s\nthe README says:\n%s", out, want)
	}
	clada(t, program, w, "undo")
	if diff := testkit.Diff(before, w.Photo(t)); diff != "" {
		t.Error(diff)
	}
}
