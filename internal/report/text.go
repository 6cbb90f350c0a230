package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/txn"
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

// printer writes one report.
type printer struct {
	*Report
	Style
	w       io.Writer
	section string
}

// Text writes the report for people.
func Text(w io.Writer, r *Report, s Style) {
	p := &printer{Report: r, Style: s, w: w}
	p.tasks()
	p.warn()
	p.summary()
	p.git()
}

func (p *printer) printf(format string, args ...any) { fmt.Fprintf(p.w, format, args...) }

// tasks writes results and parse problems in document order.
func (p *printer) tasks() {
	problems := p.problems()
	next := 0
	upTo := func(line int) {
		for ; next < len(problems) && problems[next].BlockStart < line; next++ {
			p.problem(&problems[next])
		}
	}
	for i := range p.Results {
		upTo(p.Results[i].Task.Span.Start)
		p.result(&p.Results[i])
	}
	upTo(1 << 60)
}

func (p *printer) head(group int) {
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

func (p *printer) result(r *apply.Result) {
	if p.Quiet && (r.Status == apply.OK || r.Status == apply.Unchanged) {
		return
	}
	p.head(r.Task.Group)
	tag := fmt.Sprintf("[task-%d]", r.Task.Seq)
	switch r.Status {
	case apply.Failed:
		p.failure(tag, r.Err)
		p.source(r.Task.Span)
	case apply.Skipped:
		p.skipped(tag, r)
	default:
		p.printf("%s %s %s%s\n", tag, p.paint(green, "✓"), Did(r), p.fenced(r.Task))
		if r.Hint != "" {
			p.hint(&diag.Error{Hint: r.Hint})
		}
		p.data(r)
	}
}

// skipped says what was not done, and why if that was not a failure above.
func (p *printer) skipped(tag string, r *apply.Result) {
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
func (p *printer) data(r *apply.Result) {
	for line := range strings.SplitSeq(strings.TrimSuffix(Shown(r.Data), "\n"), "\n") {
		if line != "" {
			p.printf("%s%s\n", indent, Line(strings.TrimSuffix(line, "\r")))
		}
	}
}

// Shown gives data of a task as text for people.
func Shown(data any) string {
	var b strings.Builder
	switch d := data.(type) {
	case apply.ReadData:
		return d.Content
	case apply.ReadManyData:
		for i, content := range d.Content {
			fmt.Fprintf(&b, "== %s\n%s\n", d.Paths[i], strings.TrimSuffix(content, "\n"))
		}
		for _, e := range d.Errors {
			fmt.Fprintf(&b, "== %s\n%s\n", e.Path, e.Error)
		}
	case map[string]any:
		if content, ok := d["content"].(string); ok {
			return content
		}
		if removed, ok := d["removed"].([]string); ok {
			return strings.Join(removed, "\n")
		}
	case []apply.Listed:
		for _, e := range d {
			slash := ""
			if e.Type == "directory" {
				slash = "/"
			}
			fmt.Fprintf(&b, "%9d  %s%s\n", e.Size, e.Name, slash)
		}
	case []apply.FoundLine:
		for _, f := range d {
			fmt.Fprintf(&b, "%s:%d: %s\n", f.File, f.Line, f.Text)
		}
	case []apply.ContextEntry:
		for _, e := range d {
			fmt.Fprintf(&b, "%9d  %s\n", e.Size, e.Path)
		}
	case []string:
		return strings.Join(d, "\n")
	}
	return b.String()
}

// subject says what a task is about: its path, or the command.
func subject(r *apply.Result) string {
	switch op := r.Task.Op.(type) {
	case batch.Run:
		return Line(clip(op.Command))
	case batch.Exec:
		return Line(clip(op.Code))
	}
	return Line(r.Path)
}

func clip(s string) string {
	const most = 60
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}

// fenced marks, in a dry run, what came out of a markdown fence.
func (p *printer) fenced(t *batch.Task) string {
	if p.DryRun && t.Fenced {
		return " (from a fence)"
	}
	return ""
}

// Did says what a task did.
func Did(r *apply.Result) string {
	if r.AlreadyApplied {
		return "Already applied: " + Line(r.Path)
	}
	if len(r.Did) == 0 {
		if w := r.Task.Words; w != nil {
			if text, ok := batch.Render(w.Done, "unchanged", map[string]any{"path": Line(r.Path)}); ok {
				return text
			}
		}
		return "Unchanged " + Line(r.Path)
	}
	parts := make([]string, len(r.Did))
	for i, e := range r.Did {
		parts[i] = worded(r, e)
	}
	return strings.Join(parts, ", ")
}

// worded says what an effect was, in the words of the task's dialect if it has any.
func worded(r *apply.Result, e apply.Effect) string {
	if w := r.Task.Words; w != nil {
		facts := map[string]any{"path": Line(string(e.Path)), "to": Line(string(e.To)), "bytes": plural(e.Bytes, "byte")}
		for name, value := range r.Facts {
			if _, known := facts[name]; !known {
				facts[name] = value
			}
		}
		if text, ok := batch.Render(w.Done, e.Verb, facts); ok {
			return text + noted(r.Match)
		}
	}
	return effect(e, r.Match)
}

// noted is what is added to a message about an edit: a tier that is not exact.
func noted(m *apply.Match) string {
	if m == nil || m.Tier == "exact" || m.Tier == "" {
		return ""
	}
	return " (" + m.Tier + ")"
}

func effect(e apply.Effect, m *apply.Match) string {
	path := Line(string(e.Path))
	switch e.Verb {
	case "created":
		return fmt.Sprintf("Created %s (%s)", path, plural(e.Bytes, "byte"))
	case "overwrote":
		return fmt.Sprintf("Overwrote %s (%s)", path, plural(e.Bytes, "byte"))
	case "appended":
		return fmt.Sprintf("Appended %s to %s", plural(e.Bytes, "byte"), path)
	case "edited":
		return fmt.Sprintf("Edited %s (%s)", path, matches(m))
	case "inserted":
		return fmt.Sprintf("Inserted into %s (%s)", path, matches(m))
	case "mode":
		return "Changed the mode of " + path
	case "removed", "removed-directory":
		if e.Files > 0 {
			return fmt.Sprintf("Removed %s (%s)", path, plural(e.Files, "file"))
		}
		return "Removed " + path
	case "listed-context":
		return fmt.Sprintf("The context has %s", plural(e.Files, "file"))
	case "prune-context":
		return fmt.Sprintf("Pruned the context (%s)", plural(e.Files, "file"))
	case "clear-context":
		return fmt.Sprintf("Cleared the context (%s)", plural(e.Files, "file"))
	case "joined-context":
		return "Added " + path + " to the context"
	case "left-context":
		return "Removed " + path + " from the context"
	case "moved":
		if e.Over {
			return "Moved " + path + " → " + Line(string(e.To)) + ", overwrote it"
		}
		return "Moved " + path + " → " + Line(string(e.To))
	case "copied":
		return "Copied " + path + " → " + Line(string(e.To))
	case "created-directory":
		return "Created directory " + path
	case "touched":
		return "Touched " + path
	case "read":
		return fmt.Sprintf("Read %s (%s)", path, plural(e.Bytes, "byte"))
	case "listed":
		return "Listed " + path
	case "found":
		return fmt.Sprintf("Found %d in %s", e.Bytes, path)
	}
	return e.Verb + " " + path
}

func matches(m *apply.Match) string {
	if m == nil {
		return "1 place"
	}
	tier := ""
	if m.Tier != "exact" {
		tier = ", " + m.Tier
	}
	if m.Moved != 0 {
		tier += fmt.Sprintf(", moved by %+d", m.Moved)
	}
	for _, note := range m.Notes {
		tier += ", " + note
	}
	if len(m.Ends) == 0 {
		noun := "matches"
		if m.Count == 1 {
			noun = "match"
		}
		return fmt.Sprintf("%d %s, %s%s", m.Count, noun, apply.Lines(m.Lines), tier)
	}
	const most = 10
	var spans []string
	for i := range m.Ends[:min(len(m.Ends), most)] {
		if m.Lines[i] == m.Ends[i] {
			spans = append(spans, fmt.Sprint(m.Lines[i]))
		} else {
			spans = append(spans, fmt.Sprintf("%d-%d", m.Lines[i], m.Ends[i]))
		}
	}
	if more := len(m.Ends) - len(spans); more > 0 {
		spans = append(spans, fmt.Sprintf("+%d more", more))
	}
	return fmt.Sprintf("%s, lines %s%s", plural(m.Count, "range"), strings.Join(spans, ", "), tier)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

const indent = "         "

func (p *printer) failure(tag string, e *diag.Error) {
	if e.Worded {
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
	p.printf("%s %s\n", tag, p.paint(red, fmt.Sprintf("✗ Error: %s%s (%s)", e.Code, where, Line(e.Message))))
	p.hint(e)
}

func (p *printer) hint(e *diag.Error) {
	if e.Hint != "" {
		for line := range strings.SplitSeq(Block(e.Hint), "\n") {
			p.printf("%s%s\n", indent, line)
		}
	}
	if p.Detail == Debug && e.Err != nil {
		p.printf("%scause: %s\n", indent, Line(e.Err.Error()))
	}
}

func (p *printer) problem(e *diag.Problem) {
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
func (p *printer) source(span batch.Span) {
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

func (p *printer) warn() {
	warnings := p.warnings()
	if len(warnings) == 0 {
		return
	}
	p.printf("\n")
	for _, w := range warnings {
		where := ""
		if w.Pos.Line > 0 {
			where = fmt.Sprintf("line %d: ", w.Pos.Line)
		}
		p.printf("%s %s%s [%s]\n", p.paint(yellow, "warning:"), where, Line(w.Message), w.Code)
	}
}

func (p *printer) summary() {
	if p.nothingFound() != nil {
		return
	}
	if p.Refused {
		p.printf("\n%s: nothing was changed, since it is in doubt where the blocks of this reply end\n", p.paint(red, "refused"))
		return
	}
	tallies := p.tallies()
	if p.Quiet || len(tallies) == 0 {
		return
	}
	var succeeded, tasks int
	for _, t := range tallies {
		succeeded += t.succeeded
		tasks += t.tasks
	}
	p.printf("\n%s\nOverall: %d/%d tasks succeeded\n", p.paint(bold, "=== Summary ==="), succeeded, tasks)
	for _, t := range tallies {
		name := "Standalone"
		if t.group > 0 {
			name = fmt.Sprintf("Block %d", t.group)
		}
		mark := p.paint(green, "✓")
		if !t.ok() {
			mark = p.paint(red, "✗")
		}
		if t.malformed && t.group > 0 {
			p.printf("%s: malformed %s\n", name, mark)
			continue
		}
		p.printf("%s: %d/%d tasks succeeded %s\n", name, t.succeeded, t.tasks, mark)
	}
}

// git writes the paragraph on what was recorded and what to do next.
func (p *printer) git() {
	if p.Quiet || p.Refused || len(p.Results) == 0 {
		return
	}
	switch {
	case p.DryRun:
		p.printf("\nNothing was changed: this was a dry run.\n")
		if p.tree() != "" {
			p.printf("apply would make the tree %s.\n", p.tree())
		}
	case p.Undone:
		p.printf("\nNothing was changed: a task failed, and --atomic puts everything back.\n")
	case p.NoGit:
		p.printf("\nFiles were changed without git: nothing was recorded, and there is no undo.\n")
	case p.AlreadyApplied():
		p.printf("\nEverything was in place already: nothing was committed.\n")
	case p.Receipt == nil || p.Receipt.Op == nil || p.Receipt.Op.NoOp:
		p.printf("\nNo file was changed: nothing was committed.\n")
	default:
		p.recorded(p.Receipt)
	}
	p.leftOut(p.Receipt)
}

func (p *printer) recorded(r *txn.Receipt) {
	switch {
	case r.Branch == "":
		p.printf("\nOnly files that git does not track were changed: nothing was committed.\n")
	case r.Post == "":
		p.printf("\nThe changes are staged on the branch %s; git commit records them.\n", Line(r.Branch))
	default:
		p.printf("\nCommitted %s on the branch %s, batch %s.\n", r.Post.Short(), Line(r.Branch), p.ID)
		if r.Base != "" {
			p.printf("Your branch %s did not move.\n", Line(r.Base))
		}
		p.printf("  look:    git clada show -p\n  accept:  git clada accept\n  undo:    git clada undo\n")
		return
	}
	p.printf("  undo:    git clada undo\n")
}

func (p *printer) leftOut(r *txn.Receipt) {
	if r == nil {
		return
	}
	if len(r.Ignored) > 0 {
		p.printf("Ignored by git, so changed but not committed: %s\n", list(r.Ignored))
	}
	if len(r.LeftOut) > 0 {
		p.printf("Too large for the snapshot, left as they are: %s\n", list(r.LeftOut))
	}
}

func list(paths []string) string {
	const most = 5
	shown := make([]string, 0, most)
	for _, p := range paths[:min(len(paths), most)] {
		shown = append(shown, Line(p))
	}
	s := strings.Join(shown, ", ")
	if more := len(paths) - len(shown); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// Failure writes an error that ended the command, as git writes its own.
func Failure(w io.Writer, e *diag.Error, s Style) {
	fmt.Fprintf(w, "%s %s [%s]\n", s.paint(red, "error:"), Block(e.Message), e.Code)
	if e.Hint != "" {
		for line := range strings.SplitSeq(Block(e.Hint), "\n") {
			fmt.Fprintf(w, "%s %s\n", s.paint(yellow, "hint:"), line)
		}
	}
	if s.Detail == Debug && e.Err != nil {
		fmt.Fprintf(w, "cause: %s\n", Block(e.Err.Error()))
	}
}
