package parse

import (
	"strconv"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
)

// markersForm writes the markers dialect. Runs of marker characters are made longer than any in the content, so nothing
// in the content can be taken for structure.
type markersForm struct{ run string }

func newMarkersForm(b *batch.Batch) *markersForm {
	return &markersForm{strings.Repeat("<", formatRun(b))}
}

func (f *markersForm) group(out *strings.Builder, tasks func() error) error {
	out.WriteString(f.run + " TASKS\n")
	if err := tasks(); err != nil {
		return err
	}
	out.WriteString(strings.Repeat(">", len(f.run)) + " TASKS\n")
	return nil
}

func (f *markersForm) task(out *strings.Builder, t *batch.Task) error {
	return formatTask(out, f.run, t.Op)
}

// formatRun gives a run length that no content has.
func formatRun(b *batch.Batch) int {
	longest := minRun - 1
	for i := range b.Tasks {
		for _, text := range textsOf(b.Tasks[i].Op) {
			longest = max(longest, longestRun(text))
		}
	}
	return longest + 1
}

// textsOf gives the texts of an op that stand in the content of its block.
func textsOf(op batch.Op) []string {
	switch o := op.(type) {
	case batch.Write:
		return []string{o.Content}
	case batch.Append:
		return []string{o.Content}
	case batch.Run:
		return []string{o.Command}
	case batch.Edit:
		return []string{o.Splits[0].Old, o.Splits[0].New}
	case batch.EditRange:
		return []string{o.Start, o.Splits[0].Old, o.Splits[0].New}
	}
	return nil
}

func longestRun(s string) int {
	longest, run := 0, 0
	for i := 0; i < len(s); i++ {
		if s[i] != '<' && s[i] != '>' && s[i] != '=' {
			run = 0
			continue
		}
		if i > 0 && s[i] != s[i-1] {
			run = 0
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

func formatTask(out *strings.Builder, run string, op batch.Op) error {
	end := strings.Repeat(">", len(run))
	div := strings.Repeat("=", len(run))
	switch o := op.(type) {
	case batch.Write:
		if o.Mode != batch.Any {
			return ErrNoForm
		}
		formatWrite(out, run, end, o.Path, "", o.Content)
	case batch.Append:
		if !o.FreshLine {
			return ErrNoForm
		}
		formatWrite(out, run, end, o.Path, ` append="true"`, o.Content)
	case batch.Run:
		out.WriteString(run + " RUN" + optional("dir", o.Dir) + "\n" + asLine(o.Command) + end + " END\n")
	case batch.Edit:
		if len(o.Splits) != 1 {
			return ErrNoForm
		}
		out.WriteString(run + " SEARCH" + optional("path", o.Path) + formatCount(o.Expect) + "\n")
		out.WriteString(asLine(o.Splits[0].Old) + div + "\n" + formatNew(o.Splits[0]) + end + " REPLACE\n")
	case batch.EditRange:
		if len(o.Splits) != 1 {
			return ErrNoForm
		}
		out.WriteString(run + " SEARCH-START" + optional("path", o.Path) + formatCount(o.Expect) + "\n")
		out.WriteString(asLine(o.Start) + run + " SEARCH-END\n")
		out.WriteString(asLine(o.Splits[0].Old) + div + "\n" + formatNew(o.Splits[0]) + end + " REPLACE\n")
	default:
		return ErrNoForm
	}
	return nil
}

func formatWrite(out *strings.Builder, run, end, path, extra, content string) {
	if content != "" && !strings.HasSuffix(content, "\n") {
		extra += ` final-newline="false"`
		content = asLine(content)
	}
	out.WriteString(run + " WRITE" + optional("path", path) + extra + "\n" + content + end + " END\n")
}

func formatNew(s batch.Split) string {
	if s.NoNew {
		return ""
	}
	return asLine(s.New)
}

// asLine ends a text with the line end that is dropped again when it is read: a CR before a plain LF would go with it.
func asLine(text string) string {
	if strings.HasSuffix(text, "\r") {
		return text + "\r\n"
	}
	return text + "\n"
}

func formatCount(e batch.Expect) string {
	if e.All {
		return ` count="all"`
	}
	if e.Count == 1 {
		return ""
	}
	return ` count="` + strconv.Itoa(e.Count) + `"`
}

func optional(name, value string) string {
	if value == "" {
		return ""
	}
	return " " + name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}
