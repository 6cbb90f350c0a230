package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// Detail says how much the text report tells about failures.
type Detail int

// The details.
const (
	Minimal Detail = iota
	Full           // and the lines of the reply
	Debug          // and causes
)

// Style is how text is written.
type Style struct {
	Color  bool
	Detail Detail
	Quiet  bool // only what failed
}

const (
	green  = "\x1b[32m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	bold   = "\x1b[1m"
	reset  = "\x1b[0m"
)

func (s Style) paint(color, text string) string {
	if !s.Color {
		return text
	}
	return color + text + reset
}

// Printer writes one report, at once or while it comes about.
type Printer struct {
	*Report
	Style
	w       io.Writer
	section string
	results int          // that are written
	problem int          // the next one to write
	heard   map[int]bool // tasks whose output was written while it came
}

// NewPrinter makes a printer for a report of which, until Finish, only Batch and List need be known.
func NewPrinter(w io.Writer, r *Report, s Style) *Printer {
	return &Printer{Report: r, Style: s, w: w, heard: map[int]bool{}}
}

// Text writes a report for people.
func Text(w io.Writer, r *Report, s Style) { NewPrinter(w, r, s).Finish(r) }

// Until writes the first results, as far as they are not written yet.
func (p *Printer) Until(results []apply.Result) {
	for ; p.results < len(results); p.results++ {
		r := &results[p.results]
		p.problemsBefore(r.Task.Span.Start)
		p.result(r)
	}
}

// Output writes a line that a task's command has written.
func (p *Printer) Output(t *batch.Task, line string) {
	if p.Quiet {
		return
	}
	p.problemsBefore(t.Span.Start)
	p.head(t.Group)
	p.heard[t.Seq] = true
	p.printf("[task-%d:exec] %s\n", t.Seq, commandLine(line))
}

// Finish writes what is left of a report that is complete now.
func (p *Printer) Finish(r *Report) {
	p.Report = r
	p.Until(r.Results)
	p.problemsBefore(1 << 60)
	p.warn()
	p.summary()
	if r.Fatal == nil { // which is said elsewhere
		p.git()
	}
}

func (p *Printer) printf(format string, args ...any) { fmt.Fprintf(p.w, format, args...) }

// problemsBefore writes the blocks that did not parse and stand before a line of the reply.
func (p *Printer) problemsBefore(line int) {
	for problems := p.problems(); p.problem < len(problems) && problems[p.problem].BlockStart < line; p.problem++ {
		p.parseProblem(&problems[p.problem])
	}
}

func (p *Printer) head(group int) {
	section := "=== Standalone ==="
	if group > 0 {
		section = fmt.Sprintf("=== Block %d ===", group)
	}
	if section == p.section {
		return
	}
	if p.section != "" {
		p.printf("\n")
	}
	p.section = section
	p.printf("%s\n", p.paint(bold, section))
}

func (p *Printer) result(r *apply.Result) {
	if p.Quiet && (r.Status == apply.OK || r.Status == apply.Unchanged) {
		return
	}
	p.head(r.Task.Group)
	tag := fmt.Sprintf("[task-%d]", r.Task.Seq)
	if r.Run != nil && !p.heard[r.Task.Seq] {
		for _, line := range r.Run.Lines {
			p.printf("[task-%d:exec] %s\n", r.Task.Seq, commandLine(line))
		}
	}
	switch r.Status {
	case apply.Failed:
		p.failure(tag, r.Err)
		p.commandEffects(r)
		p.source(r.Task.Span)
	case apply.Skipped:
		p.skipped(tag, r)
	default:
		p.printf("%s %s %s%s\n", tag, p.paint(green, "✓"), Did(r), p.aside(r))
		p.commandEffects(r)
		if r.Hint != "" {
			p.hint(&diag.Error{Hint: r.Hint})
		}
		p.data(r)
	}
}

// skipped says what was not done, and why if that was not a failure above.
func (p *Printer) skipped(tag string, r *apply.Result) {
	if out, ok := r.Task.Op.(batch.NotDone); ok {
		p.printf("%s %s\n", tag, p.paint(yellow, "- "+Line(clip(out.Text))))
		if r.Err != nil {
			p.hint(r.Err)
		}
		return
	}
	p.printf("%s %s\n", tag, p.paint(yellow, "- Skipped: "+r.Task.Action+" "+subject(r)))
}

// data shows what a task that only reads gave back.
func (p *Printer) data(r *apply.Result) {
	for line := range strings.SplitSeq(strings.TrimSuffix(Shown(r.Data), "\n"), "\n") {
		if line != "" {
			p.printf("%s%s\n", indent, Line(strings.TrimSuffix(line, "\r")))
		}
	}
}

// aside says, in a dry run, what came out of a markdown fence, and what is a guess since a command comes first.
func (p *Printer) aside(r *apply.Result) string {
	switch {
	case !p.DryRun:
		return ""
	case r.Unknown > 0:
		return fmt.Sprintf(" (if task %d leaves it so)", r.Unknown)
	case r.Task.Fenced:
		return " (from a fence)"
	}
	return ""
}

// commandEffects says what a command changed, and what is worth knowing about how it ran.
func (p *Printer) commandEffects(r *apply.Result) {
	if r.Run == nil {
		return
	}
	const most = 10
	for i, c := range r.Run.Changed {
		if i == most {
			p.printf("%sand %d more\n", indent, len(r.Run.Changed)-most)
			break
		}
		p.printf("%s%s %s\n", indent, c.Status, Line(c.Path))
	}
	if n := r.Run.Leftover; n > 0 && !r.Run.TimedOut {
		p.printf("%s%s that it had left behind %s ended\n", indent, counted(n, "process", "processes"), were(n))
	}
	if r.Run.Class == "approved" && r.Run.Confined != "" {
		p.printf("%s%s\n", indent, Line(r.Run.Confined))
	}
}

const indent = "         "

func (p *Printer) failure(tag string, e *diag.Error) {
	if e.Worded && e.Message != "" {
		lines := strings.Split(Block(e.Message), "\n")
		p.printf("%s %s\n", tag, p.paint(red, fmt.Sprintf("✗ Error: %s: %s", e.Code, lines[0])))
		for _, line := range lines[1:] {
			p.printf("%s%s\n", indent, line)
		}
		p.hint(e)
		return
	}
	where := ""
	if e.Path != "" {
		where = " in " + Line(e.Path)
	}
	message := e.Message
	if message == "" { // the dialect has no words for it; its exit status says it
		message = fmt.Sprintf("exit %v", e.Facts["status"])
	}
	p.printf("%s %s\n", tag, p.paint(red, fmt.Sprintf("✗ Error: %s%s (%s)", e.Code, where, Line(message))))
	p.hint(e)
}

func (p *Printer) hint(e *diag.Error) {
	if e.Hint != "" {
		for line := range strings.SplitSeq(Block(e.Hint), "\n") {
			p.printf("%s%s\n", indent, line)
		}
	}
	if p.Detail == Debug && e.Err != nil {
		p.printf("%scause: %s\n", indent, Line(e.Err.Error()))
	}
}

func (p *Printer) parseProblem(e *diag.Problem) {
	if e.BlockStart > 0 {
		p.head(e.Group)
	}
	p.printf("[line %d] %s\n", e.Pos.Line, p.paint(red, fmt.Sprintf("✗ Error: %s (%s)", e.Code, Line(e.Message))))
	p.hint(e.Error)
	if e.BlockEnd > 0 {
		p.source(batch.Span{Start: e.BlockStart, End: e.BlockEnd})
	}
}

// source shows the lines of the reply, where more detail was asked for.
func (p *Printer) source(span batch.Span) {
	const most = 20
	if p.Detail == Minimal {
		return
	}
	lines := strings.Split(string(p.Batch.Reply), "\n")
	for n := span.Start; n <= span.End && n <= len(lines); n++ {
		if n-span.Start == most {
			p.printf("%s%5d| ... (%d more lines)\n", indent, n, span.End-n+1)
			return
		}
		p.printf("%s%5d| %s\n", indent, n, Line(strings.TrimSuffix(lines[n-1], "\r")))
	}
}
