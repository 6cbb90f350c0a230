package txn

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/notes"
	"github.com/git-clada/git-clada/internal/repo"
)

// noteLines gives the note of a batch: a line of its own and one for each task.
func noteLines(rec Record, op *Op, files []FileChange) []notes.Line {
	lines := []notes.Line{{
		Batch: rec.ID, Kind: "batch", Time: op.timeText(), Input: string(op.Input), Pre: string(op.Pre), Tasks: len(rec.Results),
		Model: rec.Model, Tool: rec.Tool,
	}}
	states := make(map[string]FileChange, len(files))
	for _, f := range files {
		states[f.Path] = f
	}
	for i := range rec.Results {
		r := &rec.Results[i]
		l := notes.Line{
			Batch: rec.ID, Task: r.Task.Seq, Block: r.Task.Group, Op: r.Op, Path: r.Path, Status: string(r.Status),
			Span: &notes.Span{Start: r.Task.Span.Start, End: r.Task.Span.End},
		}
		if run, ok := r.Task.Op.(batch.Run); ok {
			l.Command = run.Command
		}
		if code, ok := r.Task.Op.(batch.Exec); ok {
			first, _, _ := strings.Cut(strings.TrimSpace(code.Code), "\n")
			l.Command = code.Language + ": " + first
		}
		l.Run = noteOfRun(r.Run)
		if r.Err != nil {
			l.Code = string(r.Err.Code)
		}
		if r.Match != nil {
			l.Match = &notes.Match{Tier: r.Match.Tier, Lines: r.Match.Lines, Divider: r.Match.Divider}
		}
		if f, ok := states[r.Path]; ok && r.Status == apply.OK {
			l.Before, l.After = f.Before.Blob, f.After.Blob
		}
		lines = append(lines, l)
	}
	return lines
}

func noteOfRun(r *apply.Run) *notes.Run {
	if r == nil {
		return nil
	}
	n := &notes.Run{
		Class: r.Class, Argv: r.Argv, Dir: r.Dir, Shell: r.Shell, Signal: r.Signal, TimedOut: r.TimedOut, DurationMS: r.Duration.Milliseconds(),
		Bytes: r.Bytes, Sum: r.Sum, Truncated: r.Truncated, Confined: r.Confined, Before: r.TreeBefore, After: r.TreeAfter,
	}
	if r.Exit >= 0 {
		n.Exit = &r.Exit
	}
	if r.Approval != "" {
		sum := sha256.Sum256([]byte(r.Approval))
		n.Approval = hex.EncodeToString(sum[:])
	}
	return n
}

// commandTrees gives the trees before and after each command, so that the log keeps them.
func commandTrees(results []apply.Result) []repo.OID {
	var trees []repo.OID
	for i := range results {
		if run := results[i].Run; run != nil && run.TreeAfter != "" {
			trees = append(trees, repo.OID(run.TreeBefore), repo.OID(run.TreeAfter))
		}
	}
	return distinct(trees)
}
