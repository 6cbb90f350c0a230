package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/txn"
)

// document is the report as JSON. Version counts changes that break readers.
type document struct {
	Version         int           `json:"version"`
	Success         bool          `json:"success"`
	TotalBlocks     int           `json:"totalBlocks"`
	ExecutedActions int           `json:"executedActions"`
	Results         []jsonResult  `json:"results"`
	ParseErrors     []jsonProblem `json:"parseErrors,omitempty"`
	Warnings        []jsonWarning `json:"warnings,omitempty"`
	Blocks          []jsonBlock   `json:"blocks,omitempty"`
	Batch           string        `json:"batch,omitempty"`
	DryRun          bool          `json:"dryRun"`
	Base            string        `json:"base,omitempty"`
	Branch          string        `json:"branch,omitempty"`
	PreCommit       string        `json:"preCommit,omitempty"`
	GitCommit       string        `json:"gitCommit,omitempty"`
	Tree            string        `json:"tree,omitempty"`
	Changed         []txn.Changed `json:"changed,omitempty"`
	LeftOut         []string      `json:"leftOut,omitempty"`
	Ignored         []string      `json:"ignored,omitempty"`
	FatalError      string        `json:"fatalError,omitempty"`
	Code            diag.Code     `json:"code,omitempty"`
	Hint            string        `json:"hint,omitempty"`
}

type jsonResult struct {
	Seq            int            `json:"seq"`
	Block          *int           `json:"block"`
	BlockID        string         `json:"blockId,omitempty"`
	Dialect        string         `json:"dialect"`
	Action         string         `json:"action"`
	Op             string         `json:"op"`
	Params         map[string]any `json:"params,omitempty"`
	Path           string         `json:"path,omitempty"`
	Span           jsonSpan       `json:"span"`
	Fenced         bool           `json:"fenced,omitempty"`
	Status         apply.Status   `json:"status,omitempty"`
	Success        *bool          `json:"success,omitempty"`
	AlreadyApplied bool           `json:"alreadyApplied,omitempty"`
	Code           diag.Code      `json:"code,omitempty"`
	Error          string         `json:"error,omitempty"`
	Hint           string         `json:"hint,omitempty"`
	Data           any            `json:"data,omitempty"`
	Match          *jsonMatch     `json:"match,omitempty"`
	Run            *jsonRun       `json:"run,omitempty"`
	Unknown        bool           `json:"unknown,omitempty"`
}

// jsonRun says how a command was run. What it wrote is in the data of its task.
type jsonRun struct {
	Class     string             `json:"class"`
	Argv      []string           `json:"argv"`
	Dir       string             `json:"dir,omitempty"`
	Shell     bool               `json:"shell"`
	Approval  string             `json:"approval,omitempty"`
	Exit      *int               `json:"exit,omitempty"`
	Signal    string             `json:"signal,omitempty"`
	TimedOut  bool               `json:"timedOut,omitempty"`
	Duration  float64            `json:"durationMs"`
	Bytes     int64              `json:"outputBytes"`
	Sum       string             `json:"outputSha256"`
	Truncated bool               `json:"truncated"`
	Leftover  int                `json:"leftover,omitempty"`
	Confined  string             `json:"confinement,omitempty"`
	Changed   []apply.PathChange `json:"changed,omitempty"`
}

func jsonOfRun(r *apply.Run) *jsonRun {
	if r == nil {
		return nil
	}
	j := &jsonRun{
		Class: r.Class, Argv: r.Argv, Dir: r.Dir, Shell: r.Shell, Approval: r.Approval, Signal: r.Signal, TimedOut: r.TimedOut,
		Duration: float64(r.Duration.Microseconds()) / 1000, Bytes: r.Bytes, Sum: r.Sum, Truncated: r.Truncated, Leftover: r.Leftover,
		Confined: r.Confined, Changed: r.Changed,
	}
	if r.Exit >= 0 {
		j.Exit = &r.Exit
	}
	return j
}

type jsonSpan struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

type jsonMatch struct {
	Tier    string `json:"tier"`
	Count   int    `json:"count"`
	Lines   []int  `json:"lines"`
	Ends    []int  `json:"ends,omitempty"`
	Divider int    `json:"divider,omitempty"`
}

type jsonProblem struct {
	BlockID    string    `json:"blockId,omitempty"`
	Dialect    string    `json:"dialect,omitempty"`
	ErrorType  diag.Kind `json:"errorType"`
	Code       diag.Code `json:"code"`
	Message    string    `json:"message"`
	Hint       string    `json:"hint,omitempty"`
	Line       int       `json:"line"`
	Column     int       `json:"column"`
	BlockStart int       `json:"blockStartLine,omitempty"`
	SyntaxCode string    `json:"syntaxCode,omitempty"`
	Action     string    `json:"action,omitempty"`
	Source     string    `json:"neslContent,omitempty"`
}

type jsonWarning struct {
	Dialect string `json:"dialect,omitempty"`
	BlockID string `json:"blockId,omitempty"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}

type jsonBlock struct {
	Index     int    `json:"index"`
	Status    string `json:"status"`
	Tasks     int    `json:"tasks"`
	Succeeded int    `json:"succeeded"`
	Skipped   int    `json:"skipped"`
}

// JSON writes the report as one JSON document.
func JSON(w io.Writer, r *Report) error { return Encode(w, r.document()) }

// Encode writes a value as indented JSON in which no character can deceive a terminal.
func Encode(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	var out bytes.Buffer
	for _, c := range b.String() {
		switch {
		case c == '\n' || !apply.Invisible(c):
			out.WriteRune(c)
		case c > 0xffff:
			c -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+c>>10, 0xdc00+c&0x3ff)
		default:
			fmt.Fprintf(&out, `\u%04x`, c)
		}
	}
	_, err := w.Write(out.Bytes())
	return err
}

func (r *Report) document() *document {
	d := &document{Version: 1, Success: r.Success(), Batch: r.ID, DryRun: r.DryRun, Results: []jsonResult{}}
	if r.Batch != nil {
		d.TotalBlocks = len(r.Batch.Groups) + r.Batch.Standalone()
		for i := range r.Results {
			res := jsonOf(r.Results[i].Task, r.Batch)
			res.outcome(&r.Results[i])
			d.Results = append(d.Results, res)
			if r.Results[i].Status != apply.Skipped {
				d.ExecutedActions++
			}
		}
		for _, t := range r.tallies() {
			if t.group > 0 {
				d.Blocks = append(d.Blocks, jsonBlock{t.group, t.status(), t.tasks, t.succeeded, t.skipped})
			}
		}
	}
	if nothing := r.nothingFound(); nothing != nil {
		// Success speaks of blocks, and there is none that failed; the exit status says that nothing was done.
		d.Success, d.FatalError, d.Code, d.Hint = true, nothing.Message, nothing.Code, nothing.Hint
		d.ParseErrors = nil
	} else {
		d.problems(r)
	}
	if r.Receipt != nil {
		rc := r.Receipt
		d.Base, d.Branch, d.PreCommit, d.GitCommit = rc.Base, rc.Branch, string(rc.Pre), string(rc.Post)
		d.Tree, d.Changed, d.LeftOut, d.Ignored = string(rc.Tree), rc.Changed, rc.LeftOut, rc.Ignored
	}
	if r.unknown() > 0 {
		d.Tree = "" // nobody can say what it will be
	}
	if r.Fatal != nil {
		d.FatalError, d.Code, d.Hint = r.Fatal.Message, r.Fatal.Code, r.Fatal.Hint
	}
	return d
}

// nothingFound gives what is said of a reply without any block.
func (r *Report) nothingFound() *diag.Error {
	if p := r.problems(); len(p) == 1 && p[0].NoBlock && p[0].Refuses {
		return p[0].Error
	}
	return nil
}

func (t tally) status() string {
	if t.ok() {
		return "success"
	}
	return "failed"
}

// problems adds parse errors and warnings. A malformed block outside a group counts as a block.
func (d *document) problems(r *Report) {
	for _, p := range r.problems() {
		d.ParseErrors = append(d.ParseErrors, jsonProblem{
			p.BlockID, p.Dialect, p.Kind, p.Code, p.Message, p.Hint, p.Pos.Line, p.Pos.Column, p.BlockStart,
			p.SyntaxCode, p.Action, p.Source,
		})
		if p.Group == 0 && p.BlockStart > 0 && !p.NoBlock {
			d.TotalBlocks++
		}
	}
	if r.List != nil {
		d.TotalBlocks += r.List.Lost
	}
	for _, w := range r.warnings() {
		d.Warnings = append(d.Warnings, jsonWarning{w.Dialect, w.BlockID, w.Code, w.Message, w.Pos.Line, w.Pos.Column})
	}
}

// jsonOf gives what is known of a task before it is carried out.
func jsonOf(t *batch.Task, b *batch.Batch) jsonResult {
	res := jsonResult{
		Seq: t.Seq, BlockID: t.ID, Dialect: t.Dialect, Action: t.Action, Op: t.Op.Name(), Path: batch.Target(t.Op),
		Span: jsonSpan{t.Span.Start, t.Span.End}, Fenced: t.Fenced,
	}
	if t.Group > 0 {
		res.Block = &t.Group
		if res.BlockID == "" {
			res.BlockID = b.Groups[t.Group-1].ID
		}
	}
	if len(t.Params) > 0 {
		res.Params = map[string]any{}
		for _, p := range t.Params {
			res.Params[p.Name] = p.Value
		}
	}
	return res
}

func (res *jsonResult) outcome(r *apply.Result) {
	ok := r.Status == apply.OK || r.Status == apply.Unchanged
	res.Op, res.Path, res.Status, res.Success, res.Data = r.Op, r.Path, r.Status, &ok, r.Data
	res.AlreadyApplied = r.AlreadyApplied && ok
	res.Run, res.Unknown = jsonOfRun(r.Run), r.Unknown > 0
	if r.Err != nil {
		res.Code, res.Error, res.Hint = r.Err.Code, r.Err.Message, r.Err.Hint
	}
	if res.Hint == "" {
		res.Hint = r.Hint
	}
	if m := r.Match; m != nil {
		res.Match = &jsonMatch{m.Tier, m.Count, m.Lines, m.Ends, m.Divider}
	}
}

// Parsed writes what was understood of a reply, without outcome.
func Parsed(w io.Writer, b *batch.Batch, list *diag.List) error {
	type group struct {
		Index     int      `json:"index"`
		ID        string   `json:"id,omitempty"`
		Dialect   string   `json:"dialect"`
		Span      jsonSpan `json:"span"`
		Malformed bool     `json:"malformed,omitempty"`
	}
	doc := struct {
		Version     int           `json:"version"`
		Success     bool          `json:"success"`
		Refused     bool          `json:"refused"`
		TotalBlocks int           `json:"totalBlocks"`
		Groups      []group       `json:"groups,omitempty"`
		Tasks       []jsonResult  `json:"tasks"`
		ParseErrors []jsonProblem `json:"parseErrors,omitempty"`
		Warnings    []jsonWarning `json:"warnings,omitempty"`
	}{Version: 1, Success: len(list.Problems) == 0, Refused: list.Refused(), Tasks: []jsonResult{}}
	for i, g := range b.Groups {
		doc.Groups = append(doc.Groups, group{i + 1, g.ID, g.Dialect, jsonSpan{g.Span.Start, g.Span.End}, g.Malformed})
	}
	for i := range b.Tasks {
		doc.Tasks = append(doc.Tasks, jsonOf(&b.Tasks[i], b))
	}
	d := &document{TotalBlocks: len(b.Groups) + b.Standalone()}
	d.problems(&Report{Batch: b, List: list})
	doc.TotalBlocks, doc.ParseErrors, doc.Warnings = d.TotalBlocks, d.ParseErrors, d.Warnings
	return Encode(w, doc)
}
