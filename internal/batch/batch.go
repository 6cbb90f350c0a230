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

// Op is one thing that a reply asks for. The set of ops is closed.
type Op interface {
	// Name is the op's name in reports: "write", "edit" ...
	Name() string
	sealed()
}

// Write stores Content as the whole file.
type Write struct {
	Path    string
	Content []byte
	Mode    WriteMode
}

// WriteMode says what a Write may find in its place.
type WriteMode int

// The write modes.
const (
	Any       WriteMode = iota // create or overwrite
	Create                     // the file must not exist
	Overwrite                  // the file must exist
)

// Append adds Content at the end of a file, creating it if it is missing.
type Append struct {
	Path      string
	Content   []byte
	FreshLine bool // end an unfinished last line first
}

// Edit replaces occurrences of Old by New.
type Edit struct {
	Path       string
	Splits     []Split // usually one; several when the reply can be read in several ways and the file decides
	Expect     Expect
	AllowEmpty bool      // an empty New deletes the match, with its line end if the match starts a line
	Match      MatchTier // the loosest way of matching that the dialect permits
}

// Split is one reading of an edit.
type Split struct {
	Divider  int // line of the divider that gives this reading; 0 if there is only one reading
	Old, New string
	NoNew    bool // the replacement part had no lines at all
}

// EditRange replaces everything from a Start text to the nearest End text behind it.
type EditRange struct {
	Path       string
	Start      string
	Splits     []Split // Old is the end text
	Expect     Expect
	AllowEmpty bool
	Match      MatchTier
}

// EditLines replaces the lines First to Last, counted from 1, both included.
type EditLines struct {
	Path        string
	First, Last int
	New         string
}

// Insert puts Content before or after the one occurrence of Anchor.
type Insert struct {
	Path    string
	Anchor  string
	Content string
	Before  bool
}

// Remove removes a file, a link or, if Recursive, a directory.
type Remove struct {
	Path      string
	Recursive bool
	Force     bool // a missing path is no failure
	EmptyDir  bool // an empty directory may be removed too
}

// Move renames From to To.
type Move struct {
	From, To  string
	Overwrite bool
}

// Copy copies From to To.
type Copy struct {
	From, To  string
	Overwrite bool
	Recursive bool
	KeepLinks bool // copy a symbolic link as a link
}

// Mkdir makes a directory; with Parents also those above it, and an existing one is no failure.
type Mkdir struct {
	Path    string
	Parents bool
}

// Rmdir removes an empty directory.
type Rmdir struct{ Path string }

// Touch creates a missing file, unless NoCreate.
type Touch struct {
	Path     string
	NoCreate bool
}

// Read gives the lines First to Last of a file as data; 0, 0 gives all.
type Read struct {
	Path        string
	First, Last int
	Numbered    bool
}

// List gives the entries of a directory as data.
type List struct{ Path string }

// Grep gives the lines below Path that the regular expression Pattern (RE2) matches.
type Grep struct {
	Path, Pattern string
}

// Glob gives the paths that match Pattern, in which ** crosses directories.
type Glob struct{ Pattern string }

// Run is one command line in a directory.
type Run struct {
	Command string
	Dir     string
}

// Expect says how many matches an edit needs.
type Expect struct {
	Count int  // exactly so many, if All is false
	All   bool // all of them, at least one
}

// MatchTier is a way of comparing text, from strict to loose.
type MatchTier int

// The tiers.
const (
	Exact      MatchTier = iota
	Whitespace           // trailing blanks, then a uniform shift of the indentation
)

func (Write) Name() string     { return "write" }
func (Append) Name() string    { return "append" }
func (Edit) Name() string      { return "edit" }
func (EditRange) Name() string { return "edit_range" }
func (EditLines) Name() string { return "edit_lines" }
func (Insert) Name() string    { return "insert" }
func (Remove) Name() string    { return "remove" }
func (Move) Name() string      { return "move" }
func (Copy) Name() string      { return "copy" }
func (Mkdir) Name() string     { return "mkdir" }
func (Rmdir) Name() string     { return "rmdir" }
func (Touch) Name() string     { return "touch" }
func (Read) Name() string      { return "read" }
func (List) Name() string      { return "list" }
func (Grep) Name() string      { return "grep" }
func (Glob) Name() string      { return "glob" }
func (Run) Name() string       { return "run" }

func (Write) sealed()     {}
func (Append) sealed()    {}
func (Edit) sealed()      {}
func (EditRange) sealed() {}
func (EditLines) sealed() {}
func (Insert) sealed()    {}
func (Remove) sealed()    {}
func (Move) sealed()      {}
func (Copy) sealed()      {}
func (Mkdir) sealed()     {}
func (Rmdir) sealed()     {}
func (Touch) sealed()     {}
func (Read) sealed()      {}
func (List) sealed()      {}
func (Grep) sealed()      {}
func (Glob) sealed()      {}
func (Run) sealed()       {}

// Target gives the path that an op is about, as the reply wrote it, or "".
func Target(op Op) string {
	switch o := op.(type) {
	case Write:
		return o.Path
	case Append:
		return o.Path
	case Edit:
		return o.Path
	case EditRange:
		return o.Path
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
