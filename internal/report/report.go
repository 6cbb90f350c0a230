// Package report renders what became of a batch: as text for people, as JSON, as the XML result document, and as the
// short form to paste back to the model. All four render one value, and none of them has an effect.
package report

import (
	"sort"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/repo"
	"github.com/git-clada/git-clada/internal/txn"
)

// Report is what became of a batch.
type Report struct {
	Batch    *batch.Batch
	ID       string
	List     *diag.List
	Results  []apply.Result
	Warnings []diag.Warning // of carrying out; those of parsing are in List
	DryRun   bool
	NoGit    bool
	Refused  bool // the reply was refused: nothing was tried
	Undone   bool // --atomic: a failure put everything back
	Started  bool // a command was run

	Interrupted bool // the person ended it while a command ran; what was done until then is recorded
	Receipt     *txn.Receipt
	Fatal       *diag.Error
}

// Success reports whether everything that the reply asks for was done.
func (r *Report) Success() bool {
	if r.Fatal != nil || r.Refused || (r.List != nil && len(r.List.Problems) > 0) {
		return false
	}
	for i := range r.Results {
		if s := r.Results[i].Status; s == apply.Failed || s == apply.Skipped && !r.Results[i].ExitsClean {
			return false
		}
	}
	return true
}

// ExitStatus gives the exit status of the process: 0 all done, 1 something failed or was refused, 128 cannot work here.
func (r *Report) ExitStatus() int {
	switch {
	case r.Fatal != nil && r.Fatal.Code.Fatal():
		return 128
	case r.Success():
		return 0
	}
	return 1
}

// AlreadyApplied reports whether every task found its result in place.
func (r *Report) AlreadyApplied() bool {
	for i := range r.Results {
		if !r.Results[i].AlreadyApplied && r.Results[i].Status != apply.Unchanged {
			return false
		}
	}
	return len(r.Results) > 0 && r.Success()
}

func (r *Report) warnings() []diag.Warning {
	var all []diag.Warning
	if r.List != nil {
		all = append(all, r.List.Warnings...)
	}
	all = append(all, r.Warnings...)
	sort.SliceStable(all, func(i, j int) bool { return all[i].Pos.Line < all[j].Pos.Line })
	return all
}

func (r *Report) problems() []diag.Problem {
	if r.List == nil {
		return nil
	}
	return r.List.Problems
}

// tally is the outcome of a group, or of the standalone tasks.
type tally struct {
	group                             int
	tasks, succeeded, failed, skipped int
	malformed                         bool
}

func (t tally) ok() bool { return !t.malformed && t.succeeded == t.tasks }

// tallies counts the groups in order, and the standalone tasks last if there are any.
func (r *Report) tallies() []tally {
	counts := make([]tally, len(r.Batch.Groups)+1)
	for i, g := range r.Batch.Groups {
		counts[i] = tally{group: i + 1, malformed: g.Malformed}
	}
	last := len(counts) - 1
	for i := range r.Results {
		at := last
		if g := r.Results[i].Task.Group; g > 0 {
			at = g - 1
		}
		counts[at].tasks++
		switch r.Results[i].Status {
		case apply.OK, apply.Unchanged:
			counts[at].succeeded++
		case apply.Failed:
			counts[at].failed++
		case apply.Skipped:
			if r.Results[i].ExitsClean {
				counts[at].tasks--
				continue
			}
			counts[at].skipped++
		}
	}
	for _, p := range r.problems() {
		if p.Group == 0 && p.BlockStart > 0 && !p.NoBlock {
			counts[last].malformed = true
		}
	}
	if counts[last].tasks == 0 && !counts[last].malformed {
		counts = counts[:last]
	}
	return counts
}

// unknown gives the first command of a dry run that what comes after it depends on, 0 if there is none.
func (r *Report) unknown() int {
	for i := range r.Results {
		if r.Results[i].Unsure {
			return r.Results[i].Task.Seq
		}
	}
	return 0
}

// approvedRan reports whether a command ran that may have changed anything.
func (r *Report) approvedRan() bool {
	for i := range r.Results {
		if run := r.Results[i].Run; run != nil && run.Class == "approved" {
			return true
		}
	}
	return false
}

// tree gives the object that changed paths add up to.
func (r *Report) tree() repo.OID {
	if r.Receipt == nil {
		return ""
	}
	return r.Receipt.Tree
}
