package parse

import (
	"slices"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// readTask reads an element that is a task and adds it, or says why it cannot.
func (e *element) readTask(form *diag.Error) {
	params, ok := e.attributes(form)
	if !ok {
		return
	}
	t := batch.Task{
		Group: e.group, Dialect: "cml", Action: e.tag.name, Params: params, Span: e.between(e.tag.lo, e.hi), Words: cmlWords,
	}
	values := map[string]any{}
	for _, p := range params {
		values[p.Name] = p.Value
	}
	if err := e.readContent(&t, values); err != nil {
		e.problem(err, diag.Syntax)
		return
	}
	e.addTask(t)
}

func (e *element) readContent(t *batch.Task, values map[string]any) *diag.Error {
	path, _ := values["path"].(string)
	switch e.tag.name {
	case "write":
		return e.readWrite(t, path, values["append"] == true)
	case "edit":
		return e.readEdit(t, path, values["count"])
	case "run":
		return e.readRun(t, values)
	case "move":
		from, to := values["from"].(string), values["to"].(string)
		t.Op = batch.Move{From: from, To: to, Overwrite: true, Into: true}
	case "remove":
		t.Op = batch.Remove{Path: path, Recursive: true, EmptyDir: true}
	}
	return e.nothingInside()
}

// nothingInside makes sure that an element without content has none.
func (e *element) nothingInside() *diag.Error {
	if e.tag.empty {
		return nil
	}
	if at := e.v.skipSpace(e.tag.hi, e.end.lo); at < e.end.lo {
		return e.malformed("<%s> has no content", e.tag.name).At(e.pos(at))
	}
	return nil
}

func (e *element) readWrite(t *batch.Task, path string, appends bool) *diag.Error {
	content, err := e.content(e.tag, e.end)
	if err != nil {
		return err
	}
	t.Params = append(t.Params, batch.Param{Name: "content", Value: content})
	content = strings.TrimPrefix(content, string(byteOrderMark))
	if appends {
		t.Op = batch.Append{Path: path, Content: content}
	} else {
		t.Op = batch.Write{Path: path, Content: content}
	}
	e.warnConflict(content)
	return nil
}

func (e *element) readRun(t *batch.Task, values map[string]any) *diag.Error {
	command, err := e.content(e.tag, e.end)
	if err != nil {
		return err
	}
	if command = strings.TrimSpace(command); command == "" {
		return e.malformed("empty command").WithHint("put one command into the CDATA section")
	}
	dir, _ := values["dir"].(string)
	t.Op = batch.Run{Command: command, Dir: dir}
	t.Params = append(t.Params, batch.Param{Name: "command", Value: command})
	return nil
}

func (e *element) warnConflict(content string) {
	if hasConflict(content) {
		e.warnAt(e.tag.lo, ConflictMarks, "the new content has git conflict markers")
	}
}

// readEdit reads the parts of an edit, which may come in any order.
func (e *element) readEdit(t *batch.Task, path string, count any) *diag.Error {
	parts, err := e.parts()
	if err != nil {
		return err
	}
	search, hasSearch := parts["search"]
	start, hasStart := parts["search-start"]
	end, hasEnd := parts["search-end"]
	replace, hasReplace := parts["replace"]
	switch {
	case hasSearch && (hasStart || hasEnd):
		return e.malformed("search and search-start or search-end in one edit")
	case !hasSearch && hasStart != hasEnd:
		return e.malformed("search-start and search-end belong together")
	case !hasSearch && !hasStart:
		return e.malformed("no search in the edit")
	case !hasReplace:
		return e.malformed("no replace in the edit")
	}
	for _, name := range []string{"search", "search-start", "search-end"} {
		if text, given := parts[name]; given && text == "" {
			return e.malformed("empty %s", name).WithHint("quote text of the file; to make or fill a file use <write>")
		}
	}
	if replace == "" && !e.opts.AllowEmptyReplace {
		return e.malformed("empty replace").
			WithHint("to delete text, repeat a neighbouring line in both parts, or allow empty replacements (--allow-empty-replace)")
	}
	expect := batch.Expect{Count: 1}
	switch n := count.(type) {
	case int:
		expect.Count = n
	case string:
		expect = batch.Expect{All: true}
	}
	split := batch.Split{Old: search, New: replace, NoNew: replace == ""}
	if hasSearch {
		t.Op = batch.Edit{
			Path: path, Splits: []batch.Split{split}, Expect: expect, AllowEmpty: e.opts.AllowEmptyReplace, Match: e.opts.Match, HintCount: `count="%d"`,
		}
	} else {
		split.Old = end
		t.Op = batch.EditRange{
			Path: path, Start: start, Splits: []batch.Split{split}, Expect: expect, AllowEmpty: e.opts.AllowEmptyReplace, Match: e.opts.Match,
		}
	}
	for _, name := range []string{"search", "search-start", "search-end", "replace"} {
		if text, given := parts[name]; given {
			t.Params = append(t.Params, batch.Param{Name: name, Value: text})
		}
	}
	e.warnConflict(replace)
	return nil
}

// parts gives the content of each child of an edit.
func (e *element) parts() (map[string]string, *diag.Error) {
	parts := map[string]string{}
	if e.tag.empty {
		return parts, nil
	}
	for off := e.tag.hi; ; {
		at := e.v.skipSpace(off, e.end.lo)
		if at >= e.end.lo {
			return parts, nil
		}
		name := ""
		if e.v.text[at] == '<' {
			name = tagName(e.v.text[at+1 : e.end.lo])
		}
		if !slices.Contains([]string{"search", "search-start", "search-end", "replace"}, name) {
			return nil, e.malformed("unexpected %q in edit", clip(firstLine(e.v.text[at:e.end.lo]))).At(e.pos(at))
		}
		if _, twice := parts[name]; twice {
			return nil, e.malformed("<%s> stands twice", name).At(e.pos(at)).WithHint("write one edit for each place")
		}
		start, err := e.v.readTag(at, e.end.lo)
		if err != nil || start.hi == 0 {
			return nil, e.malformed("the tag <%s is malformed", name).At(e.pos(at)).WithHint("write <%s>", name)
		}
		if len(start.attrs) > 0 {
			return nil, e.malformed("<%s> has no attributes", name).At(e.pos(at)).WithHint("put them on <edit>")
		}
		var end tag
		off = start.hi
		if !start.empty {
			var ok bool
			if end, ok = e.v.endTag(start, e.end.lo, false); !ok {
				return nil, e.malformed("<%s> has no end tag", name).At(e.pos(at)).WithHint("end it with </%s>", name)
			}
			off = end.hi
		}
		if parts[name], err = e.content(start, end); err != nil {
			return nil, err
		}
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSuffix(line, "\r")
}
