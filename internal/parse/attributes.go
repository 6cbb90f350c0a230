package parse

import (
	"slices"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// attribute is one name="value" of an opener.
type attribute struct {
	name, value string
	line        int // of the name, from 1; 0 is the line of the opener
	column      int // of the name, from 1
}

// readAttributes reads `name = "value"` pairs, each with a blank before it. column is the column of rest's first byte.
func readAttributes(rest string, column int) ([]attribute, *diag.Error) {
	var found []attribute
	off := 0
	fail := func(format string, args ...any) *diag.Error {
		return diag.New(diag.MalformedStructure, format, args...).At(diag.Pos{Column: column + off})
	}
	for {
		gap := len(rest[off:]) - len(strings.TrimLeft(rest[off:], " \t"))
		off += gap
		if off == len(rest) {
			return found, nil
		}
		if gap == 0 {
			return nil, fail("blank missing before %q", clip(rest[off:])).WithHint("put a blank between attributes")
		}
		name := attributeName(rest[off:])
		if name == "" {
			return nil, fail("unexpected text %q on the opener", clip(rest[off:])).WithHint(`attributes are written name="value"`)
		}
		at := off
		off += len(name)
		off += len(rest[off:]) - len(strings.TrimLeft(rest[off:], " \t"))
		if off == len(rest) || rest[off] != '=' {
			off = at
			return nil, fail("unexpected text %q on the opener", clip(rest[at:])).
				WithHint(`attributes are written %s="value"`, name)
		}
		off++
		off += len(rest[off:]) - len(strings.TrimLeft(rest[off:], " \t"))
		if off == len(rest) || (rest[off] != '"' && rest[off] != '\'') {
			return nil, fail("the value of %s is not quoted", name).WithHint(`write %s="value"`, name)
		}
		value, n := quoted(rest[off:])
		if n == 0 {
			return nil, fail("the quote of %s is not closed", name).WithHint(`write %s="value" on one line; a quote in the value is written \"`, name)
		}
		off += n
		for _, a := range found {
			if a.name == name {
				off = at
				return nil, fail("attribute %s stands twice", name).WithHint("keep one of them")
			}
		}
		found = append(found, attribute{name: name, value: value, column: column + at})
	}
}

func attributeName(s string) string {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return s[:i]
		}
	}
	return s
}

// quoted reads a quoted value and gives the length it takes, 0 if the quote is not closed. Only the two quotes and the
// backslash can be escaped; a backslash before anything else is itself, so that Windows paths survive.
func quoted(s string) (value string, n int) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		c := s[i]
		if c == s[0] {
			return b.String(), i + 1
		}
		if c == '\\' && i+1 < len(s) && strings.IndexByte(`"'\`, s[i+1]) >= 0 {
			i++
			c = s[i]
		}
		b.WriteByte(c)
	}
	return "", 0
}

func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "..."
	}
	return s
}

// rule says which values an attribute may have.
type rule struct {
	required bool
	nonEmpty bool
	kind     func(string) (any, bool) // the typed value; nil for a string
	allowed  string                   // for the hint
}

func boolValue(s string) (any, bool) { return s == "true", s == "true" || s == "false" }

func countValue(s string) (any, bool) {
	e, ok := expectOf(s)
	if e.All {
		return s, ok
	}
	return e.Count, ok
}

// checkAttributes applies rules. It gives the typed parameters in the order in which they were written.
func checkAttributes(attrs []attribute, rules map[string]rule, op string) (params []batch.Param, err *diag.Error, kind diag.Kind) {
	params = make([]batch.Param, 0, len(attrs)+2) // content and the like follow
	for _, a := range attrs {
		r, known := rules[a.name]
		if !known {
			return nil, diag.New(diag.InvalidArgument, "%s has no attribute %s", op, a.name).
				At(diag.Pos{Line: a.line, Column: a.column}).WithHint("known: %s", names(rules)), diag.Validation
		}
		if r.nonEmpty && a.value == "" {
			return nil, diag.New(diag.InvalidArgument, "%s is empty", a.name).At(diag.Pos{Line: a.line, Column: a.column}).
				WithHint("name a file or directory, relative to the top"), diag.Type
		}
		value := any(a.value)
		if r.kind != nil {
			typed, ok := r.kind(a.value)
			if !ok {
				return nil, diag.New(diag.InvalidArgument, "%s=%q is not allowed", a.name, a.value).
					At(diag.Pos{Line: a.line, Column: a.column}).WithHint("allowed: %s", r.allowed), diag.Type
			}
			value = typed
		}
		params = append(params, batch.Param{Name: a.name, Value: value})
	}
	if name := missingAttribute(attrs, rules); name != "" {
		return nil, diag.New(diag.InvalidArgument, "%s needs %s", op, name).WithHint(`write %s %s="..."`, op, name), diag.Validation
	}
	return params, nil, ""
}

// missingAttribute gives the first required attribute, by name, that is not there, or "".
func missingAttribute(attrs []attribute, rules map[string]rule) (missing string) {
	for name, r := range rules {
		if !r.required || slices.ContainsFunc(attrs, func(a attribute) bool { return a.name == name }) {
			continue
		}
		if missing == "" || name < missing {
			missing = name
		}
	}
	return missing
}
