package batch

import "github.com/git-clada/git-clada/internal/diag"

// Op is one thing that a reply asks for. The set of ops is closed.
type Op interface {
	// Name is the op's name in reports: "write", "edit" ...
	Name() string
	sealed()
}

// Write stores Content as the whole file.
type Write struct {
	Path    string
	Content string
	Mode    WriteMode
	Limit   int64 // most bytes that Content may have; 0 is the usual limit
	Exec    *bool // make the file executable, or not; nil keeps what it is
}

// WriteMode says what a Write may find in its place.
type WriteMode int

// The write modes.
const (
	Any       WriteMode = iota // create or overwrite
	Create                     // the file must not exist
	Overwrite                  // the file must exist
	Fill                       // the file must not exist, or be empty
)

// Append adds Content at the end of a file, creating it if it is missing.
type Append struct {
	Path      string
	Content   string
	FreshLine bool // end an unfinished last line first
	MustExist bool // a missing file is a failure
}

// Edit replaces occurrences of Old by New.
type Edit struct {
	Path       string
	Splits     []Split // usually one; several when the reply can be read in several ways and the file decides
	Expect     Expect
	AllowEmpty bool      // an empty New deletes the match, with its line end if the match starts a line
	Match      MatchTier // the loosest way of matching that is permitted
	Aligned    bool      // occurrences that are whole lines are preferred to all others
	Lines      bool      // Old and New are whole lines; one place in the file must match
	Elision    bool      // with Lines: lines of "..." in Old and New may stand for text that stays
	Near       int       // with Lines: the line where the reply believes the text to be, for hints; 0 is nowhere
	HintCount  string    // how the dialect writes the expected count, for hints: `count="%d"`; may be empty
}

// Split is one reading of an edit.
type Split struct {
	Divider  int // line of the divider that gives this reading; 0 if there is only one reading
	Old, New string
	NoNew    bool // the replacement part had no lines at all
}

// EditSeries makes several edits to one file, each to the result of the one before, all or nothing.
type EditSeries struct {
	Path  string
	Edits []Edit
}

// EditFiles makes the same edit to several files, all or nothing.
type EditFiles struct {
	Paths []string
	Edit  Edit // without path
}

// EditRange replaces everything from a Start text to the nearest End text behind it.
type EditRange struct {
	Path       string
	Start      string
	Splits     []Split // Old is the end text
	Expect     Expect
	AllowEmpty bool
	Match      MatchTier
	OnlyOne    bool // Start must occur once in the file, overlapping occurrences counted, and the end text once behind it
}

// EditLines replaces lines by number. Spec is N or N-M as the reply wrote it, counted from 1, both ends included.
type EditLines struct {
	Path string
	Spec string
	New  string
}

// Insert puts Content, as whole lines, before or after the line of the one occurrence of an anchor.
type Insert struct {
	Path    string
	Anchors []string // usually one; of several the first that occurs counts
	Content string
	Before  bool
	Aligned bool // if the anchor occurs as whole lines, only these occurrences count
}

// Patch changes whole lines of a file at several places, all or nothing, and may give it another place or mode.
type Patch struct {
	Path      string
	To        string // where the result goes; "" leaves it in its place
	Copy      bool   // the file at Path stays too
	Overwrite bool   // something at To may be replaced
	Delete    bool   // the hunks must remove every line, and then the file goes
	Hunks     []Hunk
	InOrder   bool      // hunks follow each other in the file and are found by the context lines above them
	Match     MatchTier // the loosest way of matching that is permitted
	Exact     bool      // line ends are compared and written byte for byte
	MayCreate bool      // a missing file is made of the added lines
	Exec      *bool     // the executable bit that the file gets; nil keeps it
	WasExec   *bool     // the one that the reply believes it has
	Blobs     [2]string // object ids, maybe abbreviated, that the file has before and after, as the reply believes
}

// Hunk is one place of a patch.
type Hunk struct {
	Contexts []string // lines that stand somewhere above it, outermost first
	Lines    []HunkLine
	AtEnd    bool   // it ends with the last line of the file
	Line     int    // number of its first old line as the reply states it; 0 if it does not
	Counted  bool   // the counts of its header are right, so Line may be trusted
	Loose    int    // blank lines at its end that may not belong to it
	Header   string // as the reply wrote it
}

// HunkLine is a line of a hunk: ' ' stays, '-' goes, '+' comes. Text is without line end, but for a CR of the reply.
type HunkLine struct {
	Kind      byte
	Text      string
	NoNewline bool // it has no line end in the file
}

// Remove removes a file, a link or, if Recursive, a directory.
type Remove struct {
	Path      string
	Recursive bool
	Force     bool // a missing path is no failure
	EmptyDir  bool // an empty directory may be removed too
	OnlyDir   bool // anything but a directory is a failure
}

// Move renames From to To.
type Move struct {
	From, To  string
	Overwrite bool
	Into      bool // a To that is a directory, or ends in a slash, takes From inside it
	SameIsOK  bool // From and To may be the same
}

// Copy copies From to To.
type Copy struct {
	From, To  string
	Overwrite bool
	Recursive bool
	KeepLinks bool // copy a symbolic link as a link
	KeepMode  bool // a file that is overwritten keeps its own mode
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

// Read gives lines of a file as data; without Ranges all.
type Read struct {
	Path   string
	Ranges []LineRange
	Window bool // lines that the file does not have are no failure
}

// LineRange is the lines First to Last, counted from 1, both included; Last 0 is the end of the file.
type LineRange struct{ First, Last int }

// ReadNumbered gives lines with their numbers as data. Spec is N or N-M as the reply wrote it; "" is all.
type ReadNumbered struct {
	Path, Spec, Delimiter string
}

// ReadFiles gives the content of several files as data; it fails only if none can be read.
type ReadFiles struct{ Paths []string }

// List gives the entries of a directory as data.
type List struct{ Path string }

// Grep gives the lines below Path that Pattern matches, which is a regular expression (RE2) unless Literal.
type Grep struct {
	Path, Pattern string
	Literal       bool
	IgnoreCase    bool
	Include       string // a glob that the name must match, or the path below Path if it has a slash; "" is all
	OneFile       bool   // Path must be a file
	Most          int    // lines that are given back; 0 is the usual bound
}

// Glob gives the paths of files below Base that match Pattern, in which ** crosses directories.
type Glob struct{ Base, Pattern string }

// Run is one command line in a directory.
type Run struct {
	Command string
	Dir     string
}

// Exec is code in a programming language, to be run in a directory.
type Exec struct {
	Code, Language, Dir string
	Echo                bool // the data of the task has the code too
}

// NotDone is something that is named in the report and never carried out.
type NotDone struct {
	Text     string // what it was
	Why      string
	Hint     string
	As       string    // the op's name in reports
	Harmless bool      // leaving it out is no failure
	Fails    bool      // it is a failure of its own, not only left out
	Code     diag.Code // of the failure; "" is command_not_allowed
}

// Context changes or shows the list of files that person and model work on: Verb is add, remove, list, prune or clear.
type Context struct {
	Verb, Path string
}

// Expect says how many matches an edit needs.
type Expect struct {
	Count int  // exactly so many, if All is false
	All   bool // all of them, at least one
	None  bool // with All: no match is no failure either
}

// MatchTier is a way of comparing text, from strict to loose.
type MatchTier int

// The tiers.
const (
	Exact       MatchTier = iota
	Whitespace            // trailing blanks, then a uniform shift of the indentation
	Punctuation           // and typographic dashes, quotes and spaces taken for their ASCII forms
)

func (Write) Name() string        { return "write" }
func (Append) Name() string       { return "append" }
func (Edit) Name() string         { return "edit" }
func (EditSeries) Name() string   { return "edit" }
func (EditFiles) Name() string    { return "edit" }
func (EditRange) Name() string    { return "edit_range" }
func (EditLines) Name() string    { return "edit_lines" }
func (Insert) Name() string       { return "insert" }
func (Remove) Name() string       { return "remove" }
func (Move) Name() string         { return "move" }
func (Copy) Name() string         { return "copy" }
func (Mkdir) Name() string        { return "mkdir" }
func (Rmdir) Name() string        { return "rmdir" }
func (Touch) Name() string        { return "touch" }
func (Read) Name() string         { return "read" }
func (ReadNumbered) Name() string { return "read" }
func (ReadFiles) Name() string    { return "read" }
func (List) Name() string         { return "list" }
func (Grep) Name() string         { return "grep" }
func (Glob) Name() string         { return "glob" }
func (Run) Name() string          { return "run" }
func (Exec) Name() string         { return "exec" }
func (o NotDone) Name() string    { return o.As }
func (o Context) Name() string    { return "context_" + o.Verb }

// Name is that of what becomes of the file.
func (o Patch) Name() string {
	switch {
	case o.Delete:
		return "remove"
	case o.To == "":
		return "edit"
	case o.Copy:
		return "copy"
	}
	return "move"
}

// Names gives the names of all ops.
func Names() []string {
	return []string{
		"write", "append", "edit", "edit_range", "edit_lines", "insert", "remove", "move", "copy", "mkdir", "rmdir", "touch", "read", "list",
		"grep", "glob", "run", "exec", "context_add", "context_remove", "context_list", "context_prune", "context_clear",
	}
}

func (Write) sealed()        {}
func (Append) sealed()       {}
func (Edit) sealed()         {}
func (EditSeries) sealed()   {}
func (EditFiles) sealed()    {}
func (EditRange) sealed()    {}
func (EditLines) sealed()    {}
func (Insert) sealed()       {}
func (Remove) sealed()       {}
func (Move) sealed()         {}
func (Copy) sealed()         {}
func (Mkdir) sealed()        {}
func (Rmdir) sealed()        {}
func (Touch) sealed()        {}
func (Read) sealed()         {}
func (ReadNumbered) sealed() {}
func (ReadFiles) sealed()    {}
func (List) sealed()         {}
func (Grep) sealed()         {}
func (Glob) sealed()         {}
func (Run) sealed()          {}
func (Exec) sealed()         {}
func (NotDone) sealed()      {}
func (Context) sealed()      {}
func (Patch) sealed()        {}
