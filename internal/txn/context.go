package txn

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/repo"
)

// Context is the working context of a repository: the files that person and model work on. It is a list under the git
// directory, not in the tree, shared by all its working trees. It implements apply.Context.
//
// Changes are made in memory. Save makes them again on what the file then holds, so that nobody else's are lost.
type Context struct {
	dir   string
	paths []string // in order of adding
	edits []contextEdit
}

type contextEdit struct {
	path string
	add  bool
}

// contextFile is the list as it is stored. V counts changes that break readers.
type contextFile struct {
	V     int      `json:"v"`
	Paths []string `json:"paths"`
}

// OpenContext reads the working context of a repository.
func OpenContext(r *repo.Repo) (*Context, error) {
	c := &Context{dir: filepath.Join(r.Common, "clada")}
	err := c.read()
	return c, err
}

func (c *Context) file() string { return filepath.Join(c.dir, "context.json") }

func (c *Context) read() error {
	data, err := os.ReadFile(c.file())
	if errors.Is(err, fs.ErrNotExist) {
		c.paths = nil
		return nil
	}
	if err != nil {
		return cannotWrite(err)
	}
	var f contextFile
	if err := json.Unmarshal(data, &f); err != nil || f.V != 1 {
		return diag.Wrap(err, diag.GitOperationFailed, "the working context cannot be read").
			WithHint("look at %s, or remove it to start with an empty one", c.file())
	}
	c.paths = f.Paths
	return nil
}

// Paths gives the files, relative to the top, in order of adding.
func (c *Context) Paths() []string { return c.paths }

// Add puts a path at the end, unless it is there.
func (c *Context) Add(path string) {
	if !slices.Contains(c.paths, path) {
		c.paths = append(slices.Clone(c.paths), path)
		c.edits = append(c.edits, contextEdit{path, true})
	}
}

// Remove takes a path out and reports whether it was there.
func (c *Context) Remove(path string) bool {
	i := slices.Index(c.paths, path)
	if i < 0 {
		return false
	}
	c.paths = slices.Delete(slices.Clone(c.paths), i, i+1)
	c.edits = append(c.edits, contextEdit{path, false})
	return true
}

// Save stores the changes, waiting up to patience for another process that stores its own.
func (c *Context) Save(ctx context.Context, patience time.Duration) error {
	if len(c.edits) == 0 {
		return nil
	}
	held, _, err := lock(ctx, filepath.Join(c.dir, "context.lock"), patience)
	if err != nil {
		return err
	}
	defer held.Close()
	edits := c.edits
	if err := c.read(); err != nil {
		return err
	}
	for _, e := range edits {
		if e.add {
			c.Add(e.path)
		} else {
			c.Remove(e.path)
		}
	}
	c.edits = nil
	data, err := json.MarshalIndent(contextFile{V: 1, Paths: append([]string{}, c.paths...)}, "", "  ")
	if err != nil {
		return err
	}
	if err := writeSynced(c.file(), append(data, '\n')); err != nil {
		return cannotWrite(err)
	}
	return nil
}
