package apply

import (
	"io/fs"
	"time"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// Kind is the type of a directory entry.
type Kind int

// The kinds.
const (
	Regular Kind = iota
	Dir
	Symlink
	Submodule // a directory with a repository of its own: never entered
	Special   // FIFO, socket or device: neither read nor written
)

// Entry is what a tree knows about a path without reading it.
type Entry struct {
	Name string
	Kind Kind
	Perm fs.FileMode // permission bits only
	Size int64       // in bytes; for a regular file
	Time time.Time   // of the last change
}

// Tree is a tree of files that is read. A path that does not exist gives an error that is fs.ErrNotExist. Symbolic
// links are never followed: Lstat describes the link, and Read of a link gives its target.
type Tree interface {
	Lstat(path batch.Path) (Entry, error)
	Read(path batch.Path) ([]byte, error)
	// List gives the entries of a directory, sorted by name, without any .git.
	List(path batch.Path) ([]Entry, error)
}

// Node is a file, link or directory as a change knows it.
type Node struct {
	Kind Kind
	Perm fs.FileMode
	Data []byte     // content, or the target of a link; nil where From says where it is
	From batch.Path // the path of the original tree that has this content, untouched
	Size int64
	Time time.Time // of the last change, where it is known
}

// Change is what a path was and what it becomes; nil is "nothing there".
type Change struct {
	Path          batch.Path
	Before, After *Node
}

// Changeset is the outcome of a plan.
type Changeset struct {
	Changes  []Change     // sorted by path
	Discards []batch.Path // ignored files and directories that go for good, with everything in them
	Results  []Result     // one per task, in order
	Failed   int          // tasks that failed or were skipped
	Warnings []diag.Warning
}

// Options say how a batch is carried out. The zero value is the default.
type Options struct {
	Atomic      bool
	MaxFileSize int64                        // bytes; 0 means DefaultMaxFileSize
	MaxOutput   int64                        // most bytes that a read gives back; 0 means DefaultMaxOutput
	Root        string                       // absolute paths below it mean the top
	TopDir      string                       // the absolute path of the top: absolute paths below it are accepted
	Dir         string                       // relative paths are relative to this directory of the tree
	Guard       func(batch.Path) *diag.Error // refuses paths that may not be written
	Actions     []string                     // names of actions and ops that a reply may use; nil allows all
	NoRun       bool                         // refuse every command
	FoldsCase   bool                         // the file system takes names that differ in case for the same
	Umask       fs.FileMode                  // taken from the permissions of what is created
	Now         time.Time                    // what files that were changed have as their time
	Ignored     func(batch.Path) bool        // git ignores it; nil ignores nothing
	Context     Context                      // the working context; nil if there is none
	Blob        func(prefix string) bool     // the repository has an object with this id; nil has none
	Unkept      func(batch.Path) bool        // git has no copy of the file: it is untracked; nil keeps everything
	Discard     bool                         // what git ignores may be removed for good where it is too large to be kept for undo
	Everything  bool                         // plan also what stands behind a failure in its block: for a look at all commands
	Programs    Programs                     // what starts programs; nil refuses them
}

// Context is the list of files that person and model work on, as a plan sees it. Changes are kept by whoever carries
// the plan out.
type Context interface {
	Paths() []string
	Add(path string)
	Remove(path string) bool
}

// Caps of what is kept for undo of files that git has no copy of, in bytes.
const (
	MaxKeptFile = 10 << 20
	MaxKept     = 256 << 20
)

// DefaultMaxOutput is the most that a read gives back, in bytes.
const DefaultMaxOutput = 10_000_000

// DefaultMaxFileSize is the largest file that is edited, read or written, in bytes.
const DefaultMaxFileSize = 10_000_000
