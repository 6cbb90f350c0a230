package parse

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// shamTask validates one block and makes a task of it.
func (s *scan) shamTask(b *ShamBlock) {
	written, _ := b.Value("action")
	a, exact := findAction(written)
	if a == nil || s.opts.Strict && !exact {
		message, hint := fmt.Sprintf("Unknown action: %s", written), "the nearest names are "+strings.Join(nearestActions(written), ", ")
		if written == "" {
			message = fmt.Sprintf("Missing 'action' field in %s block", b.gen.word)
			hint = `add a line action = "..."`
		}
		s.shamInvalid(b, diag.Validation, message, hint)
		return
	}
	if !exact {
		s.shamWarn(b, "ACTION_CASE", "action", fmt.Sprintf("Action name '%s' read as '%s'", written, a.spelling(written)))
	}
	values, params, ok := s.shamValues(b, a)
	if !ok {
		return
	}
	for _, p := range b.Properties {
		if p.Key != "action" && a.parameter(p.Key) == nil && !a.anything {
			s.shamWarn(b, "UNKNOWN_PARAMETER", p.Key, fmt.Sprintf("Unknown parameter '%s' for action '%s'", p.Key, written))
		}
	}
	op := a.build(values)
	if exec, ok := op.(batch.Exec); ok {
		exec.Echo = b.gen.name == "nesl"
		op = exec
	}
	s.addTask(batch.Task{
		ID: b.ID, Dialect: "sham", Action: written, Params: params, Span: b.span, Fenced: b.fenced, Op: op, Words: a.words(),
		Actions: a.names,
	})
	if text := values.text("content") + values.text("new_text"); hasConflict(text) {
		s.shamWarn(b, ConflictMarks, "action", "the new content has git conflict markers")
	}
}

func (s *scan) shamWarn(b *ShamBlock, code, key, message string) {
	s.list.Warnings = append(s.list.Warnings, diag.Warning{
		Dialect: "sham", Code: code, Pos: diag.Pos{Line: b.lines[key], Column: 1}, Message: message, BlockID: b.ID,
	})
}

// shamInvalid records why a block that was read well cannot be carried out.
func (s *scan) shamInvalid(b *ShamBlock, kind diag.Kind, message, hint string) {
	action, _ := b.Value("action")
	s.list.Problems = append(s.list.Problems, diag.Problem{
		Error: diag.New(diag.InvalidArgument, "%s", message).At(diag.Pos{Line: b.StartLine, Column: 1}).WithHint("%s", hint),
		Kind:  kind, Dialect: "sham", BlockID: b.ID, BlockStart: b.StartLine, BlockEnd: b.last, Action: action, Source: b.write(), Last: true,
	})
}

// write gives the block in its own syntax.
func (b *ShamBlock) write() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s [@%s: %s]\n", b.gen.mark, usualTag, b.ID)
	for _, p := range b.Properties {
		if strings.Contains(p.Value, "\n") {
			fmt.Fprintf(&out, "%s = <<'%s%s'\n%s\n%s%s\n", p.Key, b.gen.delim, b.ID, p.Value, b.gen.delim, b.ID)
		} else {
			fmt.Fprintf(&out, "%s = %s\n", p.Key, jsonString(p.Value))
		}
	}
	return out.String() + b.gen.end + b.ID
}

// shamValues are the typed parameters of a block by their canonical names.
type shamValues map[string]any

func (v shamValues) text(name string) string { s, _ := v[name].(string); return s }

func (v shamValues) flag(name string) bool { b, _ := v[name].(bool); return b }

// lines gives the paths of a parameter with one on each line.
func (v shamValues) lines(name string) []string {
	var all []string
	for line := range strings.SplitSeq(v.text(name), "\n") {
		if line = shamTrim(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// shamValues checks and types the parameters. Only the first failure is reported.
func (s *scan) shamValues(b *ShamBlock, a *shamAction) (values shamValues, params []batch.Param, ok bool) {
	given := func(p *shamParam) (string, bool) {
		if v, ok := b.Value(p.name); ok || p.alias == "" {
			return v, ok
		}
		return b.Value(p.alias)
	}
	for i := range a.params {
		if _, ok := given(&a.params[i]); a.params[i].required && !ok {
			s.shamInvalid(b, diag.Validation, "Missing required parameter: "+a.params[i].name, "add a line "+a.params[i].name+` = "..."`)
			return nil, nil, false
		}
	}
	values = shamValues{}
	for i := range a.params {
		p := &a.params[i]
		written, isGiven := given(p)
		if !isGiven {
			if p.def != nil {
				values[p.name] = p.def
			}
			continue
		}
		value, message := p.typed(written)
		if message != "" {
			s.shamInvalid(b, diag.Type, message, p.form())
			return nil, nil, false
		}
		values[p.name] = value
		params = append(params, param(p.name, value))
	}
	if a.anything {
		for _, p := range b.Properties {
			if p.Key != "action" {
				params = append(params, param(p.Key, p.Value))
			}
		}
	}
	return values, params, true
}

// shamKind is the type of a parameter.
type shamKind int

const (
	shamString shamKind = iota
	shamInteger
	shamBoolean
	shamEnum
	shamPath
	shamPaths // one on each line
)

// shamParam is one parameter of an action.
type shamParam struct {
	name, alias string
	kind        shamKind
	required    bool
	def         any
	allowed     []string
}

// typed gives the typed value, or what is wrong with it.
func (p *shamParam) typed(written string) (value any, message string) {
	switch p.kind {
	case shamInteger:
		s := shamTrim(written)
		n, err := strconv.Atoi(s)
		if err != nil || strconv.Itoa(n) != s {
			return nil, "Invalid integer value: " + written
		}
		return n, ""
	case shamBoolean:
		if written != "true" && written != "false" {
			return nil, "Invalid boolean value: " + written
		}
		return written == "true", ""
	case shamEnum:
		if !slices.Contains(p.allowed, written) {
			return nil, "Invalid enum value: " + written + ". Allowed: " + strings.Join(p.allowed, ", ")
		}
	case shamPath:
		if written == "" || strings.ContainsAny(written, "\x00\n") {
			return nil, "Invalid absolute path: " + written
		}
	case shamPaths:
		for line := range strings.SplitSeq(written, "\n") {
			if strings.Contains(line, "\x00") {
				return nil, "Invalid absolute path: " + line
			}
		}
	}
	return written, ""
}

func (p *shamParam) form() string {
	switch p.kind {
	case shamInteger:
		return "write a whole number without leading zeros"
	case shamBoolean:
		return "write true or false"
	case shamEnum:
		return "write one of " + strings.Join(p.allowed, ", ")
	}
	return "write one path, relative to the top of the working tree"
}
