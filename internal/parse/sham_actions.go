package parse

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/git-clada/git-clada/internal/batch"
)

// shamAction is one action with all the names that it ever had.
type shamAction struct {
	names    []string // the canonical one first
	params   []shamParam
	anything bool // parameters are not looked at
	build    func(v shamValues) batch.Op
	syscall  string            // what errors of the system name
	texts    map[string]string // messages of failures by case, besides those of the system
	codes    map[string]string
	data     map[string]string   // members of the data and the facts that are their values
	words    func() *batch.Words // made when first asked for
}

func required(names ...string) []shamParam {
	var all []shamParam
	for _, name := range names {
		p := shamParam{name: name, required: true}
		switch name {
		case "path", "old_path", "new_path", "base_path":
			p.kind = shamPath
		case "paths":
			p.kind = shamPaths
		}
		all = append(all, p)
	}
	return all
}

func maybe(name string, kind shamKind, def any, allowed ...string) shamParam {
	return shamParam{name: name, kind: kind, def: def, allowed: allowed}
}

// oldNew are the parameters old_text and new_text with their other names.
func oldNew() []shamParam {
	p := required("old_text", "new_text")
	p[0].alias, p[1].alias = "search", "replace"
	return p
}

var (
	shamActions  []*shamAction
	actionByName = map[string]*shamAction{}
	matchTexts   = map[string]string{
		"empty old text": "{action}: old_text cannot be empty", "no match": "{action}: old_text not found in file",
		"several matches": "{action}: old_text appears {n} times, must appear exactly once",
		"wrong count":     "{action}: expected {expected} occurrences but found {n}",
	}
	countTexts = map[string]string{
		"empty old text": matchTexts["empty old text"], "no match": matchTexts["wrong count"], "several matches": matchTexts["wrong count"],
		"wrong count": matchTexts["wrong count"],
	}
	lineTexts = map[string]string{
		"invalid lines": "{action}: Invalid line specification '{spec}'", "reversed lines": "{action}: Invalid line range '{spec}' (start must be <= end)",
	}
	written = map[string]string{"path": "written"}
)

func merged(all ...map[string]string) map[string]string {
	m := map[string]string{}
	for _, one := range all {
		maps.Copy(m, one)
	}
	return m
}

func shamEdit(expect batch.Expect) func(v shamValues) batch.Op {
	return func(v shamValues) batch.Op {
		e := expect
		if n, ok := v["count"].(int); ok {
			e = batch.Expect{Count: n}
		}
		return batch.Edit{Path: v.text("path"), Splits: []batch.Split{{Old: v.text("old_text"), New: v.text("new_text")}}, Expect: e, AllowEmpty: true}
	}
}

func init() {
	userOnly := func(name, command string) *shamAction {
		return &shamAction{names: []string{name}, anything: true, build: func(shamValues) batch.Op {
			return batch.NotDone{As: name, Text: name, Why: name + ": not available in a reply", Hint: "the person runs `git clada " + command + "`", Fails: true}
		}}
	}
	context := func(verb string, params ...shamParam) *shamAction {
		return &shamAction{names: []string{"context_" + verb}, params: params, syscall: "stat",
			build: func(v shamValues) batch.Op { return batch.Context{Verb: verb, Path: v.text("path")} }}
	}
	contextAdd, contextRemove := context("add", required("path")...), context("remove", required("path")...)
	contextAdd.data, contextRemove.data = written, written
	contextRemove.texts = map[string]string{"not in the context": "{action}: not in the context '{written}'"}
	wrote := map[string]string{"path": "written", "bytesWritten": "bytes"}
	below := map[string]string{"parent is a file": "EEXIST: file already exists, open '{written}'"}
	belowCode := map[string]string{"parent is a file": "file_exists"}
	once := batch.Expect{Count: 1}
	shamActions = []*shamAction{
		{names: []string{"file_create", "create_file"}, params: required("path", "content"), syscall: "open", texts: below, codes: belowCode,
			data: map[string]string{"path": "written", "bytesWritten": "bytes", "createdDirs": "made"},
			build: func(v shamValues) batch.Op {
				return batch.Write{Path: v.text("path"), Content: v.text("content"), Mode: batch.Create}
			}},
		{names: []string{"file_write", "write_file"}, params: required("path", "content"), syscall: "open", texts: below, codes: belowCode, data: wrote,
			build: func(v shamValues) batch.Op {
				return batch.Write{Path: v.text("path"), Content: v.text("content")}
			}},
		{names: []string{"file_append", "append_to_file"}, params: required("path", "content"), syscall: "open", texts: below, codes: belowCode, data: wrote,
			build: func(v shamValues) batch.Op {
				return batch.Append{Path: v.text("path"), Content: v.text("content")}
			}},
		{names: []string{"file_edit", "replace_in_file"}, params: append(append(required("path"), oldNew()...), maybe("count", shamInteger, 1)),
			syscall: "open", texts: matchTexts, build: shamEdit(once),
			data: map[string]string{"path": "written", "replacements": "count", "replacements_made": "count"}},
		{names: []string{"file_replace_text", "replace_text_in_file"}, params: required("path", "old_text", "new_text"), syscall: "open", texts: matchTexts,
			build: shamEdit(once), data: map[string]string{"path": "written", "replacements": "count"}},
		{names: []string{"file_replace_all_text", "replace_all_text_in_file"}, params: append(required("path", "old_text", "new_text"), maybe("count", shamInteger, nil)),
			syscall: "open", texts: countTexts, build: shamEdit(batch.Expect{All: true, None: true}),
			data: map[string]string{"path": "written", "replacements": "count"}},
		{names: []string{"files_replace_all_text"}, params: required("paths", "old_text", "new_text"), syscall: "open",
			texts: merged(countTexts, map[string]string{"no paths": "{action}: No paths provided", "several files": "{action}: Failed to replace in {n} file(s):{list}"}),
			build: func(v shamValues) batch.Op {
				e := shamEdit(batch.Expect{All: true, None: true})(v).(batch.Edit)
				return batch.EditFiles{Paths: v.lines("paths"), Edit: e}
			}},
		{names: []string{"file_replace_text_range", "replace_text_range_in_file"}, params: required("path", "old_text_beginning", "old_text_end", "new_text"), syscall: "open",
			texts: map[string]string{
				"empty start": "{action}: old_text_beginning cannot be empty", "empty end": "{action}: old_text_end cannot be empty",
				"no start":       "{action}: old_text_beginning not found in file",
				"several starts": "{action}: old_text_beginning appears {n} times, must appear exactly once",
				"no end":         "{action}: old_text_end not found after old_text_beginning",
				"several ends":   "{action}: old_text_end appears {n} times after old_text_beginning, must appear exactly once",
			},
			data: map[string]string{"path": "written", "replacements": "count"},
			build: func(v shamValues) batch.Op {
				return batch.EditRange{
					Path: v.text("path"), Start: v.text("old_text_beginning"), OnlyOne: true, Expect: once, AllowEmpty: true,
					Splits: []batch.Split{{Old: v.text("old_text_end"), New: v.text("new_text")}},
				}
			}},
		{names: []string{"file_replace_lines", "replace_lines_in_file"}, params: required("path", "lines", "new_content"), syscall: "open",
			texts: merged(lineTexts, map[string]string{"lines out of bounds": "{action}: Line range {spec} is out of bounds (file has {n} lines)"}),
			data:  map[string]string{"path": "written", "lines_replaced": "replaced"},
			build: func(v shamValues) batch.Op {
				return batch.EditLines{Path: v.text("path"), Spec: v.text("lines"), New: v.text("new_content")}
			}},
		{names: []string{"file_read", "read_file"}, params: required("path"), syscall: "open",
			build: func(v shamValues) batch.Op { return batch.Read{Path: v.text("path")} }},
		{names: []string{"file_read_numbered", "read_file_numbered"}, syscall: "open",
			params: append(required("path"), maybe("lines", shamString, ""), maybe("delimiter", shamString, ": ")),
			texts:  merged(lineTexts, map[string]string{"lines beyond the end": "{action}: Requested lines {spec} but file only has {n} lines"}),
			data:   map[string]string{"path": "written", "content": "content"},
			build: func(v shamValues) batch.Op {
				return batch.ReadNumbered{Path: v.text("path"), Spec: v.text("lines"), Delimiter: v.text("delimiter")}
			}},
		{names: []string{"files_read", "read_files"}, params: required("paths"), syscall: "open",
			texts: map[string]string{"no paths": "{action}: No paths provided", "several files": "{action}: Failed to read all {n} file(s):{list}"},
			build: func(v shamValues) batch.Op { return batch.ReadFiles{Paths: v.lines("paths")} }},
		{names: []string{"file_delete", "delete_file"}, params: required("path"), syscall: "unlink", data: written,
			build: func(v shamValues) batch.Op { return batch.Remove{Path: v.text("path")} }},
		{names: []string{"file_move", "move_file"}, params: required("old_path", "new_path"), syscall: "rename",
			texts: map[string]string{
				"file_not_found": "{action}: Source file not found '{from}' (ENOENT)", "into itself": "EINVAL: invalid argument, rename '{from}' -> '{to}'",
				"permission_denied": "EACCES: permission denied, rename '{from}' -> '{to}'", "protected": "EACCES: permission denied, rename '{from}' -> '{to}'",
				"is_directory": "EISDIR: illegal operation on a directory, rename '{from}'", "not_directory": "ENOTDIR: not a directory, rename '{from}'",
				"directory_not_empty": "ENOTEMPTY: directory not empty, rename '{from}'", "file_exists": "EEXIST: file already exists, rename '{from}'",
			},
			data: map[string]string{"old_path": "from", "new_path": "to", "overwrote": "overwrote"},
			build: func(v shamValues) batch.Op {
				return batch.Move{From: v.text("old_path"), To: v.text("new_path"), Overwrite: true, SameIsOK: true}
			}},
		{names: []string{"dir_create"}, params: required("path"), syscall: "mkdir", data: written,
			build: func(v shamValues) batch.Op { return batch.Mkdir{Path: v.text("path"), Parents: true} }},
		{names: []string{"dir_delete"}, params: append(required("path"), maybe("recursive", shamBoolean, false)), syscall: "rmdir", data: written,
			build: func(v shamValues) batch.Op {
				return batch.Remove{Path: v.text("path"), Recursive: v.flag("recursive"), EmptyDir: true, OnlyDir: true}
			}},
		{names: []string{"ls"}, params: required("path"), syscall: "scandir", build: func(v shamValues) batch.Op { return batch.List{Path: v.text("path")} }},
		{names: []string{"grep"}, params: append(required("pattern", "path"), maybe("include", shamString, "")), syscall: "open",
			build: func(v shamValues) batch.Op {
				return batch.Grep{Path: v.text("path"), Pattern: v.text("pattern"), Literal: true, Include: v.text("include")}
			}},
		{names: []string{"glob"}, params: required("pattern", "base_path"), syscall: "scandir",
			build: func(v shamValues) batch.Op { return batch.Glob{Base: v.text("base_path"), Pattern: v.text("pattern")} }},
		{names: []string{"exec"}, texts: map[string]string{
			"not allowed": "{action}: command not allowed ({reason})", "exit": "", "timeout": "{action}: Process timeout after {seconds}s (TIMEOUT)",
			"signal": "Process killed by signal {signal}", "missing program": "{action}: {program} not found in PATH (ENOENT)",
			"no directory": "{action}: Working directory does not exist '{dir}' (ENOENT)",
		},
			params: append(required("code"), shamParam{name: "lang", kind: shamEnum, required: true, allowed: []string{"python", "javascript", "bash", "ruby"}},
				maybe("version", shamString, ""), maybe("cwd", shamPath, nil), maybe("return_output", shamBoolean, true)),
			build: func(v shamValues) batch.Op {
				return batch.Exec{Code: v.text("code"), Language: v.text("lang"), Dir: v.text("cwd")}
			}},
		contextAdd, contextRemove, context("list"), context("prune"), context("clear"),
		userOnly("undo", "undo"), userOnly("git_step_back", "step-back"), userOnly("git_step_forward", "step-forward"), userOnly("git_squash", "squash"),
	}
	for _, a := range shamActions {
		a.words = sync.OnceValue(a.newWords)
		for _, name := range a.names {
			actionByName[name] = a
		}
	}
}

// newWords gives the messages of an action: those of the system calls of Node.js, which the dialect comes from, and its
// own.
func (a *shamAction) newWords() *batch.Words {
	w := &batch.Words{Codes: a.codes, Data: a.data, Failures: map[string]string{
		"path_escape": "{action}: path is outside the working tree '{written}'", "symlink_not_allowed": "{action}: path goes through a symbolic link '{written}'",
		"binary_file": "{action}: binary file '{written}'", "file_too_large": "{action}: file is larger than {limit} bytes '{written}'",
		"invalid_utf8": "{action}: not valid UTF-8 '{written}'",
	}}
	if a.syscall != "" {
		at := a.syscall + " '{written}'"
		maps.Copy(w.Failures, map[string]string{
			"file_not_found": "ENOENT: no such file or directory, " + at, "file_exists": "EEXIST: file already exists, " + at,
			"is_directory": "EISDIR: illegal operation on a directory, " + at, "not_directory": "ENOTDIR: not a directory, " + at,
			"directory_not_empty": "ENOTEMPTY: directory not empty, " + at, "permission_denied": "EACCES: permission denied, " + at,
		})
	}
	maps.Copy(w.Failures, a.texts)
	return w
}

// findAction gives the action of a name; exact is false if only upper and lower case differ.
func findAction(name string) (a *shamAction, exact bool) {
	if a := actionByName[name]; a != nil {
		return a, true
	}
	return actionByName[asciiLower(name)], false
}

func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

func (a *shamAction) spelling(name string) string {
	for _, n := range a.names {
		if n == asciiLower(name) {
			return n
		}
	}
	return a.names[0]
}

func (a *shamAction) parameter(key string) *shamParam {
	for i := range a.params {
		if p := &a.params[i]; p.name == key || p.alias != "" && p.alias == key {
			return p
		}
	}
	return nil
}

// Actions gives the names of all actions of the sham dialect.
func Actions() []string {
	var all []string
	for _, a := range shamActions {
		all = append(all, a.names...)
	}
	return all
}

// nearestActions gives the three names that share most letter pairs with a name.
func nearestActions(name string) []string {
	pairs := map[string]bool{}
	for i := 0; i+2 <= len(name) && i < 100; i++ {
		pairs[asciiLower(name[i:i+2])] = true
	}
	score := func(s string) int {
		n := 0
		for i := 0; i+2 <= len(s); i++ {
			if pairs[s[i:i+2]] {
				n += 100
			}
		}
		return n / (len(s) + len(name))
	}
	all := Actions()
	slices.SortStableFunc(all, func(a, b string) int { return score(b) - score(a) })
	return all[:3]
}
