package main

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/runner"
	"github.com/git-clada/git-clada/internal/txn"
)

// barrier brings what was planned to the disk before a command starts, and finds out what it did.
type barrier interface {
	// before returns when what the plan has changed is on the disk. changing says that the command may change anything.
	before(ctx context.Context, c *apply.Command, changing bool) error
	// after finds what a command that may change anything has changed. A refusal stops the batch, an error ends it.
	after(ctx context.Context, run *apply.Run) (*diag.Error, error)
	inherit() []*os.File
}

// inTransaction is the barrier of a batch that is recorded.
type inTransaction struct {
	tx      *txn.Tx
	bracket *txn.Bracket
	moved   *txn.Found // not nil: a command moved HEAD or the branch
}

func (b *inTransaction) inherit() []*os.File { return b.tx.Repo.Inherit }

func (b *inTransaction) before(ctx context.Context, c *apply.Command, changing bool) (err error) {
	if err := b.tx.Stage(c.Changes); err != nil {
		return err
	}
	b.tx.Discard(c.Discard)
	if !changing {
		return b.tx.FlushStaged(ctx)
	}
	b.bracket, err = b.tx.Open(ctx, c.Text)
	return err
}

func (b *inTransaction) after(ctx context.Context, run *apply.Run) (*diag.Error, error) {
	found, err := b.tx.Shut(ctx, b.bracket)
	if err != nil {
		return nil, err
	}
	if found.Gone {
		return nil, diag.New(diag.ExternalModification, "the command removed the repository (.git)").
			WithHint("the files are as the command left them; nothing could be recorded, and nothing can be undone")
	}
	run.TreeBefore, run.TreeAfter = string(b.bracket.Tree), string(found.Tree)
	for _, c := range found.Changed {
		run.Changed = append(run.Changed, apply.PathChange{Path: c.Path, Status: c.Status})
	}
	if found.Moved(b.tx.Photo.Head) {
		b.moved = found
	}
	switch {
	case found.Unfinished != "":
		return diag.New(diag.ExternalModification, "the command left %s", found.Unfinished).
			WithHint("the batch stops here; end it, or give it up, before you go on"), nil
	case len(found.Repository) > 0:
		return diag.New(diag.ExternalModification, "the command changed the repository itself: %s", strings.Join(found.Repository, ", ")).
			WithHint("the batch stops here; look at what the command did before you go on"), nil
	case slices.ContainsFunc(found.Changed, func(c txn.Changed) bool { return strings.HasPrefix(c.Path, ".clada/") }):
		return diag.New(diag.ExternalModification, "the command changed the list of approved commands (%s)", runner.ApprovalsFile).
			WithHint("it approves nothing until you trust it: git clada allow list; the batch stops here"), nil
	case len(found.Unsaved) > 0:
		return diag.New(diag.ExternalModification, "the command changed files that are too large to be kept for undo: %s", strings.Join(found.Unsaved, ", ")).
			WithHint("the batch stops here; undo will leave these files as they are now"), nil
	}
	return nil, nil
}

// onPlainFiles is the barrier of a batch without a repository.
type onPlainFiles struct{ plain *txn.Plain }

func (b onPlainFiles) inherit() []*os.File { return nil }

func (b onPlainFiles) before(_ context.Context, c *apply.Command, _ bool) error {
	return b.plain.Write(c.Changes)
}

func (b onPlainFiles) after(context.Context, *apply.Run) (*diag.Error, error) { return nil, nil }
