package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/txn"
)

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
