package apply

import (
	"fmt"
	"path"
	"regexp"
	"sort"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// FoundLine is one line that grep found.
type FoundLine struct {
	File string `json:"file"`
	Line int    `json:"line_number"`
	Text string `json:"line"`
}

// grep gives the lines that match, of a file or of all files below a directory that git does not ignore.
func (p *planner) grep(r *Result, op batch.Grep) *diag.Error {
	match, err := matcher(op)
	if err != nil {
		return err
	}
	where := op.Path
	if where == "" {
		where = "."
	}
	at, n, err := p.target(r, where, "")
	if err != nil {
		return err
	}
	if n == nil {
		return p.missing(at)
	}
	if op.OneFile || n.Kind == Symlink {
		if _, err := p.text(at, n); err != nil {
			return err
		}
	}
	most := maxFound
	if op.Most > 0 {
		most = op.Most
	}
	data := []FoundLine{}
	total := 0
	search := func(q batch.Path, n *Node) *diag.Error {
		if n.Kind != Regular || n.Size > p.o.MaxFileSize || !included(op.Include, at, q) {
			return nil
		}
		content, err := p.tree.content(q, n)
		if err != nil || isBinary(content) {
			return nil // what cannot be read has no lines
		}
		number := 0
		for line := range strings.Lines(string(content)) {
			number++
			if line = strings.TrimRight(line, "\r\n"); match(line) {
				if total++; len(data) < most {
					data = append(data, FoundLine{File: p.below(where, at, q), Line: number, Text: line})
				}
			}
		}
		return nil
	}
	if err := p.walkShown(at, search); err != nil {
		return err
	}
	sort.SliceStable(data, func(i, j int) bool { return data[i].File < data[j].File })
	r.Data = data
	if more := total - len(data); more > 0 {
		r.Hint = fmt.Sprintf("%d more lines match", more)
	}
	r.fact("n", plural(total, "lines"))
	r.Did = append(r.Did, Effect{Verb: "found", Path: at, Bytes: total})
	return nil
}

func matcher(op batch.Grep) (func(string) bool, *diag.Error) {
	if op.Literal {
		return func(line string) bool { return strings.Contains(line, op.Pattern) }, nil
	}
	pattern := op.Pattern
	if op.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, diag.Wrap(err, diag.InvalidArgument, "the pattern is no regular expression: %v", err).
			WithHint("the syntax is that of RE2: no look-around and no back references")
	}
	return re.MatchString, nil
}

// included reports whether a path below a directory fits a glob: on its name, or on all of it if the glob has a slash.
func included(glob string, dir, q batch.Path) bool {
	if glob == "" {
		return true
	}
	name := path.Base(string(q))
	if strings.Contains(glob, "/") {
		name = relative(dir, q)
	}
	return matchGlobs(glob, name)
}

// relative gives the part of q below dir.
func relative(dir, q batch.Path) string {
	if dir == "." {
		return string(q)
	}
	return strings.TrimPrefix(strings.TrimPrefix(string(q), string(dir)), "/")
}

// below gives q in terms of the directory as the reply wrote it.
func (p *planner) below(written string, at, q batch.Path) string {
	rest := relative(at, q)
	switch {
	case rest == "":
		return written
	case path.Clean(written) == ".":
		return rest
	}
	return strings.TrimSuffix(written, "/") + "/" + rest
}

// walkShown visits the files below at that a person would see: not our own, and not what git ignores, unless at itself
// is ignored.
func (p *planner) walkShown(at batch.Path, visit func(batch.Path, *Node) *diag.Error) *diag.Error {
	all := p.o.Ignored == nil || at != "." && p.o.Ignored(at)
	return p.tree.walkIf(at, func(q batch.Path) bool {
		return q != ".clada" && (all || q == "." || !p.o.Ignored(q))
	}, visit)
}

// glob gives the files below a directory whose path there matches a pattern.
func (p *planner) glob(r *Result, op batch.Glob) *diag.Error {
	for _, pattern := range braces(op.Pattern) {
		for part := range strings.SplitSeq(pattern, "/") {
			if _, err := path.Match(part, ""); err != nil {
				return diag.Wrap(err, diag.InvalidArgument, "the pattern %q is malformed", op.Pattern).
					WithHint("* ? [...] {a,b} and ** have a meaning")
			}
		}
	}
	base := op.Base
	if base == "" {
		base = "."
	}
	at, err := p.directory(base)
	if at != "" {
		r.Path = string(at)
	}
	if err != nil {
		return err
	}
	data := []string{}
	err = p.walkShown(at, func(q batch.Path, n *Node) *diag.Error {
		if n.Kind == Dir || n.Kind == Submodule || !matchGlobs(op.Pattern, relative(at, q)) {
			return nil
		}
		data = append(data, p.below(base, at, q))
		return nil
	})
	if err != nil {
		return err
	}
	sort.Strings(data)
	if len(data) > maxFound {
		r.Hint = fmt.Sprintf("%d paths match, only the first %d are shown", len(data), maxFound)
		data = data[:maxFound]
	}
	r.Data = data
	r.fact("n", plural(len(data), "files"))
	r.Did = append(r.Did, Effect{Verb: "found", Path: at, Bytes: len(data)})
	return nil
}

// matchGlobs matches a path with a pattern that may have {a,b} in it.
func matchGlobs(pattern, name string) bool {
	parts := strings.Split(name, "/")
	for _, one := range braces(pattern) {
		if globMatch(strings.Split(one, "/"), parts) {
			return true
		}
	}
	return false
}

// maxBraces bounds how many patterns one with braces stands for.
const maxBraces = 1000

// braces gives the patterns that one with {a,b} in it stands for.
func braces(pattern string) []string {
	done, todo := []string(nil), []string{pattern}
	for len(todo) > 0 && len(done)+len(todo) <= maxBraces {
		one := todo[0]
		todo = todo[1:]
		lo := strings.IndexByte(one, '{')
		hi := strings.IndexByte(one[max(lo, 0):], '}') + max(lo, 0)
		if lo < 0 || hi <= lo {
			done = append(done, one)
			continue
		}
		for choice := range strings.SplitSeq(one[lo+1:hi], ",") {
			todo = append(todo, one[:lo]+choice+one[hi+1:])
		}
	}
	return append(done, todo...)
}

// MatchGlob reports whether a path matches a pattern in which ** crosses directories. A pattern without a slash matches
// the last component, or any directory above it.
func MatchGlob(pattern, p string) bool {
	parts := strings.Split(p, "/")
	if !strings.Contains(strings.TrimSuffix(pattern, "/"), "/") {
		if pattern == "**" {
			return true
		}
		for _, part := range parts {
			if ok, _ := path.Match(strings.TrimSuffix(pattern, "/"), part); ok {
				return true
			}
		}
		return false
	}
	pat := strings.Split(strings.Trim(pattern, "/"), "/")
	for n := 1; n <= len(parts); n++ {
		if globMatch(pat, parts[:n]) {
			return true
		}
	}
	return false
}

// globMatch matches path components; ** stands for any number of them.
func globMatch(pattern, parts []string) bool {
	// reach[j] says that the pattern so far matches the first j parts
	reach := make([]bool, len(parts)+1)
	reach[0] = true
	for _, pat := range pattern {
		next := make([]bool, len(parts)+1)
		for j := range reach {
			if pat == "**" {
				next[j] = reach[j] || (j > 0 && next[j-1])
				continue
			}
			if j > 0 && reach[j-1] {
				next[j], _ = path.Match(pat, parts[j-1])
			}
		}
		reach = next
	}
	return reach[len(parts)]
}
