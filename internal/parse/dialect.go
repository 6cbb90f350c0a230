package parse

import "github.com/git-clada/git-clada/internal/diag"

// dialect is one syntax of blocks. A dialect is a file or a few; the registry is the only place that names it.
type dialect interface {
	// name is the dialect's name on the command line and in reports.
	name() string
	// openers are examples of its openers, for "no blocks found".
	openers() []string
}

// lineDialect is a dialect whose blocks open at the start of a line.
type lineDialect interface {
	dialect
	// open looks for a block (or a near miss that refuses the reply) at line i. If there is one, it adds what it read
	// to the scan and gives the first line behind it.
	open(s *scan, i int) (next int, ok bool)
}

// inlineDialect is a dialect of tags: its blocks may also open directly behind another block.
type inlineDialect interface {
	dialect
	// openAt looks for a block at offset off of the view, which may hold one. It gives the offset behind it.
	openAt(s *scan, off int) (end int, ok bool)
	// stray looks at text outside blocks, on one line, that may be the rest of a block which ended too early.
	stray(s *scan, lo, hi int) bool
}

// fenceDialect is a dialect in which a fence itself may be a block.
type fenceDialect interface {
	dialect
	openFence(s *scan, i int) (next int, ok bool)
}

// finisher is a dialect that has something to do when the whole reply has been read.
type finisher interface{ finish(s *scan) }

// registry holds the dialects in the order in which they are tried at each place.
var registry = []dialect{markers{}, cml{}, tags{}, sham{}, aider{}, v4a{}, patch{}}

// The codes of warnings.
const (
	NearMiss       = "NEAR_MISS"       // looks like an opener or closer and is read as prose or content
	UnclosedThink  = "UNCLOSED_THINK"  // <think> without </think>: the rest is read
	ReasoningAbove = "REASONING_ABOVE" // </think> without <think>
	UnknownElement = "UNKNOWN_ELEMENT" // an unknown operation is skipped
	SameTwice      = "SAME_TWICE"      // two tasks are identical
	TextInGroup    = "TEXT_IN_GROUP"   // text between the tasks of a group is ignored
	Alias          = "ALIAS"           // another name for a part of an operation
	WrongCloser    = "WRONG_CLOSER"    // an operation is closed by the tag of another
	ConflictMarks  = "CONFLICT_MARKERS"
)

func (s *scan) warn(dialect, code string, line int, message string) {
	s.list.Warnings = append(s.list.Warnings, diag.Warning{
		Dialect: dialect, Code: code, Pos: diag.Pos{Line: line, Column: 1}, Message: message,
	})
}
