package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/batch"
)

// commandLine makes a line of a command's output safe. Tabs stay, as blanks.
func commandLine(line string) string { return Line(strings.ReplaceAll(line, "\t", "    ")) }

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

func counted(n int, one, many string) string {
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
