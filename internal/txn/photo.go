package txn

import (
	"context"
	"sync"

	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/repo"
)

// State is a state of a repository as far as we touch it.
type State struct {
	Head     repo.Head           `json:"head"`
	Refs     map[string]repo.OID `json:"refs,omitempty"` // the branches that the operation moved; "" does not exist
	Index    repo.OID            `json:"index"`          // the tree of the index
	Flags    []repo.IndexFlag    `json:"flags,omitempty"`
	WorkTree repo.OID            `json:"worktree"` // tracked and untracked files as git would store them
}

// Photo is a State with what it was taken from.
type Photo struct {
	State
	HeadTree repo.OID
	Scan     *repo.Scan
	LeftOut  []string // untracked files above the caps
}

// Dirty gives the number of files that differ between HEAD and the working tree.
func (p *Photo) Dirty(s *repo.Store) (int, error) {
	if p.WorkTree == p.HeadTree {
		return 0, nil
	}
	diff, err := s.Diff(p.HeadTree, p.WorkTree)
	return len(diff), err
}

// Photograph records the state of a repository. What the index and the working tree have beyond HEAD is stored as
// objects; a dry store keeps them in memory.
func Photograph(ctx context.Context, r *repo.Repo) (*Photo, error) {
	var wg sync.WaitGroup
	p := &Photo{}
	var headErr error
	wg.Go(func() {
		if headErr = r.Objects.Start(); headErr == nil {
			p.Head, headErr = r.FirstHead(ctx)
		}
		if headErr == nil && !p.Head.Unborn() {
			p.HeadTree, headErr = r.Objects.Resolve(string(p.Head.OID) + "^{tree}")
		}
	})
	err := p.lookAtFiles(ctx, r)
	wg.Wait()
	if err == nil {
		err = headErr
	}
	if err != nil {
		return nil, err
	}
	if p.Index, err = p.Scan.Index.WriteTree(r.Objects); err != nil {
		return nil, err
	}
	if p.WorkTree, err = r.Objects.Overlay(p.Index, p.Scan.Changes()); err != nil {
		return nil, err
	}
	if p.HeadTree == "" {
		p.HeadTree, err = r.Objects.WriteTree(nil)
	}
	return p, err
}

func (p *Photo) lookAtFiles(ctx context.Context, r *repo.Repo) error {
	x, err := r.ReadIndex(ctx)
	if err != nil {
		return err
	}
	if conflicts := x.Conflicts(); len(conflicts) > 0 {
		return diag.New(diag.GitOperationFailed, "the index has unresolved conflicts: %s", some(conflicts)).
			WithHint("resolve them, git add the files, then try again")
	}
	if p.Scan, err = r.Scan(ctx, x); err != nil {
		return err
	}
	p.Flags = x.Flags()
	p.LeftOut = p.Scan.LeftOut
	return nil
}

// some writes the first names of a list.
func some(names []string) string {
	const most = 3
	text := ""
	for i, n := range names {
		if i == most {
			return text + " and others"
		}
		if i > 0 {
			text += ", "
		}
		text += n
	}
	return text
}

// Ready refuses states of a repository in which nothing of ours may start.
func Ready(r *repo.Repo) error {
	if name, end := r.InProgress(); name != "" {
		return diag.New(diag.GitOperationFailed, "%s is in progress", name).WithHint("end it first: %s", end)
	}
	return r.CheckIndexLock()
}
