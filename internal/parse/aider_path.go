package parse

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/git-clada/git-clada/internal/diag"
)

// bareNames are file names without a dot or slash that are paths all the same.
var bareNames = []string{
	"Makefile", "GNUmakefile", "Dockerfile", "Containerfile", "Jenkinsfile", "Vagrantfile", "Gemfile", "Rakefile", "Procfile", "Brewfile",
	"Justfile", "LICENSE", "COPYING", "NOTICE", "README", "CHANGELOG", "AUTHORS", "VERSION", "CODEOWNERS", "BUILD", "WORKSPACE",
}

// wrapperTags may stand alone on a line between a path and its block.
var wrapperTags = []string{
	"<source>", "<code>", "<pre>", "<codeblock>", "<sourcecode>", "<diff>", "<content>", "<apply_diff>", "<replace_in_file>",
}

var pathLabel = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(file ?name|file ?path|file|path)\**[ \t]*:\**`)
})

// pathLine reads a line that names a file and nothing else. It goes by form alone, never by what is on the disk.
func pathLine(line string) (path string, ok bool) {
	s := strings.TrimSpace(string(skipLeadIn([]byte(line))))
	s = strings.TrimLeft(s, "#")
	s = strings.ReplaceAll(strings.ReplaceAll(s, "<path>", ""), "</path>", "")
	marked := false
	for before := ""; s != before; {
		before = s
		s = strings.Trim(s, "* \t")
		s = strings.TrimRight(s, ":")
		if label := pathLabel().FindString(s); label != "" {
			s, marked = s[len(label):], true
		}
		if strings.HasPrefix(s, "`") && strings.HasSuffix(s, "`") && len(s) > 1 {
			marked = true
		}
		s = strings.Trim(s, "` \t")
	}
	return s, isPath(s, marked)
}

// isPath reports whether s has the form of a path. One that is marked as such may have blanks in it.
func isPath(s string, marked bool) bool {
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".,;!?") || strings.Contains(s, "://") || strings.ContainsAny(s, "`<>|") {
		return false
	}
	if marked {
		return true
	}
	return !strings.ContainsAny(s, " \t") && (strings.ContainsAny(s, "/.") || slices.Contains(bareNames, s))
}

// isWrapper reports whether a line may stand between a path and its block.
func isWrapper(line string) bool {
	if f, ok := readFence([]byte(line)); ok {
		return f.char != 0
	}
	return slices.Contains(wrapperTags, strings.TrimSpace(line))
}

// pathCandidates gives the lines that may name the file of a block at line i: the nearest line above, and the nearest
// one above wrapper lines.
func (s *scan) pathCandidates(i int) (lines []int) {
	j := i - 1
	up := func() bool {
		for j >= s.behind && onlyBlanks(s.line(j)) {
			j--
		}
		return j >= s.behind
	}
	if !up() {
		return nil
	}
	if !isWrapper(s.bare(j)) {
		lines = append(lines, j)
		if j--; !up() || !isWrapper(s.bare(j)) {
			return lines
		}
	}
	for up() && isWrapper(s.bare(j)) {
		j--
	}
	if j >= s.behind {
		lines = append(lines, j)
	}
	return lines
}

// findPath sets the path of the block: that of a path line above it, or that of the block before it.
func (b *searchBlock) findPath() *diag.Error {
	candidates := b.pathCandidates(b.first)
	for _, line := range candidates {
		if path, ok := pathLine(b.bare(line)); ok {
			b.path = path
			b.memo["aider path"] = path
			return nil
		}
	}
	inherited, _ := b.memo["aider path"].(string)
	for _, line := range candidates {
		if other := mentionedPath(b.bare(line)); other != "" && other != inherited {
			return diag.New(diag.InvalidArgument, "SEARCH needs path: line %d mentions %s but is not a path line", line+1, other).
				WithHint("write %s alone on the line above", other)
		}
	}
	if b.path = inherited; inherited != "" {
		return nil
	}
	err := diag.New(diag.InvalidArgument, "SEARCH needs path").WithHint("write the path alone on the line above the fence, or <<<<<<< SEARCH path=\"FILE\"")
	for _, line := range candidates {
		if info := b.infoPath(line); info != "" {
			return err.WithHint("write %s alone on the line above the fence", info)
		}
	}
	if info := b.infoPath(b.fence.line); b.fence.char != 0 && info != "" {
		return err.WithHint("write %s alone on the line above the fence", info)
	}
	return err
}

// infoPath gives a path that stands in the info string of a fence, where it means nothing.
func (s *scan) infoPath(line int) string {
	f, ok := readFence(s.line(line))
	if !ok {
		return ""
	}
	for _, word := range strings.Fields(f.info) {
		if isPath(word, false) {
			return word
		}
	}
	return ""
}

// mentionedPath gives a path that a line of prose has in backticks.
func mentionedPath(line string) string {
	parts := strings.Split(line, "`")
	for i := 1; i < len(parts)-1; i += 2 {
		if isPath(parts[i], false) {
			return parts[i]
		}
	}
	return ""
}
