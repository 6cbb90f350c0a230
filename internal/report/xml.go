package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/diag"
)

// XML writes the CML result document. Its index attributes count from 0.
func XML(w io.Writer, r *Report) error {
	var b strings.Builder
	var tasks, succeeded, failed, skipped int
	for _, t := range r.tallies() {
		tasks += t.tasks
		succeeded += t.succeeded
		failed += t.failed
		skipped += t.skipped
	}
	fmt.Fprintf(&b, `<result blocks="%d" tasks="%d" succeeded="%d" failed="%d"`, len(r.Batch.Groups), tasks, succeeded, failed)
	if skipped > 0 {
		fmt.Fprintf(&b, ` skipped="%d"`, skipped)
	}
	b.WriteString(">\n")
	for _, t := range r.tallies() {
		if t.group > 0 {
			r.xmlBlock(&b, t)
		}
	}
	for i := range r.Results {
		if res := &r.Results[i]; res.Task.Group == 0 && !res.ExitsClean {
			xmlTask(&b, "  ", res, true)
		}
	}
	for _, p := range r.problems() {
		if p.Group == 0 {
			xmlProblem(&b, "  ", &p)
		}
	}
	if r.Fatal != nil {
		fmt.Fprintf(&b, "  <error type=\"%s\">%s</error>\n", r.Fatal.Code, xmlText(r.Fatal.Message))
	}
	b.WriteString("</result>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) xmlBlock(b *strings.Builder, t tally) {
	fmt.Fprintf(b, `  <block index="%d" status="%s" tasks="%d"`, t.group-1, t.status(), t.tasks)
	if t.ok() {
		b.WriteString("/>\n")
		return
	}
	b.WriteString(">\n")
	for i := range r.Results {
		if res := &r.Results[i]; res.Task.Group == t.group {
			xmlTask(b, "    ", res, false)
		}
	}
	for _, p := range r.problems() {
		if p.Group == t.group {
			xmlProblem(b, "    ", &p)
		}
	}
	b.WriteString("  </block>\n")
}

// xmlTask writes one task; successful tasks of a group are not listed.
func xmlTask(b *strings.Builder, indent string, r *apply.Result, all bool) {
	switch r.Status {
	case apply.Failed:
		fmt.Fprintf(b, "%s<task index=\"%d\" status=\"error\"><error type=\"%s\">%s</error></task>\n",
			indent, r.Task.Seq-1, r.Err.Code, xmlText(capital(r.Err.Message)))
	case apply.Skipped:
		fmt.Fprintf(b, "%s<task index=\"%d\" status=\"skipped\"/>\n", indent, r.Task.Seq-1)
	default:
		if all {
			fmt.Fprintf(b, "%s<task index=\"%d\" status=\"success\"/>\n", indent, r.Task.Seq-1)
		}
	}
}

func xmlProblem(b *strings.Builder, indent string, p *diag.Problem) {
	fmt.Fprintf(b, "%s<error type=\"%s\" line=\"%d\">%s</error>\n", indent, p.Code, p.Pos.Line, xmlText(capital(p.Message)))
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func xmlText(s string) string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(Line(s)))
	return b.String()
}
