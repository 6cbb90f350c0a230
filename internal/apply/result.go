package apply

import (
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
