package apply

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// maxFound bounds how many lines or paths a search gives back.
const maxFound = 10_000

// ReadData is what a read gives back.
type ReadData struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// ReadManyData is what reading several files gives back: what could be read, in order, and what could not.
type ReadManyData struct {
	Paths   []string    `json:"paths"`
	Content []string    `json:"content"`
	Errors  []PathError `json:"errors,omitempty"`
}

// PathError is what is wrong with one of several paths.
type PathError struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// Entry of a listing: Type is file or directory, Size is in bytes, Modified is RFC 3339 in UTC.
type Listed struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Size     int64  `json:"size"`
	Modified string `json:"modified"`
}

// text gives the content of a file as text: UTF-8, without NUL among its first bytes.
func (p *planner) text(at batch.Path, n *Node) (string, *diag.Error) {
	content, err := p.readable(at, n)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(content) {
		return "", diag.New(diag.InvalidUTF8, "%s is not UTF-8", at).In(string(at)).
			WithHint("it can be moved, copied, removed and edited, not shown")
	}
	return string(content), nil
}

func (o *Options) maxOutput() int64 {
	if o.MaxOutput == 0 {
		return DefaultMaxOutput
	}
	return o.MaxOutput
}

func (p *planner) read(r *Result, op batch.Read) *diag.Error {
	at, n, err := p.target(r, op.Path, "")
	if err != nil {
		return err
	}
	content, err := p.text(at, n)
	if err != nil {
		return err
	}
	lines := strings.SplitAfter(content, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	r.fact("all", len(lines))
	shown := content
	r.fact("shown", plural(len(lines), "lines"))
	if op.Ranges != nil {
		var kept []string
		var first, last int
		if kept, first, last, err = pick(lines, op, at); err != nil {
			return err
		}
		shown = strings.Join(kept, "")
		r.fact("shown", fmt.Sprintf("lines %d-%d of %d", first, last, len(lines)))
	}
	if most := p.o.maxOutput(); int64(len(shown)) > most {
		shown = strings.ToValidUTF8(shown[:most], "")
		r.Hint = fmt.Sprintf("[output truncated] after %d bytes; --max-output says how many are shown", most)
	}
	r.Data = ReadData{Path: op.Path, Content: shown}
	r.Did = append(r.Did, Effect{Verb: "read", Path: at, Bytes: len(shown)})
	return nil
}

// pick gives the union of the ranges of a read, in the order of the file, and the first and last line of it.
func pick(lines []string, op batch.Read, at batch.Path) (kept []string, first, last int, err *diag.Error) {
	take := make([]bool, len(lines))
	for _, rg := range op.Ranges {
		hi := rg.Last
		if hi == 0 || hi > len(lines) {
			hi = len(lines)
		}
		if !op.Window && (rg.First < 1 || rg.First > len(lines) || rg.Last != 0 && rg.Last < rg.First) {
			return nil, 0, 0, diag.New(diag.InvalidArgument, "line %d is not in %s, which has %s", rg.First, at, plural(len(lines), "lines")).
				WithHint("write N, N-M, N- or -M, counted from 1, with commas between several")
		}
		for i := rg.First; i <= hi; i++ {
			take[i-1] = true
		}
	}
	for i, yes := range take {
		if yes {
			kept = append(kept, lines[i])
			last = i + 1
			if first == 0 {
				first = i + 1
			}
		}
	}
	return kept, first, last, nil
}

// readFiles reads several files. It fails only if none can be read.
func (p *planner) readFiles(r *Result, op batch.ReadFiles) *diag.Error {
	if len(op.Paths) == 0 {
		return noPaths()
	}
	data := ReadManyData{Paths: []string{}, Content: []string{}}
	var list strings.Builder
	var first *diag.Error
	for _, written := range op.Paths {
		at, n, err := p.look(written, "")
		var content string
		if err == nil {
			content, err = p.text(at, n)
		}
		if err != nil {
			text := r.about(err, written)
			data.Errors = append(data.Errors, PathError{written, text})
			list.WriteString("\n  " + written + ": " + text)
			if first == nil {
				first = err
			}
			continue
		}
		data.Paths, data.Content = append(data.Paths, written), append(data.Content, content)
		r.Did = append(r.Did, Effect{Verb: "read", Path: at, Bytes: len(content)})
	}
	if len(data.Paths) == 0 && first != nil {
		return diag.New(first.Code, "none of %d files can be read:%s", len(op.Paths), list.String()).WithHint("check the paths").
			With("several files", "n", len(op.Paths), "list", list.String())
	}
	r.Data = data
	return nil
}

func (p *planner) listDir(r *Result, op batch.List) *diag.Error {
	at, err := p.directory(op.Path)
	if at != "" {
		r.Path = string(at)
	}
	if err != nil {
		return err
	}
	names, err := p.tree.list(at)
	if err != nil {
		return err
	}
	data := []Listed{}
	for _, name := range names {
		n, err := p.tree.lstat(join(at, name))
		if err != nil || n == nil || at == "." && name == ".clada" {
			continue
		}
		if len(data) == maxFound {
			r.Hint = fmt.Sprintf("only the first %d entries are shown", maxFound)
			break
		}
		data = append(data, p.listed(name, n))
	}
	r.Data = data
	r.fact("n", len(data))
	r.Did = append(r.Did, Effect{Verb: "listed", Path: at})
	return nil
}

// timeOf gives when a file was last changed; what this batch changed is changed now.
func (p *planner) timeOf(n *Node) time.Time {
	if n.Time.IsZero() {
		return p.o.Now
	}
	return n.Time
}

func (p *planner) listed(name string, n *Node) Listed {
	e := Listed{Name: name, Type: "file", Size: n.Size, Modified: p.timeOf(n).UTC().Format(time.RFC3339)}
	if n.Kind == Dir || n.Kind == Submodule {
		e.Type, e.Size = "directory", 0
	}
	return e
}
