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
		case strings.HasPrefix(line, "    "):
			b.WriteString(line) // an example
			continue
		case strings.HasPrefix(line, "% "):
			continue
		case strings.HasPrefix(line, "# "):
			line = line[2:]
		case strings.HasPrefix(line, ": "):
			line = "    " + strings.TrimLeft(line[2:], " ")
		}
		wrap(&b, strings.NewReplacer("**", "", `\<`, "<", `\-`, "-").Replace(line))
	}
	return strings.TrimLeft(b.String(), "\n")
}

// wrap writes a line, broken at blanks so that it fits a terminal of 80 columns. Further lines are indented alike.
func wrap(b *strings.Builder, line string) {
	const width = 79
	text := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(text)]
	column := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
			b.WriteString(indent)
			column = len(indent)
		case column+1+len(word) > width:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	b.WriteString("\n")
}
