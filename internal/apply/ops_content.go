package apply

import (
	"fmt"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// store puts content at path, making parents. It reports whether anything changed.
func (p *planner) store(path batch.Path, was *Node, content []byte) (changed bool, err *diag.Error) {
	if err := p.mayWrite(path, was == nil); err != nil {
		return false, err
	}
	if int64(len(content)) > p.o.MaxFileSize {
		return false, tooLarge(path, int64(len(content)), p.o.MaxFileSize)
	}
	n := &Node{Kind: Regular, Perm: 0o666 &^ p.o.Umask, Data: content, Size: int64(len(content))}
	if was != nil {
		n.Perm = was.Perm
		if was.Size == n.Size {
			old, err := p.tree.content(path, was)
			if err != nil {
				return false, err
			}
			if string(old) == string(content) {
				return false, nil
			}
		}
	} else {
		made, err := p.tree.makeParents(path)
		if err != nil {
			return false, err
		}
		p.made = made
	}
	return true, p.tree.set(path, n)
}

func (p *planner) write(r *Result, op batch.Write) *diag.Error {
	path, was, err := p.target(r, op.Path, "")
	if err != nil {
		return err
	}
	if strings.HasSuffix(op.Path, "/") {
		return diag.New(diag.IsDirectory, "%s names a directory", op.Path).In(string(path))
	}
	if err := writable(op, path, was); err != nil {
		r.AlreadyApplied = p.holds(path, was, op.Content)
		return err
	}
	if op.Limit > 0 && int64(len(op.Content)) > op.Limit {
		return tooLarge(path, int64(len(op.Content)), op.Limit)
	}
	p.made = nil
	changed, err := p.store(path, was, []byte(op.Content))
	if err != nil {
		return err
	}
	r.fact("bytes", len(op.Content))
	if was != nil {
		r.fact("overwrote", true)
	}
	if len(p.made) > 0 {
		r.fact("made", p.made)
	}
	turned, err := p.chmod(path, op.Exec)
	if err != nil || !changed && !turned {
		return err
	}
	verb := "created"
	if was != nil {
		verb = "overwrote"
		p.warnEOL(r, path, was, op.Content)
	}
	r.Did = append(r.Did, Effect{Verb: verb, Path: path, Bytes: len(op.Content)})
	return nil
}

// holds reports whether a file has just this content.
func (p *planner) holds(path batch.Path, n *Node, content string) bool {
	if n == nil || n.Kind != Regular || n.Size != int64(len(content)) {
		return false
	}
	have, err := p.tree.content(path, n)
	return err == nil && string(have) == content
}

// writable compares what is in the way of a Write with its mode.
func writable(op batch.Write, path batch.Path, was *Node) *diag.Error {
	if was == nil {
		if op.Mode == batch.Overwrite {
			return notFound(path)
		}
		return nil
	}
	if op.Mode == batch.Create {
		return diag.New(diag.FileExists, "%s exists already", path).In(string(path))
	}
	if err := regular(path, was); err != nil {
		return err
	}
	if op.Mode == batch.Fill && was.Size > 0 {
		return diag.New(diag.FileExists, "%s exists and is not empty", path).In(string(path)).
			WithHint("put the lines to replace into SEARCH")
	}
	return nil
}

// chmod makes a file executable, or not, for all who may read it.
func (p *planner) chmod(path batch.Path, exec *bool) (changed bool, err *diag.Error) {
	if exec == nil {
		return false, nil
	}
	n, err := p.tree.lstat(path)
	if err != nil || n == nil || (n.Perm&0o100 != 0) == *exec {
		return false, err
	}
	turned := *n
	turned.Perm &^= 0o111
	if *exec {
		turned.Perm |= n.Perm & 0o444 >> 2
	}
	return true, p.tree.set(path, &turned)
}

// warnEOL says when a whole-file write changes the line endings of a file.
func (p *planner) warnEOL(r *Result, path batch.Path, was *Node, content string) {
	if was.Size > p.o.MaxFileSize || len(content) == 0 {
		return
	}
	old, err := p.tree.content(path, was)
	if err != nil || firstEnding(string(old)) == "" || isBinary(old) {
		return
	}
	if before, after := ending(string(old)), ending(content); before != after {
		name := map[string]string{"\n": "LF", "\r\n": "CRLF"}
		p.warnings = append(p.warnings, diag.Warning{
			Dialect: r.Task.Dialect, Code: "EOL_CHANGED", Pos: r.Task.Span.Pos(),
			Message: fmt.Sprintf("%s had %s line ends and now has %s", path, name[before], name[after]),
		})
	}
}

func (p *planner) append(r *Result, op batch.Append) *diag.Error {
	path, was, err := p.target(r, op.Path, "")
	if err != nil {
		return err
	}
	r.fact("bytes", len(op.Content))
	if was == nil && op.MustExist {
		return p.missing(path)
	}
	if was == nil {
		if _, err := p.store(path, nil, []byte(op.Content)); err != nil {
			return err
		}
		r.Did = append(r.Did, Effect{Verb: "appended", Path: path, Bytes: len(op.Content)})
		return nil
	}
	old, err := p.readable(path, was)
	if err != nil {
		return err
	}
	if len(op.Content) == 0 {
		return p.mayWrite(path, false)
	}
	eol := ending(string(old))
	added := withEnding(op.Content, eol)
	if op.FreshLine && len(old) > 0 && old[len(old)-1] != '\n' {
		added = eol + added
	}
	if _, err := p.store(path, was, append(old[:len(old):len(old)], added...)); err != nil {
		return err
	}
	r.Did = append(r.Did, Effect{Verb: "appended", Path: path, Bytes: len(added)})
	return nil
}
