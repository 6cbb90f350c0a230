// Package batch is the model that every dialect is read into and everything later works from: what a reply asks for.
//
// A Batch is data without behaviour. It says nothing about syntax; what differs between dialects (whether appended
// text starts on a fresh line, how many matches an edit expects) is a field of the op.
package batch

import "github.com/git-clada/git-clada/internal/diag"

// Batch is all that one reply asks for.
type Batch struct {
	Groups []Group // numbered from 1 in document order: Groups[i] has number i+1; malformed groups are kept, without tasks
	Tasks  []Task  // in document order; Tasks[i].Seq == i+1
	Reply  []byte  // the reply as it came, byte for byte
}

// Group is a block of tasks that belong together: the first failure skips the rest.
type Group struct {
	ID        string // the id that the reply gave it; may be empty
	Dialect   string
	Span      Span
	Malformed bool // it did not parse, so none of its tasks is in Batch.Tasks
}

// Task is an op with its number.
type Task struct {
	Seq     int
	Group   int // number of the group, 0 for a standalone task
	ID      string
	Dialect string
	Action  string // the operation as the reply wrote it
	Params  []Param
	Span    Span
	Fenced  bool // the block stood in a markdown fence
	Op      Op
	Words   *Words   // how the dialect speaks of the outcome; nil is the usual way
	Actions []string // the names under which clada.allowActions may allow it, besides Action and the op's name
}

// Param is one parameter as the reply gave it, typed: string, int or bool.
type Param struct {
	Name  string
	Value any
}

// Span is the extent of a block in the reply: line numbers from 1, both ends included, and byte offsets [Lo, Hi).
type Span struct {
	Start, End int
	Lo, Hi     int
}

// Pos is the place where the span starts.
func (s Span) Pos() diag.Pos { return diag.Pos{Line: s.Start, Column: 1} }

// Path is a slash-separated path relative to the top of the working tree, cleaned and checked. A path from a reply
// stays a string until it has been checked.
type Path string

// Target gives the path that an op is about, as the reply wrote it, or "".
func Target(op Op) string {
	switch o := op.(type) {
	case Write:
		return o.Path
	case Append:
		return o.Path
	case Edit:
		return o.Path
	case EditSeries:
		return o.Path
	case EditFiles:
		if len(o.Paths) == 1 {
			return o.Paths[0]
		}
	case EditRange:
		return o.Path
	case Patch:
		return o.Path
	case ReadNumbered:
		return o.Path
	case ReadFiles:
		if len(o.Paths) == 1 {
			return o.Paths[0]
		}
	case Context:
		return o.Path
	case Glob:
		return o.Base
	case EditLines:
		return o.Path
	case Insert:
		return o.Path
	case Remove:
		return o.Path
	case Move:
		return o.From
	case Copy:
		return o.From
	case Mkdir:
		return o.Path
	case Rmdir:
		return o.Path
	case Touch:
		return o.Path
	case Read:
		return o.Path
	case List:
		return o.Path
	case Grep:
		return o.Path
	}
	return ""
}

// Standalone counts the tasks that belong to no group.
func (b *Batch) Standalone() int {
	n := 0
	for i := range b.Tasks {
		if b.Tasks[i].Group == 0 {
			n++
		}
	}
	return n
}
