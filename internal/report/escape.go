package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/git-clada/git-clada/internal/apply"
)

// Line makes text from a reply, a file or a command safe for one line of a terminal: control characters, bidirectional
// overrides, invisible characters and invalid UTF-8 are shown as escapes.
func Line(s string) string { return escape(s, false) }

// Block is Line for text of several lines: tabs and line feeds stay.
func Block(s string) string { return escape(s, true) }

func escape(s string, lines bool) string {
	if clean(s, lines) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case lines && (r == '\n' || r == '\t'):
			b.WriteRune(r)
		case !apply.Invisible(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		i += n
	}
	return b.String()
}

func clean(s string, lines bool) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf {
			return cleanUnicode(s[i:], lines)
		}
		if (c < 0x20 || c == 0x7f) && !(lines && (c == '\n' || c == '\t')) {
			return false
		}
	}
	return true
}

func cleanUnicode(s string, lines bool) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if apply.Invisible(r) && !(lines && (r == '\n' || r == '\t')) {
			return false
		}
	}
	return true
}
