// Package docs holds the manual pages, which are also the built-in help.
package docs

import (
	"embed"
	"strings"
)

//go:embed man/*.md
var pages embed.FS

// Help gives the text of a manual page for a terminal, or "" if there is none.
func Help(page string) string {
	text, err := pages.ReadFile("man/" + page + ".1.md")
	if err != nil {
		return ""
	}
	return plain(string(text))
}

// plain takes the markup away that a terminal cannot show.
func plain(page string) string {
	var b strings.Builder
	for line := range strings.Lines(page) {
		switch {
		case strings.HasPrefix(line, "% "):
			continue
		case strings.HasPrefix(line, "# "):
			line = line[2:]
		case strings.HasPrefix(line, ": "):
			line = "    " + strings.TrimLeft(line[2:], " ")
		}
		b.WriteString(strings.NewReplacer("**", "", `\<`, "<", `\-`, "-").Replace(line))
	}
	return strings.TrimLeft(b.String(), "\n")
}
