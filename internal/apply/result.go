package apply

import (
	"time"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// Status is what became of a task.
type Status string

// The statuses.
const (
	OK        Status = "ok"
	Failed    Status = "failed"
	Skipped   Status = "skipped"
	Unchanged Status = "unchanged"
)

// Result is the outcome of one task.
type Result struct {
	Task           *batch.Task
	Op             string // the op that was carried out: for RUN rm it is "remove"
	Path           string // relative to the top; as the reply wrote it where it could not be made so
	Status         Status
	AlreadyApplied bool // the result was already in place
	Err            *diag.Error
	Hint           string // what to know about a task that succeeded
	Did            []Effect
	Match          *Match
	Data           any
	Facts          map[string]any // what the dialect's words may mention
	ExitsClean     bool           // a skipped task that is no failure
	Run            *Run           // of a command that was started
	Unsure         bool           // in a rehearsal: a command that may change something, and was not run
	Unknown        int            // in a rehearsal: the command that comes first and was not run, so the outcome may differ; else 0
}

// Run is what became of a command.
type Run struct {
	Class    string // on what ground it ran: builtin or approved
	Argv     []string
	Dir      string // relative to the top
	Shell    bool   // run by a shell
	Approval string // the text that a person approved
	Exit     int    // -1 if it did not exit by itself
	Signal   string // that ended it
	TimedOut bool
	Duration time.Duration

	Stdout, Stderr string
	Lines          []string // of both, in the order in which they came
	Truncated      bool
	Bytes          int64  // that it wrote
	Sum            string // SHA-256 of what was kept, standard output first
	Leftover       int    // processes that were still alive when it had ended
	Confined       string // which confinement was in force, in words

	Changed               []PathChange // in the working tree
	TreeBefore, TreeAfter string       // object ids, where they are known
}

// PathChange is a path that a command changed: A, M, D, R or T, as git names it.
type PathChange struct {
	Path   string `json:"path"`
	Status string `json:"status"`
}

// Effect is one thing that a task did.
type Effect struct {
	Verb  string // created, overwrote, appended, edited, removed, moved, copied, created-directory, touched, read, listed, found
	Path  batch.Path
	To    batch.Path // of a move or copy
	Bytes int        // written
	Files int        // removed, of a directory
	Over  bool       // something that was there went
}

// Match says where an edit found its text.
type Match struct {
	Tier    string
	Count   int
	Lines   []int // first line of each match, counted before the task
	Ends    []int // last line of each range
	Divider int   // line of the reply that divided the edit, where there was a choice
	Moved   int   // how far the only hunk of a patch stood from where the reply believed it
	Notes   []string
}
