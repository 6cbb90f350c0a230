package apply

import (
	"path"
	"regexp"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// maxFound bounds how many lines or paths a search gives back.
const maxFound = 1000

// ReadData is what a read gives back.
type ReadData struct {
	Content string `json:"content"`
	Lines   int    `json:"lines"`
	First   int    `json:"first,omitempty"`
}

// Entries is what list and glob give back.
type Entries struct {
	Paths     []string `json:"paths"`
	Truncated bool     `json:"truncated,omitempty"`
}

// FoundLine is one line that grep found.
type FoundLine struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// FoundLines is what grep gives back.
type FoundLines struct {
	Matches   []FoundLine `json:"matches"`
	Truncated bool        `json:"truncated,omitempty"`
}

func (p *planner) read(r *Result, op batch.Read) *diag.Error {
	at, n, err := p.target(r, op.Path, "")
	if err != nil {
		return err
	}
	content, err := p.readable(at, n)
	if err != nil {
		return err
	}
	lines := strings.SplitAfter(string(content), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	data := ReadData{Content: string(content), Lines: len(lines)}
	if op.First != 0 || op.Last != 0 {
		first, last := max(op.First, 1), op.Last
		if last == 0 || last > len(lines) {
			last = len(lines)
		}
		if first > last {
			return diag.New(diag.InvalidArgument, "lines %d to %d are not in %s, which has %d", op.First, op.Last, at, len(lines))
		}
		data.Content, data.First = strings.Join(lines[first-1:last], ""), first
	}
	r.Data = data
	r.Did = append(r.Did, Effect{Verb: "read", Path: at, Bytes: len(data.Content)})
	return nil
}

func (p *planner) listDir(r *Result, op batch.List) *diag.Error {
	at, n, err := p.target(r, op.Path, "")
	if err != nil {
		return err
	}
	if n == nil {
		return p.missing(at)
	}
	if n.Kind != Dir {
		return diag.New(diag.NotDirectory, "%s is not a directory", at).In(string(at))
	}
	names, err := p.tree.list(at)
	if err != nil {
		return err
	}
	for i, name := range names {
		if n, err := p.tree.lstat(join(at, name)); err == nil && n != nil && n.Kind == Dir {
			names[i] += "/"
		}
	}
	r.Data = Entries{Paths: names}
	r.Did = append(r.Did, Effect{Verb: "listed", Path: at})
	return nil
}

func (p *planner) grep(r *Result, op batch.Grep) *diag.Error {
	re, compileErr := regexp.Compile(op.Pattern)
	if compileErr != nil {
		return diag.Wrap(compileErr, diag.InvalidArgument, "the pattern is no regular expression: %v", compileErr)
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
	var data FoundLines
	err = p.tree.walk(at, func(q batch.Path, n *Node) *diag.Error {
		if n.Kind != Regular || n.Size > p.o.MaxFileSize || len(data.Matches) >= maxFound {
			data.Truncated = data.Truncated || len(data.Matches) >= maxFound
			return nil
		}
		content, err := p.tree.content(q, n)
		if err != nil || isBinary(content) {
			return nil // what cannot be read has no lines
		}
		number := 0
		for line := range strings.Lines(string(content)) {
			number++
			if line = strings.TrimRight(line, "\r\n"); re.MatchString(line) && len(data.Matches) < maxFound {
				data.Matches = append(data.Matches, FoundLine{Path: string(q), Line: number, Text: clipLine(line)})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.Data = data
	r.Did = append(r.Did, Effect{Verb: "found", Path: at, Bytes: len(data.Matches)})
	return nil
}

func (p *planner) glob(r *Result, op batch.Glob) *diag.Error {
	pattern := strings.Split(path.Clean(op.Pattern), "/")
	for _, part := range pattern {
		if _, err := path.Match(part, ""); err != nil {
			return diag.Wrap(err, diag.InvalidArgument, "the pattern %q is malformed", op.Pattern)
		}
	}
	r.Path = op.Pattern
	var data Entries
	err := p.tree.walk(".", func(q batch.Path, n *Node) *diag.Error {
		if n.Kind == Dir || !globMatch(pattern, strings.Split(string(q), "/")) {
			return nil
		}
		if len(data.Paths) >= maxFound {
			data.Truncated = true
			return nil
		}
		data.Paths = append(data.Paths, string(q))
		return nil
	})
	if err != nil {
		return err
	}
	r.Data = data
	r.Did = append(r.Did, Effect{Verb: "found", Path: batch.Path(op.Pattern), Bytes: len(data.Paths)})
	return nil
}

// MatchGlob reports whether a path matches a pattern in which ** crosses directories. A pattern without a slash matches
// the last component, or any directory above it.
func MatchGlob(pattern, p string) bool {
	parts := strings.Split(p, "/")
	if !strings.Contains(strings.TrimSuffix(pattern, "/"), "/") {
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
