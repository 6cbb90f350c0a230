package parse

import (
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// fileHead is what stands above the hunks of a section.
type fileHead struct {
	git                      bool
	gitLine                  string
	oldName, newName         string // of --- and +++
	hasNames                 bool
	from, to                 string // of rename and copy
	copies                   bool
	newMode, oldMode         string
	created, deleted, binary bool
	blobs                    [2]string
	binaryName               string
}

// section reads a file header with its hunks from line at on and gives the line behind it.
func (d *diffText) section(at int) int {
	start := at
	var h fileHead
	if line := d.bare(at); strings.HasPrefix(line, "diff --") {
		if !strings.HasPrefix(line, "diff --git ") {
			d.problem(at, diag.MalformedStructure, "a combined diff in line %d", "give an ordinary diff against one version", at+1)
		}
		h.git, h.gitLine = true, strings.TrimPrefix(line, "diff --git ")
		at = d.extended(at+1, &h)
	}
	if !h.binary && d.opensNames(at) {
		h.hasNames = true
		h.oldName, h.newName = nameOf(d.bare(at)[4:]), nameOf(d.bare(at + 1)[4:])
		at += 2
	}
	var hunks []batch.Hunk
	for at < d.hi && isHunkHeader(d.bare(at)) {
		if strings.HasPrefix(d.bare(at), "@@@") {
			d.problem(at, diag.MalformedStructure, "a combined diff in line %d", "give an ordinary diff against one version", at+1)
		}
		if !h.hasNames {
			d.problem(at, diag.MalformedStructure, "hunk without file header, line %d", "put `--- a/PATH` and `+++ b/PATH` above it", at+1)
		}
		var hunk batch.Hunk
		hunk, at = d.hunk(at)
		hunks = append(hunks, hunk)
	}
	d.finishSection(start, at, &h, hunks)
	return at
}

// extended reads the lines between "diff --git" and the names.
func (d *diffText) extended(at int, h *fileHead) int {
	for ; at < d.hi; at++ {
		line := d.bare(at)
		word := func(prefix string) (string, bool) { return strings.CutPrefix(line, prefix) }
		switch {
		case strings.HasPrefix(line, "similarity index "), strings.HasPrefix(line, "dissimilarity index "):
		default:
			if rest, ok := word("old mode "); ok {
				h.oldMode = rest
			} else if rest, ok := word("new mode "); ok {
				h.newMode = rest
			} else if rest, ok := word("new file mode "); ok {
				h.newMode, h.created = rest, true
			} else if rest, ok := word("deleted file mode "); ok {
				h.oldMode, h.deleted = rest, true
			} else if rest, ok := word("rename from "); ok {
				h.from = unquoteName(rest)
			} else if rest, ok := word("rename to "); ok {
				h.to = unquoteName(rest)
			} else if rest, ok := word("copy from "); ok {
				h.from, h.copies = unquoteName(rest), true
			} else if rest, ok := word("copy to "); ok {
				h.to, h.copies = unquoteName(rest), true
			} else if rest, ok := word("index "); ok {
				ids, _, _ := strings.Cut(rest, " ")
				old, new, _ := strings.Cut(ids, "..")
				h.blobs = [2]string{old, new}
			} else if strings.HasPrefix(line, "GIT binary patch") {
				h.binary = true
				return d.binaryEnd(at + 1)
			} else if strings.HasPrefix(line, "Binary files ") && strings.HasSuffix(line, " differ") {
				h.binary = true
				return at + 1
			} else {
				return at
			}
		}
	}
	return at
}

// binaryEnd passes over the data of a binary patch: two parts, each up to a blank line.
func (d *diffText) binaryEnd(at int) int {
	for at < d.hi && !d.opensSection(at, d.hi) {
		line := d.bare(at)
		if strings.TrimSpace(line) == "" && (at+1 >= d.hi || !strings.HasPrefix(d.bare(at+1), "literal ") && !strings.HasPrefix(d.bare(at+1), "delta ")) {
			return at
		}
		at++
	}
	return at
}

// finishSection makes the task of a section.
func (d *diffText) finishSection(start, end int, h *fileHead, hunks []batch.Hunk) {
	names, code, message, hint := h.names()
	if code != "" {
		d.problem(start, code, "%s", hint, message)
		return
	}
	if !h.git && len(hunks) == 0 {
		d.problem(start, diag.MalformedStructure, "no hunk for %s", "give the changed lines behind an @@ line", names.path)
		return
	}
	t := batch.Task{Group: d.group, Dialect: "patch", Span: d.span(start, max(start, end-1)), Words: patchWords}
	t.Action, t.Op = h.op(names, hunks, d.peerTier(batch.Whitespace))
	t.Params = append(t.Params, param("path", names.path))
	if names.to != "" {
		t.Params = append(t.Params, param("to", names.to))
	}
	if w, ok := t.Op.(batch.Write); ok {
		t.Params = append(t.Params, param("content", string(w.Content)))
	} else if len(hunks) > 0 {
		t.Params = append(t.Params, param("edits", hunkParams(hunks)))
	}
	if h.newMode != "" {
		t.Params = append(t.Params, param("mode", h.newMode))
	}
	d.addTask(t)
}

var patchWords = &batch.Words{
	Hints: map[string]string{
		"file_exists": "`--- /dev/null` is for new files; to change this one write `--- a/{path}`",
	},
}

// op gives the operation of a section.
func (h *fileHead) op(n sectionNames, hunks []batch.Hunk, tier batch.MatchTier) (action string, op batch.Op) {
	refuse := func(code diag.Code, why, hint string) batch.Op {
		as := map[string]string{"patch_create": "write", "patch_delete": "remove"}[action]
		if as == "" {
			as = "edit"
		}
		return batch.NotDone{As: as, Text: why, Why: why, Hint: hint, Fails: true, Code: code}
	}
	switch {
	case n.creates:
		action = "patch_create"
	case n.deletes:
		action = "patch_delete"
	case h.copies:
		action = "patch_copy"
	case n.to != "":
		action = "patch_rename"
	default:
		action = "patch_edit"
	}
	for _, mode := range []string{h.newMode, h.oldMode} {
		switch mode {
		case "", "100644", "100755":
		case "120000":
			return action, refuse(diag.SymlinkNotAllowed, n.path+" is a symbolic link", "links are not made by patches; make it by hand")
		default:
			return action, refuse(diag.InvalidArgument, "mode "+mode+" of "+n.path, "modes are 100644 and 100755")
		}
	}
	if h.binary {
		return action, refuse(diag.BinaryFile, "GIT binary patch for "+n.path, "binary patches are not supported; add the file by hand")
	}
	if action == "patch_create" {
		w := batch.Write{Path: n.path, Content: newContent(hunks), Mode: batch.Create}
		if h.newMode != "" {
			exec := h.newMode == "100755"
			w.Exec = &exec
		}
		return action, w
	}
	p := batch.Patch{
		Path: n.path, To: n.to, Copy: h.copies, Delete: n.deletes, Hunks: hunks, Match: tier, Blobs: h.blobs,
		Exact: endsInCR(hunks), MayCreate: n.to == "" && !n.deletes && onlyAdds(hunks),
	}
	if h.newMode != "" {
		exec := h.newMode == "100755"
		p.Exec = &exec
	}
	if h.oldMode != "" {
		was := h.oldMode == "100755"
		p.WasExec = &was
	}
	return action, p
}
