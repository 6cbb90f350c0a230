package txn

import (
	"io/fs"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/git-clada/git-clada/internal/apply"
)

// Plain is a directory without a repository: files are changed, nothing is recorded.
type Plain struct{ root *root }

// OpenPlain opens a directory.
func OpenPlain(dir string) (*Plain, error) {
	root, err := openRoot(dir, nil)
	if err != nil {
		return nil, cannotWrite(err)
	}
	return &Plain{root}, nil
}

// Close ends the use of the directory.
func (p *Plain) Close() { p.root.close() }

// Tree gives the directory for a plan to read.
func (p *Plain) Tree() *Tree { return &Tree{root: p.root} }

// Write makes changes, each file whole. If one fails, those before it are put back.
func (p *Plain) Write(changes []apply.Change) error {
	t := &Tx{root: p.root, contents: map[string][]byte{}}
	memory := map[string][]byte{}
	for _, c := range changes {
		f := FileChange{Path: string(c.Path)}
		for n, to := range map[*apply.Node]*FileState{c.Before: &f.Before, c.After: &f.After} {
			s, data, err := t.plainState(n)
			if err != nil {
				return err
			}
			*to = s
			memory[s.Blob] = data
		}
		if !f.Before.same(f.After) {
			t.staged = append(t.staged, f)
		}
	}
	t.contents = memory
	t.journal = &journal{ID: "plain"}
	err := t.writeStaged()
	if err == nil {
		return nil
	}
	for i := len(t.written) - 1; i >= 0; i-- {
		p.root.put(t.written[i].Reversed(), tempName(t.journal), t.content)
	}
	return err
}

func (t *Tx) plainState(n *apply.Node) (FileState, []byte, error) {
	if n == nil {
		return FileState{}, nil, nil
	}
	if n.Kind == apply.Dir {
		return FileState{Mode: typeDir | uint32(n.Perm)}, nil, nil
	}
	data := n.Data
	if n.From != "" {
		var err error
		if data, err = t.root.read(string(n.From)); err != nil {
			return FileState{}, nil, cannotWrite(err)
		}
	}
	kind := uint32(typeFile | uint32(n.Perm))
	if n.Kind == apply.Symlink {
		kind = typeLink | 0o777
	}
	return FileState{Mode: kind, Blob: blobName(data)}, data, nil
}

var readUmask = sync.OnceValue(func() fs.FileMode {
	m := unix.Umask(0)
	unix.Umask(m)
	return fs.FileMode(m) & 0o777
})

// Umask gives the umask of the process.
func Umask() fs.FileMode { return readUmask() }
