package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-clada/git-clada/docs"
)

// TestPages: every command has a page, and page and command have the same options.
func TestPages(t *testing.T) {
	app := newApp(&edge{})
	option := regexp.MustCompile(`\*\*(-{1,2}[A-Za-z-]+)\*\*`)
	for _, c := range app.Commands {
		if c.Hidden {
			continue
		}
		text, err := os.ReadFile("../../docs/man/git-clada-" + c.Name + ".1.md")
		if err != nil {
			t.Error(err)
			continue
		}
		if docs.Help("git-clada-"+c.Name) == "" {
			t.Errorf("%s has no help", c.Name)
		}
		_, section, _ := strings.Cut(string(text), "# OPTIONS")
		section, _, _ = strings.Cut(section, "\n# ")
		var inPage, inCommand []string
		for line := range strings.Lines(section) {
			if strings.HasPrefix(line, "**-") {
				for _, m := range option.FindAllStringSubmatch(line, -1) {
					inPage = append(inPage, m[1])
				}
			}
		}
		for _, f := range c.Flags {
			for _, name := range f.Names() {
				dashes := "--"
				if len(name) == 1 {
					dashes = "-"
				}
				inCommand = append(inCommand, dashes+name)
			}
		}
		slices.Sort(inPage)
		slices.Sort(inCommand)
		if !slices.Equal(inPage, inCommand) {
			t.Errorf("%s: page has %v\ncommand has %v", c.Name, inPage, inCommand)
		}
		if !strings.Contains(string(text), c.Usage) {
			t.Errorf("%s: the page does not say %q", c.Name, c.Usage)
		}
		if main := docs.Help("git-clada"); !strings.Contains(main, c.Name) {
			t.Errorf("git-clada(1) does not name %s", c.Name)
		}
	}
}

// TestPermute: options before and behind arguments mean the same.
func TestPermute(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"apply a.md --json", "apply --json -- a.md"},
		{"apply --message x a.md -q", "apply --message x -q -- a.md"},
		{"apply a.md --message=x -- --json", "apply --message=x -- a.md --json"},
		{"-C dir apply a", "apply -C dir -- a"},
		{"apply - -q", "apply -q -- -"},
		{"nonsense -x", "nonsense -x"},
		{"-h", "-h"},
	} {
		got, err := permute(newApp(&edge{}), strings.Fields("git-clada "+c.in))
		if err != nil || strings.Join(got[1:], " ") != c.want {
			t.Errorf("%s: got %v, %v; want %s", c.in, got, err, c.want)
		}
	}
	if _, err := permute(newApp(&edge{}), []string{"git-clada", "apply", "--message"}); err == nil {
		t.Error("a missing value is not noticed")
	}
}
