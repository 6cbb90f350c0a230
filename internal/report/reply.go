package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// Reply writes what to paste back to the model: what failed, why, and the nearest text, nothing else.
func Reply(w io.Writer, r *Report) error {
	var b strings.Builder
	done, asked := 0, len(r.problems())
	for i := range r.Results {
		if r.Results[i].ExitsClean {
			continue
		}
		asked++
		if s := r.Results[i].Status; s == apply.OK || s == apply.Unchanged {
			done++
		}
	}
	if r.Success() {
		fmt.Fprintf(&b, "All %d tasks succeeded.\n", done)
		_, err := io.WriteString(w, b.String())
		return err
	}
	fmt.Fprintf(&b, "%d of %d tasks succeeded. Send corrected blocks for these only:\n", done, asked)
	for _, p := range r.problems() {
		fmt.Fprintf(&b, "\nLine %d of your reply: %s: %s\n", p.Pos.Line, p.Code, Line(p.Message))
		replyHint(&b, p.Error)
	}
	for i := range r.Results {
		res := &r.Results[i]
		switch res.Status {
		case apply.Failed:
			fmt.Fprintf(&b, "\nTask %d (%s %s, line %d of your reply): %s: %s\n",
				res.Task.Seq, res.Task.Action, subject(res), res.Task.Span.Start, res.Err.Code, Line(res.Err.Message))
			replyHint(&b, res.Err)
			replyOutput(&b, res.Run)
		case apply.Skipped:
			if res.ExitsClean {
				continue
			}
			if out, ok := res.Task.Op.(batch.NotDone); ok {
				fmt.Fprintf(&b, "\nTask %d: %s\n", res.Task.Seq, Line(clip(out.Text)))
				continue
			}
			fmt.Fprintf(&b, "\nTask %d (%s %s) was skipped, since an earlier task of its block failed.\n", res.Task.Seq, res.Task.Action, subject(res))
		}
	}
	if r.Fatal != nil {
		fmt.Fprintf(&b, "\n%s: %s\n", r.Fatal.Code, Line(r.Fatal.Message))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// replyOutput shows the end of what a failed command wrote.
func replyOutput(b *strings.Builder, run *apply.Run) {
	const most = 50
	if run == nil || len(run.Lines) == 0 {
		return
	}
	lines := run.Lines
	if cut := len(lines) - most; cut > 0 {
		fmt.Fprintf(b, "  (%d more lines of output before)\n", cut)
		lines = lines[cut:]
	}
	for _, line := range lines {
		b.WriteString("  | " + commandLine(line) + "\n")
	}
}

func replyHint(b *strings.Builder, e *diag.Error) {
	if e.Hint == "" {
		return
	}
	for line := range strings.SplitSeq(Block(e.Hint), "\n") {
		b.WriteString("  " + line + "\n")
	}
}
