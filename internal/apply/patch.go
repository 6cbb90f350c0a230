package apply

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// PatchData is what an edit at several places of whole lines gives back.
type PatchData struct {
	Edits     []HunkPlace `json:"edits,omitempty"`
	Preimage  string      `json:"preimage,omitempty"` // verified, differs or unknown: is the file what the patch was made for
	Mode      string      `json:"mode,omitempty"`     // the file's mode, where it is not what the patch believes
	Overwrote bool        `json:"overwrote,omitempty"`
}

// HunkPlace says where one hunk was found.
type HunkPlace struct {
	Tier    string `json:"tier"`
	Line    int    `json:"line"`
	By      string `json:"by"` // line: where the reply says; context: where its lines stand
	Offset  int    `json:"offset,omitempty"`
	Dropped int    `json:"dropped,omitempty"` // blank lines at its end that did not belong to it
}

// placed is a hunk with its place.
type placed struct {
	linePlace
	hunk    *batch.Hunk
	lines   []batch.HunkLine // those that count
	by      string
	dropped int
	insert  bool // it has no old line: it goes in before line at
}

// patch changes a file at the places of its hunks, all found in the file as it is, and may move, copy or remove it.
func (p *planner) patch(r *Result, op batch.Patch) *diag.Error {
	path, was, err := p.target(r, op.Path, "")
	if err != nil {
		return err
	}
	if was == nil && op.MayCreate {
		return p.write(r, batch.Write{Path: op.Path, Content: addedLines(op.Hunks), Mode: batch.Create, Exec: op.Exec})
	}
	if was == nil {
		return p.missingForPatch(path, op)
	}
	var data PatchData
	if len(op.Hunks) > 0 || op.Delete {
		if err := p.patchContent(r, path, was, op, &data); err != nil {
			return err
		}
	}
	if op.WasExec != nil && was.Kind == Regular && (was.Perm&0o100 != 0) != *op.WasExec {
		data.Mode = map[bool]string{true: "100755", false: "100644"}[was.Perm&0o100 != 0]
	}
	turned, err := p.chmod(path, op.Exec)
	if err != nil {
		return err
	}
	if turned {
		if err := p.mayWrite(path, false); err != nil {
			return err
		}
		if len(r.Did) == 0 {
			r.Did = append(r.Did, Effect{Verb: "mode", Path: path})
		}
	}
	if op.To != "" {
		if err := p.relocate(r, op, &data); err != nil {
			return err
		}
	}
	if data.Edits != nil || data.Preimage != "" || data.Mode != "" || data.Overwrote {
		r.Data = data
	}
	return nil
}

// missingForPatch says what could be meant by a path that does not exist.
func (p *planner) missingForPatch(path batch.Path, op batch.Patch) *diag.Error {
	err := p.missing(path)
	if rest, ok := strings.CutPrefix(string(path), "a/"); ok {
		if n, lookErr := p.tree.lstat(batch.Path(rest)); lookErr == nil && n != nil {
			return err.WithHint("%s exists: write `--- a/%s` and `+++ b/%s`", rest, rest, rest)
		}
	}
	if op.InOrder && err.Hint == "" {
		err.WithHint("`*** Add File: %s` creates it", path)
	}
	return err
}

// relocate moves or copies the patched file to its new place.
func (p *planner) relocate(r *Result, op batch.Patch, data *PatchData) *diag.Error {
	_, was, err := p.look(op.To, "")
	if err != nil {
		return err
	}
	data.Overwrote = was != nil
	if was != nil {
		r.fact("overwrote", true)
	}
	edits := r.Did
	r.Did = nil
	if op.Copy {
		err = p.copyAfterEdit(r, op)
	} else {
		err = p.move(r, op.Path, op.To, "", op.Overwrite)
	}
	if err != nil {
		return err
	}
	r.Did[len(r.Did)-1].Over = was != nil
	r.Did = append(edits, r.Did...)
	return nil
}

// copyAfterEdit puts the edited content at the new place and what it was made from back at the old one.
func (p *planner) copyAfterEdit(r *Result, op batch.Patch) *diag.Error {
	if err := p.copy(r, op.Path, op.To, "", batch.Copy{Overwrite: op.Overwrite}); err != nil {
		return err
	}
	from, _, err := p.look(op.Path, "")
	if err != nil {
		return err
	}
	was, err := p.beforeTask(from)
	if err != nil {
		return err
	}
	return p.tree.set(from, was)
}

// beforeTask gives what was at a path when the task began.
func (p *planner) beforeTask(at batch.Path) (*Node, *diag.Error) {
	for _, u := range p.tree.undo {
		if u.path == at {
			if u.had {
				return u.prev, nil
			}
			return p.tree.original(at)
		}
	}
	return p.tree.lstat(at)
}

// patchContent makes the hunks of a patch.
func (p *planner) patchContent(r *Result, path batch.Path, was *Node, op batch.Patch, data *PatchData) *diag.Error {
	content, err := p.readable(path, was)
	if err != nil {
		return err
	}
	data.Preimage = p.preimage(content, op.Blobs[0])
	f := newLineFile(content)
	f.strict = op.Exact
	all, err := f.place(op)
	if err != nil {
		p.explainMiss(r, err, f, content, op, data)
		return err
	}
	if op.Delete {
		return p.patchDelete(r, path, f, all)
	}
	changes, err := f.changes(all)
	if err != nil {
		return err
	}
	if _, err := p.store(path, was, []byte(f.rewrite(changes))); err != nil {
		return err
	}
	m := &Match{Tier: tierExact, Count: len(all)}
	for _, h := range all {
		at := HunkPlace{Tier: h.tier, Line: h.at + 1, By: h.by, Dropped: h.dropped}
		if h.by == "context" && h.hunk.Line > 0 {
			at.Offset = h.at + 1 - h.hunk.Line
			if len(all) == 1 {
				m.Moved = at.Offset
			}
		}
		data.Edits = append(data.Edits, at)
		m.Tier = looser(m.Tier, h.tier)
		m.Lines = append(m.Lines, h.at+1)
		if h.dropped > 0 {
			m.Notes = append(m.Notes, "trailing blank line ignored")
		}
	}
	if data.Preimage == "differs" {
		m.Notes = append(m.Notes, "pre-image differs from blob "+op.Blobs[0])
	}
	p.edited(r, path, m)
	return nil
}

// preimage compares a file with the blob that a patch was made for. Models invent ids, so an unknown one says nothing.
func (p *planner) preimage(content []byte, blob string) string {
	switch {
	case blob == "":
		return ""
	case isBlob(content, blob):
		return "verified"
	case p.o.Blob != nil && p.o.Blob(blob):
		return "differs"
	}
	return "unknown"
}

// isBlob reports whether git would give content an id that starts with prefix.
func isBlob(content []byte, prefix string) bool {
	sum := sha1.New()
	fmt.Fprintf(sum, "blob %d\x00", len(content))
	sum.Write(content)
	return len(prefix) >= 4 && strings.HasPrefix(hex.EncodeToString(sum.Sum(nil)), prefix)
}

func (p *planner) explainMiss(r *Result, err *diag.Error, f *lineFile, content []byte, op batch.Patch, data *PatchData) {
	if lines := f.inPlace(op); lines != nil {
		r.AlreadyApplied = true
		err.Hint = "the new text is already there, at " + Lines(lines)
	}
	if data.Preimage == "differs" {
		err.Hint += "\npre-image differs from blob " + op.Blobs[0]
	}
	if op.Blobs[1] != "" && isBlob(content, op.Blobs[1]) {
		r.AlreadyApplied = true
		err.Hint = "the file already is what the patch makes of it (blob " + op.Blobs[1] + ")"
	}
}

// inPlace gives where the results of all hunks stand, or nil if they do not all. What adds little proves nothing.
func (f *lineFile) inPlace(op batch.Patch) []int {
	const telling = 10
	reverse := op
	reverse.Hunks = nil
	added := 0
	for _, h := range op.Hunks {
		back := h
		back.Lines, back.Counted, back.Loose = nil, false, 0
		for _, line := range h.Lines {
			switch line.Kind {
			case '+':
				added += len(strings.TrimSpace(line.Text))
				line.Kind = '-'
			case '-':
				line.Kind = '+'
			}
			back.Lines = append(back.Lines, line)
		}
		reverse.Hunks = append(reverse.Hunks, back)
	}
	if added < telling || op.Delete {
		return nil
	}
	all, err := f.place(reverse)
	if err != nil {
		return nil
	}
	lines := make([]int, len(all))
	for i, h := range all {
		if h.insert {
			return nil
		}
		lines[i] = h.at + 1
	}
	return lines
}
