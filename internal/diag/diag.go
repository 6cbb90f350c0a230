// Package diag holds what every room says when it refuses: a stable code, a place, a sentence and a hint.
//
// A refusal is a value. It is made where the cause is known, carried unchanged to the edge of the process and
// rendered there. Codes are a public contract: they are listed once, in codes.go, and documented in docs/errors.md.
package diag

import (
	"errors"
	"fmt"
	"sort"
)

// Pos is a place in a reply. Line and Column count from 1; Column counts bytes. The zero Pos is "no place".
type Pos struct {
	Line, Column int
}

// IsZero reports whether p names no place.
func (p Pos) IsZero() bool { return p.Line == 0 }

// Error is one refusal or failure.
type Error struct {
	Code    Code
	Message string // a sentence without capital and full stop, for people
	Path    string // the file it is about, relative to the top of the working tree; may be empty
	Pos     Pos    // the place in the reply; may be zero
	Hint    string // what to do about it; may be several lines
	Err     error  // the cause, for --error-detail=debug

	Worded bool           // Message is in the words of the reply's dialect and says everything
	Case   string         // a finer name for what happened than Code, for dialects with words of their own
	Facts  map[string]any // what such words may mention
}

// New makes an Error whose message is formatted like fmt.Sprintf.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap makes an Error with a cause.
func Wrap(err error, code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Err: err}
}

// At returns e with its place set.
func (e *Error) At(p Pos) *Error { e.Pos = p; return e }

// In returns e with its path set.
func (e *Error) In(path string) *Error { e.Path = path; return e }

// WithHint returns e with its hint set.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// With returns e with its case set, and facts given as name, value, name, value ...
func (e *Error) With(name string, facts ...any) *Error {
	e.Case = name
	if e.Facts == nil {
		e.Facts = map[string]any{}
	}
	for i := 0; i+1 < len(facts); i += 2 {
		e.Facts[facts[i].(string)] = facts[i+1]
	}
	return e
}

// Error gives the message and the code, as `message [code]`.
func (e *Error) Error() string { return e.Message + " [" + string(e.Code) + "]" }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf gives the code of the first *Error in err's chain, or "".
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Kind says which rule a parse problem breaks, for the errorType field of reports.
type Kind string

// The kinds of parse problems.
const (
	Syntax     Kind = "syntax"     // the form: tags, markers, quoting, missing or doubled parts
	Validation Kind = "validation" // an attribute that is missing or unknown
	Type       Kind = "type"       // an attribute with a value that is not allowed
)

// Problem is a parse error in its block.
type Problem struct {
	*Error
	Kind       Kind
	Dialect    string
	BlockID    string // the id of the block where the dialect has ids
	BlockStart int    // line of the block's opener
	BlockEnd   int    // last line that the malformed block takes
	Group      int    // number of the malformed group, 0 for a standalone block
	Refuses    bool   // the extents are in doubt: the whole reply is refused

	SyntaxCode string // the dialect's own code, where it has codes of its own
	Action     string // what the block asks for, where that could be read
	Source     string // the block, or what surrounds the mistake, where the dialect shows it
	NoBlock    bool   // it speaks of no block, or of one that another problem speaks of already
	Last       bool   // it stands behind all problems of form, whatever its place
}

// Warning changes neither success nor exit status.
type Warning struct {
	Dialect string
	Code    string
	Pos     Pos
	Message string
	BlockID string // the id of the block where the dialect has ids
}

// List is what parsing found wrong, in document order.
type List struct {
	Problems []Problem
	Warnings []Warning
	Lost     int // blocks that are left out for a problem of another block
}

// Refused reports whether any problem puts the extents of blocks in doubt.
func (l *List) Refused() bool {
	for _, p := range l.Problems {
		if p.Refuses {
			return true
		}
	}
	return false
}

// Sort puts problems and warnings into document order.
func (l *List) Sort() {
	sort.SliceStable(l.Problems, func(i, j int) bool {
		a, b := &l.Problems[i], &l.Problems[j]
		if a.Last != b.Last {
			return b.Last
		}
		return before(a.Pos, b.Pos)
	})
	sort.SliceStable(l.Warnings, func(i, j int) bool { return before(l.Warnings[i].Pos, l.Warnings[j].Pos) })
}

func before(a, b Pos) bool {
	if a.Line != b.Line {
		return a.Line < b.Line
	}
	return a.Column < b.Column
}
