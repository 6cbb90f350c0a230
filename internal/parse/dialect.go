package parse

import "github.com/git-clada/git-clada/internal/diag"

// dialect is one syntax of blocks. A dialect is a file: it adds itself to the registry and nothing else knows it.
type dialect interface {
	// name is the dialect's name on the command line and in reports.
	name() string
	// openers are examples of its openers, for "no blocks found".
	openers() []string
	// open looks for a block (or a near miss that refuses the reply) at line i. If there is one, it adds what it read
	// to the scan and gives the first line behind it.
	open(s *scan, i int) (next int, ok bool)
}

// registry holds the dialects in the order in which they are tried at each line.
var registry = []dialect{markers{}}

// The codes of warnings.
const (
	NearMiss       = "NEAR_MISS"       // looks like an opener or closer and is read as prose or content
	UnclosedThink  = "UNCLOSED_THINK"  // <think> without </think>: the rest is read
	ReasoningAbove = "REASONING_ABOVE" // </think> without <think>
	UnknownElement = "UNKNOWN_ELEMENT" // an unknown operation is skipped
	SameTwice      = "SAME_TWICE"      // two tasks are identical
	ConflictMarks  = "CONFLICT_MARKERS"
)

func (s *scan) warn(dialect, code string, line int, message string) {
	s.list.Warnings = append(s.list.Warnings, diag.Warning{
		Dialect: dialect, Code: code, Pos: diag.Pos{Line: line, Column: 1}, Message: message,
	})
}
