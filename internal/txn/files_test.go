package txn

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

var (
	file = FileState{Mode: typeFile | 0o644, Blob: blobName([]byte("x"))}
	dir  = FileState{Mode: typeDir | 0o755}
	none = FileState{}
)

// TestOrder: changes come in an order in which each can be made, and so do they when turned round.
func TestOrder(t *testing.T) {
	for name, changes := range map[string][]FileChange{
		"a directory with files goes":     {{"d", dir, none}, {"d/a", file, none}, {"d/e", dir, none}, {"d/e/b", file, none}},
		"a file becomes a directory":      {{"p", file, dir}, {"p/q", none, file}},
		"a directory becomes a file":      {{"p", dir, file}, {"p/q", file, none}, {"p/r", dir, none}},
		"deep and new":                    {{"a/b/c", none, file}, {"a/b", none, dir}, {"a", none, dir}},
		"moved over what is removed":      {{"x", file, none}, {"y", dir, none}, {"y/x", file, none}, {"z", none, file}},
		"a link in the place of a folder": {{"p", dir, FileState{Mode: typeLink | 0o777, Blob: file.Blob}}, {"p/q", file, none}},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			r, err := openRoot(top, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer r.close()
			content := func(string) ([]byte, error) { return []byte("x"), nil }
			back := make([]FileChange, len(changes))
			for i, c := range changes {
				back[i] = c.Reversed()
			}
			// Bring the tree into the first state, then there and back again.
			var start []FileChange
			for _, c := range changes {
				start = append(start, FileChange{Path: c.Path, After: c.Before})
			}
			for _, step := range [][]FileChange{start, changes, back, changes} {
				for _, c := range order(step) {
					if c.Before.same(c.After) {
						continue
					}
					if err := r.put(c, "tmp", content); err != nil {
						t.Fatal(err)
					}
				}
				for _, c := range step {
					now, err := r.state(c.Path)
					if err != nil || !now.same(c.After) {
						t.Fatalf("%s is %+v (%v), want %+v", c.Path, now, err, c.After)
					}
				}
			}
		})
	}
}

// TestNoWayThroughLinks: nothing is read or written through a symbolic link, wherever it points.
func TestNoWayThroughLinks(t *testing.T) {
	top, outside := t.TempDir(), t.TempDir()
	for name, target := range map[string]string{"out": outside, "in": "real", "dots": "..", "git": ".git"} {
		if err := os.Symlink(target, filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{"real", ".git"} {
		if err := os.Mkdir(filepath.Join(top, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := openRoot(top, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	for _, link := range []string{"out", "in", "dots", "git"} {
		if _, err := r.read(link + "/secret"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("read through %s: %v", link, err)
		}
		err := r.put(FileChange{Path: link + "/new", After: file}, "tmp", func(string) ([]byte, error) { return []byte("x"), nil })
		if err == nil {
			t.Errorf("written through %s", link)
		}
		err = r.put(FileChange{Path: link + "/secret", Before: file}, "tmp", nil)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("removing through %s: %v", link, err)
		}
	}
	if names, _ := filepath.Glob(outside + "/*"); len(names) != 1 || strings.HasSuffix(names[0], "new") {
		t.Errorf("outside there is now %v", names)
	}
}

// TestFIFO: a FIFO is neither waited on nor read.
func TestFIFO(t *testing.T) {
	top := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(top, "pipe"), 0o666); err != nil {
		t.Skip("no FIFO can be made here: " + err.Error())
	}
	r, err := openRoot(top, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	if _, err := r.read("pipe"); err == nil {
		t.Error("a FIFO was read")
	}
}

// TestJournalSquash: a path that was changed at several barriers is taken back to its first state in one step.
func TestJournalSquash(t *testing.T) {
	other := FileState{Mode: typeFile | 0o644, Blob: "2"}
	last := FileState{Mode: typeFile | 0o644, Blob: "3"}
	back := orderBatches(
		[]FileChange{{"a", file, other}, {"b", none, file}, {"a", other, last}},
		[]FileChange{{"a", other, file}, {"b", file, none}, {"a", last, other}})
	if got := fmt.Sprint(back); got != fmt.Sprint(order([]FileChange{{"a", last, file}, {"b", file, none}})) {
		t.Errorf("got %s", got)
	}
}
