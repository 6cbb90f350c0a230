package parse

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/git-clada/git-clada/internal/diag"
)

// sectionNames says which file a section is about.
type sectionNames struct {
	path, to         string
	creates, deletes bool
}

const devNull = "/dev/null"

var nameTime = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[ \t]+\d{4}-\d\d-\d\d \d\d:\d\d:\d\d.*$`) })

// nameOf reads the name behind "--- " or "+++ ": quoted as C does it, or up to a tab or a time.
func nameOf(s string) string {
	if strings.HasPrefix(s, `"`) {
		return unquoteName(s)
	}
	if n := strings.IndexByte(s, '\t'); n >= 0 {
		return s[:n]
	}
	return strings.TrimRight(nameTime().ReplaceAllString(s, ""), " ")
}

// unquoteName reads a name that may be in double quotes, with the escapes that git writes.
func unquoteName(s string) string {
	if !strings.HasPrefix(s, `"`) {
		return s
	}
	name, _ := cQuoted(s)
	return name
}

var cEscapes = map[byte]byte{'t': '\t', 'n': '\n', 'r': '\r', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v', '"': '"', '\\': '\\'}

// cQuoted reads a name in double quotes and gives what stands behind it.
func cQuoted(s string) (name, rest string) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:]
		case c == '\\' && i+3 < len(s) && octal(s[i+1:i+4]):
			b.WriteByte((s[i+1]-'0')<<6 | (s[i+2]-'0')<<3 | (s[i+3] - '0'))
			i += 3
		case c == '\\' && i+1 < len(s) && cEscapes[s[i+1]] != 0:
			b.WriteByte(cEscapes[s[i+1]])
			i++
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

func octal(s string) bool {
	return s[0] >= '0' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' && s[2] >= '0' && s[2] <= '7'
}

// names gives the file of a section, or says why it is in doubt.
func (h *fileHead) names() (n sectionNames, code diag.Code, message, hint string) {
	gitOld, gitNew := splitGitNames(h.gitLine)
	oldName, newName := h.oldName, h.newName
	if !h.hasNames {
		oldName, newName = gitOld, gitNew
		if h.created {
			oldName = devNull
		}
		if h.deleted {
			newName = devNull
		}
	}
	plainOld, plainNew := stripPrefixes(oldName, newName)
	n.creates = h.created || oldName == devNull
	n.deletes = h.deleted || newName == devNull
	if h.from != "" || h.to != "" {
		if h.from == "" || h.to == "" {
			return n, diag.MalformedStructure, "a rename or copy with one name only", "give both `from` and `to`"
		}
		if h.hasNames && (plainOld != h.from || plainNew != h.to) {
			return n, diag.MalformedStructure, fmt.Sprintf("--- %s and +++ %s contradict the rename from %s to %s", oldName, newName, h.from, h.to),
				"write the same names in both places"
		}
		n.path, n.to = h.from, h.to
		return n, "", "", ""
	}
	if h.git && h.hasNames && gitOld != "" {
		wantOld, wantNew := stripPrefixes(gitOld, gitNew)
		if oldName != devNull && plainOld != wantOld || newName != devNull && plainNew != wantNew {
			return n, diag.MalformedStructure, fmt.Sprintf("--- %s and +++ %s contradict the line diff --git %s", oldName, newName, h.gitLine),
				"write the same names in both places"
		}
	}
	switch {
	case n.creates && n.deletes:
		return n, diag.MalformedStructure, "both names are /dev/null", "name the file"
	case n.creates:
		n.path = plainNew
	case n.deletes, plainOld == plainNew:
		n.path = plainOld
	case strings.HasPrefix(plainOld, plainNew):
		n.path = plainNew
	case strings.HasPrefix(plainNew, plainOld):
		n.path = plainOld
	default:
		return n, diag.InvalidArgument, fmt.Sprintf("two names, %s and %s, without rename header", plainOld, plainNew),
			fmt.Sprintf("add `rename from %s` and `rename to %s`", plainOld, plainNew)
	}
	if n.path == "" || n.path == devNull {
		return n, diag.MalformedStructure, "the section names no file", "write `--- a/PATH` and `+++ b/PATH`"
	}
	return n, "", "", ""
}

// splitGitNames splits the names of a "diff --git" line. Without quotes they are two equal halves, prefixes aside.
func splitGitNames(s string) (oldName, newName string) {
	if strings.HasPrefix(s, `"`) {
		name, rest := cQuoted(s)
		return name, unquoteName(strings.TrimPrefix(rest, " "))
	}
	if strings.HasSuffix(s, `"`) {
		if n := strings.Index(s, ` "`); n >= 0 {
			return s[:n], unquoteName(s[n+1:])
		}
	}
	if len(s)%2 == 1 {
		half := len(s) / 2
		a, b := s[:half], s[half+1:]
		if pa, pb := stripPrefixes(a, b); s[half] == ' ' && pa == pb {
			return a, b
		}
	}
	if n := strings.Index(s, " b/"); n >= 0 && strings.HasPrefix(s, "a/") {
		return s[:n], s[n+1:]
	}
	a, b, _ := strings.Cut(s, " ")
	return a, b
}

// stripPrefixes drops a/ and b/, or another pair that git may be told to write, if both names have theirs.
func stripPrefixes(oldName, newName string) (string, string) {
	for _, pair := range [][2]string{{"a/", "b/"}, {"i/", "w/"}, {"c/", "i/"}, {"c/", "w/"}, {"o/", "w/"}, {"w/", "i/"}, {"i/", "c/"}, {"w/", "c/"}, {"w/", "o/"}} {
		oldFits := oldName == devNull || strings.HasPrefix(oldName, pair[0])
		newFits := newName == devNull || strings.HasPrefix(newName, pair[1])
		if !oldFits || !newFits {
			continue
		}
		if oldName != devNull {
			oldName = oldName[len(pair[0]):]
		}
		if newName != devNull {
			newName = newName[len(pair[1]):]
		}
		return oldName, newName
	}
	return oldName, newName
}
