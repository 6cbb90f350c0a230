package main

import (
	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/report"
	"github.com/git-clada/git-clada/internal/review"
)

// showChanges writes the difference that a plan makes.
func showChanges(s *session, changes []apply.Change, tree apply.Tree) error {
	for _, c := range changes {
		a, err := side(c.Before, tree)
		if err != nil {
			return err
		}
		b, err := side(c.After, tree)
		if err != nil {
			return err
		}
		if !a.Exists && !b.Exists {
			continue // a directory
		}
		s.printf("%s", report.Block(review.Unified(string(c.Path), a, b)))
	}
	s.printf("\n")
	return nil
}

func side(n *apply.Node, tree apply.Tree) (review.Side, error) {
	if n == nil || (n.Kind != apply.Regular && n.Kind != apply.Symlink) {
		return review.Side{}, nil
	}
	data := n.Data
	if n.From != "" {
		var err error
		if data, err = tree.Read(batch.Path(n.From)); err != nil {
			return review.Side{}, err
		}
	}
	return review.Side{Exists: true, Exec: n.Perm&0o100 != 0, Link: n.Kind == apply.Symlink, Data: data}, nil
}
