// Package notes is the codec of the note lines that say what a batch did.
//
// A note is lines of JSON, each complete in itself. Their order means nothing and equal lines are one, so notes survive
// concatenation, sorting and squashing. Version 1 is the only one so far; lines of other versions are kept and skipped.
package notes

import (
	"bytes"
	"encoding/json"
	"sort"
)

// The refs that notes live under.
const (
	Ref      = "refs/notes/clada"       // on post commits: lines
	InputRef = "refs/notes/clada-input" // on the blob of a reply: the reply itself
)

// Line is one line: of a batch (Kind "batch") or of one of its tasks.
type Line struct {
	V     int    `json:"v"`
	Batch string `json:"batch"`
	Kind  string `json:"kind,omitempty"`
	Task  int    `json:"task,omitempty"`
	Block int    `json:"block,omitempty"`
	Op    string `json:"op,omitempty"`
	Path  string `json:"path,omitempty"`
	// Command is the text of a RUN, as the reply has it.
	Command string `json:"command,omitempty"`
	Run     *Run   `json:"run,omitempty"`
	Status  string `json:"status,omitempty"`
	Code    string `json:"code,omitempty"`
	Span    *Span  `json:"span,omitempty"`
	Match   *Match `json:"match,omitempty"`
	Before  string `json:"before,omitempty"` // blob ids
	After   string `json:"after,omitempty"`

	// of a batch
	Time  string `json:"time,omitempty"`
	Input string `json:"input,omitempty"`
	Pre   string `json:"pre,omitempty"`
	Tasks int    `json:"tasks,omitempty"`
	Model string `json:"model,omitempty"`
	Tool  string `json:"tool,omitempty"`
}

// Run says how a command ran.
type Run struct {
	Class      string   `json:"class"` // builtin or approved
	Argv       []string `json:"argv"`
	Dir        string   `json:"dir,omitempty"`
	Shell      bool     `json:"shell,omitempty"`
	Approval   string   `json:"approval,omitempty"` // SHA-256 of the text that a person approved
	Exit       *int     `json:"exit,omitempty"`     // absent if it did not exit by itself
	Signal     string   `json:"signal,omitempty"`
	TimedOut   bool     `json:"timedOut,omitempty"`
	DurationMS int64    `json:"durationMs"`
	Bytes      int64    `json:"outputBytes"`  // that it wrote
	Sum        string   `json:"outputSha256"` // of what was kept, standard output first
	Truncated  bool     `json:"truncated,omitempty"`
	Confined   string   `json:"confinement,omitempty"`
	Before     string   `json:"treeBefore,omitempty"` // the working tree before and after it, as objects of the repository
	After      string   `json:"treeAfter,omitempty"`
}

// Span is where a task stands in the reply, in lines.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Match says how an edit matched.
type Match struct {
	Tier    string `json:"tier"`
	Lines   []int  `json:"lines"`
	Divider int    `json:"divider,omitempty"`
}

// Version is the version of lines that this package writes.
const Version = 1

// Encode writes lines as the text of a note: sorted, without doubles.
func Encode(lines []Line) ([]byte, error) {
	texts := make([][]byte, 0, len(lines))
	for _, l := range lines {
		l.V = Version
		text, err := json.Marshal(l)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return join(texts), nil
}

// Merge gives the union of two notes.
func Merge(a, b []byte) []byte {
	return join(append(bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))...))
}

func join(lines [][]byte) []byte {
	sort.Slice(lines, func(i, j int) bool { return bytes.Compare(lines[i], lines[j]) < 0 })
	var out bytes.Buffer
	var last []byte
	for _, l := range lines {
		if len(l) > 0 && !bytes.Equal(l, last) {
			out.Write(l)
			out.WriteByte('\n')
			last = l
		}
	}
	return out.Bytes()
}

// Decode reads the lines of a note that it understands, batches first, then tasks by number.
func Decode(note []byte) []Line {
	var lines []Line
	for text := range bytes.Lines(note) {
		var l Line
		if json.Unmarshal(text, &l) == nil && l.V == Version && l.Batch != "" {
			lines = append(lines, l)
		}
	}
	sort.SliceStable(lines, func(i, j int) bool {
		a, b := lines[i], lines[j]
		if a.Batch != b.Batch {
			return a.Batch < b.Batch
		}
		if (a.Kind == "batch") != (b.Kind == "batch") {
			return a.Kind == "batch"
		}
		return a.Task < b.Task
	})
	return lines
}
