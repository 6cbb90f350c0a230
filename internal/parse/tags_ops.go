package parse

import (
	"maps"
	"strconv"
	"strings"
	"sync"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// tagOp is one operation of the dialect.
type tagOp struct {
	name     string
	word     tagWord
	children []tagChild
	words    func() *batch.Words // made when first asked for
	build    func(t *batch.Task, v *tagValues) *diag.Error
}

// tagChild is one part of an operation.
type tagChild struct {
	name     string
	word     tagWord
	aliases  []tagWord
	text     bool // its body is raw text that may hold tags; else it is a single value
	match    bool // a text that is looked for or put in its place: the newline at its end goes
	optional bool
	mayEmpty bool // an empty body is legal
}

// child makes a part. Names behind the first are other names for it.
func child(names ...string) tagChild {
	c := tagChild{name: names[0], word: word2tag(names[0])}
	for _, name := range names[1:] {
		c.aliases = append(c.aliases, word2tag(name))
	}
	switch c.name {
	case "content":
		c.text = true
	case "find", "replace", "pattern":
		c.text, c.match = true, true
	}
	return c
}

func optionalChild(name string) tagChild {
	c := child(name)
	c.optional = true
	return c
}

// createLimit is how many bytes a file that this dialect creates may have.
const createLimit = 5_000_000

var (
	tagOps    = map[string]*tagOp{}
	opsByWord = map[tagWord]*tagOp{}
	tagNames  []string // in the order of the table
)

func init() {
	file := child("file", "path")
	find := child("find", "search", "old", "old_str")
	replace := child("replace", "new", "new_str")
	replace.mayEmpty = true
	content, pattern := child("content"), child("pattern")
	created := content
	created.mayEmpty = true // in block form
	from, to := child("from", "path"), child("to", "destination")
	path := child("path")
	line := pattern
	line.text, line.match = true, true
	for _, op := range []*tagOp{
		{name: "edit", children: []tagChild{file, find, replace}, build: buildTagEdit},
		{name: "create", children: []tagChild{file, created}, build: buildCreate(batch.Create)},
		{name: "create_overwrite", children: []tagChild{file, created}, build: buildCreate(batch.Any)},
		{name: "delete", children: []tagChild{file}, build: buildDelete},
		{name: "move", children: []tagChild{from, to}, build: buildMove},
		{name: "copy", children: []tagChild{from, to}, build: buildCopy(false)},
		{name: "copy_overwrite", children: []tagChild{from, to}, build: buildCopy(true)},
		{name: "append", children: []tagChild{file, content}, build: buildAppend},
		{name: "insert_after", children: []tagChild{file, pattern, content}, build: buildInsert(false)},
		{name: "insert_before", children: []tagChild{file, pattern, content}, build: buildInsert(true)},
		{name: "mkdir", children: []tagChild{path}, build: buildMkdir},
		{name: "rmdir", children: []tagChild{path}, build: buildRmdir},
		{name: "read", children: []tagChild{file, optionalChild("lines"), optionalChild("offset"), optionalChild("limit")}, build: buildRead},
		{name: "grep", children: []tagChild{file, line, optionalChild("case_insensitive")}, build: buildGrep},
	} {
		op.word = word2tag(op.name)
		op.words = sync.OnceValue(func() *batch.Words { return wordsFor(op.name) })
		tagOps[op.name], opsByWord[op.word] = op, op
		tagNames = append(tagNames, op.name)
	}
}

func param(name string, value any) batch.Param { return batch.Param{Name: name, Value: value} }

func buildTagEdit(t *batch.Task, v *tagValues) *diag.Error {
	edits := make([]batch.Edit, len(v.pairs))
	var list []map[string]string
	for i, p := range v.pairs {
		e := batch.Edit{
			Path: v.path, Expect: batch.Expect{All: true}, AllowEmpty: true, Match: v.match, Aligned: p.block,
			Splits: []batch.Split{{Old: p.find, New: p.replace, NoNew: p.replace == "" && p.block}},
		}
		if p.findRaw != "" && p.findRaw != p.find {
			e.Splits = append(e.Splits, batch.Split{Old: p.findRaw, New: p.replace, NoNew: e.Splits[0].NoNew})
		}
		edits[i] = e
		list = append(list, map[string]string{"find": p.find, "replace": p.replace})
	}
	t.Params = append(t.Params, param("file", v.path))
	if len(edits) == 1 {
		t.Op = edits[0]
		t.Params = append(t.Params, param("find", v.pairs[0].find), param("replace", v.pairs[0].replace))
		return nil
	}
	t.Op = batch.EditSeries{Path: v.path, Edits: edits}
	t.Params = append(t.Params, param("edits", list))
	return nil
}

func buildCreate(mode batch.WriteMode) func(*batch.Task, *tagValues) *diag.Error {
	return func(t *batch.Task, v *tagValues) *diag.Error {
		content := strings.TrimPrefix(v.content, string(byteOrderMark))
		t.Op = batch.Write{Path: v.path, Content: content, Mode: mode, Limit: createLimit}
		t.Params = append(t.Params, param("file", v.path), param("content", v.content))
		return nil
	}
}

func buildAppend(t *batch.Task, v *tagValues) *diag.Error {
	t.Op = batch.Append{Path: v.path, Content: v.content, FreshLine: true, MustExist: true}
	t.Params = append(t.Params, param("file", v.path), param("content", v.content))
	return nil
}

func buildDelete(t *batch.Task, v *tagValues) *diag.Error {
	t.Op = batch.Remove{Path: v.path}
	t.Params = append(t.Params, param("file", v.path))
	return nil
}

func buildMove(t *batch.Task, v *tagValues) *diag.Error {
	t.Op = batch.Move{From: v.from, To: v.to}
	t.Params = append(t.Params, param("from", v.from), param("to", v.to))
	return nil
}

func buildCopy(overwrite bool) func(*batch.Task, *tagValues) *diag.Error {
	return func(t *batch.Task, v *tagValues) *diag.Error {
		t.Op = batch.Copy{From: v.from, To: v.to, Overwrite: overwrite}
		t.Params = append(t.Params, param("from", v.from), param("to", v.to))
		return nil
	}
}

func buildInsert(before bool) func(*batch.Task, *tagValues) *diag.Error {
	return func(t *batch.Task, v *tagValues) *diag.Error {
		op := batch.Insert{Path: v.path, Anchors: []string{v.pattern}, Content: v.content, Before: before, Aligned: v.block}
		if v.patternRaw != "" && v.patternRaw != v.pattern {
			op.Anchors = append(op.Anchors, v.patternRaw)
		}
		t.Op = op
		t.Params = append(t.Params, param("file", v.path), param("pattern", v.pattern), param("content", v.content))
		return nil
	}
}

func buildMkdir(t *batch.Task, v *tagValues) *diag.Error {
	t.Op = batch.Mkdir{Path: v.path, Parents: true}
	t.Params = append(t.Params, param("path", v.path))
	return nil
}

func buildRmdir(t *batch.Task, v *tagValues) *diag.Error {
	t.Op = batch.Rmdir{Path: v.path}
	t.Params = append(t.Params, param("path", v.path))
	return nil
}

func buildRead(t *batch.Task, v *tagValues) *diag.Error {
	op := batch.Read{Path: v.path}
	t.Params = append(t.Params, param("file", v.path))
	lines, hasLines := v.single["lines"]
	offset, hasOffset := v.single["offset"]
	limit, hasLimit := v.single["limit"]
	switch {
	case hasLines && (hasOffset || hasLimit):
		return diag.New(diag.InvalidArgument, "lines together with offset or limit").WithHint("give one of them")
	case hasLines:
		ranges, ok := lineRanges(lines)
		if !ok {
			return diag.New(diag.InvalidArgument, "the lines %q are not allowed", lines).
				WithHint("write N, N-M, N- or -M, counted from 1, with commas between several")
		}
		op.Ranges = ranges
		t.Params = append(t.Params, param("lines", lines))
	case hasOffset || hasLimit:
		first, ok1 := wholeNumber(offset, hasOffset)
		count, ok2 := wholeNumber(limit, hasLimit)
		if !ok1 || !ok2 {
			return diag.New(diag.InvalidArgument, "offset and limit are numbers of lines").WithHint("write them as 0, 1, 2 ...")
		}
		op.Window = true
		rg := batch.LineRange{First: first + 1}
		if hasLimit {
			rg.Last = first + count
		}
		op.Ranges = []batch.LineRange{rg}
		if hasLimit && count == 0 {
			op.Ranges = []batch.LineRange{}
		}
		if hasOffset {
			t.Params = append(t.Params, param("offset", first))
		}
		if hasLimit {
			t.Params = append(t.Params, param("limit", count))
		}
	}
	t.Op = op
	return nil
}

func wholeNumber(s string, given bool) (int, bool) {
	if !given {
		return 0, true
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0 && n < 1<<30
}

// lineRanges reads N, N-M, N-, -M and several of these with commas.
func lineRanges(s string) ([]batch.LineRange, bool) {
	var all []batch.LineRange
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		rg := batch.LineRange{First: 1}
		if from == "" && to == "" {
			return nil, false
		}
		if from != "" {
			n, ok := wholeNumber(from, true)
			if !ok || n == 0 {
				return nil, false
			}
			rg.First, rg.Last = n, n
		}
		if isRange {
			rg.Last = 0
		}
		if to != "" {
			n, ok := wholeNumber(to, true)
			if !ok || n == 0 || n < rg.First {
				return nil, false
			}
			rg.Last = n
		}
		all = append(all, rg)
	}
	return all, true
}

// grepLines is how many lines a grep of this dialect shows.
const grepLines = 50

func buildGrep(t *batch.Task, v *tagValues) *diag.Error {
	op := batch.Grep{Path: v.path, Pattern: v.pattern, OneFile: true, Most: grepLines}
	t.Params = append(t.Params, param("file", v.path), param("pattern", v.pattern))
	if s, given := v.single["case_insensitive"]; given {
		on, ok := boolValue(s)
		if !ok {
			return diag.New(diag.InvalidArgument, "case_insensitive %q is not allowed", s).WithHint("allowed: true, false")
		}
		op.IgnoreCase = on.(bool)
		t.Params = append(t.Params, param("case_insensitive", op.IgnoreCase))
	}
	t.Op = op
	return nil
}

// wordsFor gives the messages of an operation.
func wordsFor(name string) *batch.Words {
	w := &batch.Words{
		Done: map[string]string{
			"edited": "Replaced {occurrences} in {path} ({lines})", "created": "Created {path} ({bytes})",
			"overwrote": "Overwrote {path} ({bytes})", "removed": "Deleted {path}", "removed-directory": "Removed directory {path}",
			"moved": "Moved {path} → {to}", "copied": "Copied {path} → {to}", "appended": "Appended {bytes} to {path}",
			"inserted": "Inserted {inserted} in {path} {where}", "created-directory": "Created directory {path} (git does not record an empty directory)",
			"read": "Read {path} ({shown})", "found": "Found {n} in {path}",
		},
		Failures: map[string]string{
			"file_not_found": "File not found: {path}", "destination exists": "Destination already exists: {destination}. Delete it first or choose different destination.",
			"source and destination are the same": "Source and destination are the same: {from}",
			"is_directory":                        "Is a directory: {path}", "not_directory": "Not a directory: {path}",
			"directory_not_empty": "Directory not empty: {path}", "protected": "Cannot " + tagVerb(name) + " protected file: {path}",
			"the top": "Cannot " + tagVerb(name) + " protected file: {path}", "permission_denied": "Permission denied: {path}",
			"binary_file": "Cannot " + tagVerb(name) + " binary file: {path}", "file_too_large": "File too large: {path} ({size}). Maximum: {most}",
			"absolute path": "Absolute paths not allowed: {written}", "path_escape": "Path outside the working tree: {path}",
		},
		Hints: map[string]string{},
	}
	own := map[string]map[string]string{
		"edit":          {"no match": "Pattern not found in {path}"},
		"create":        {"file_exists": "File already exists: {path}. Use <edit> to modify existing files or <create_overwrite> to replace."},
		"insert_after":  tagInsertWords,
		"insert_before": tagInsertWords,
	}
	maps.Copy(w.Failures, own[name])
	if name == "delete" {
		w.Hints["is_directory"] = "Use <rmdir>"
	}
	if name == "mkdir" {
		w.Done["unchanged"] = "Directory already exists: {path}"
	}
	return w
}

var tagInsertWords = map[string]string{
	"no match": "Pattern not found: '{text}'",
	"several matches": "Ambiguous pattern: '{text}' appears {n} times in {path} at {lines}. Pattern must be unique. " +
		"Use <edit> with full context instead.",
}

// tagVerb is what an operation would do to a file that it may not touch.
func tagVerb(name string) string {
	switch name {
	case "append":
		return "append to"
	case "insert_after", "insert_before":
		return "insert into"
	case "create":
		return "create"
	case "create_overwrite", "copy_overwrite":
		return "overwrite"
	case "rmdir":
		return "remove"
	case "grep":
		return "read"
	}
	return name
}
