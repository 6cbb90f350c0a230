package report

import (
	"fmt"
	"io"
	"strings"
	"time"

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

// commandLine makes a line of a command's output safe. Tabs stay, as blanks.
func commandLine(line string) string { return Line(strings.ReplaceAll(line, "\t", "    ")) }

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
		return Line(clip(firstLine(op.Command)))
	case batch.Exec:
		return op.Language + ": " + Line(clip(firstLine(op.Code)))
	}
	return Line(r.Path)
}

// firstLine gives the first line of a text, and marks that there are more.
func firstLine(s string) string {
	first, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if more {
		first = strings.TrimSuffix(first, "\r") + " ..."
	}
	return first
}

func clip(s string) string {
	const most = 60
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
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
		p.printf("%s%s that it had left behind %s ended\n", indent, plural2(n, "process", "processes"), were(n))
	}
	if r.Run.Class == "approved" && r.Run.Confined != "" {
		p.printf("%s%s\n", indent, Line(r.Run.Confined))
	}
}

func plural2(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func were(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// Ran says how a command ended: Ran npm test (exit 0, 1.2 s).
func Ran(r *apply.Result) string {
	return fmt.Sprintf("Ran %s (exit %d, %s)", subject(r), r.Run.Exit, Duration(r.Run.Duration))
}

// Duration writes a time span as people read it: 0.2 s, 3 min 5 s.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second && d%time.Second != 0:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
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
	switch {
	case r.Run != nil:
		return Ran(r)
	case len(r.Did) == 1 && r.Did[0].Verb == "would-run":
		return "Would run " + subject(r)
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

func (p *Printer) warn() {
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

func (p *Printer) summary() {
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
func (p *Printer) git() {
	if p.Quiet || p.Refused || len(p.Results) == 0 {
		return
	}
	switch {
	case p.DryRun:
		p.printf("\nNothing was changed: this was a dry run.\n")
		if n := p.unknown(); n > 0 {
			p.printf("Commands were not run: what comes after task %d depends on what it does.\n", n)
		} else if p.tree() != "" {
			p.printf("apply would make the tree %s.\n", p.tree())
		}
	case p.Undone && p.Started:
		p.printf("\nA task failed, and --atomic put the files back. What commands did outside the tree, and to ignored files, stays.\n")
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

func (p *Printer) recorded(r *txn.Receipt) {
	switch {
	case r.Moved:
		p.printf("\nA command moved HEAD or the branch itself: nothing was committed here, and what it made stands.\n")
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
		p.outside()
		return
	}
	p.printf("  undo:    git clada undo\n")
	p.outside()
}

// outside says what undo cannot take back.
func (p *Printer) outside() {
	if p.Started && p.approvedRan() {
		p.printf("Undo takes back what commands changed in the tree; not what git ignores, nor anything outside.\n")
	}
}

func (p *Printer) leftOut(r *txn.Receipt) {
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
