package repo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Sign is what a repository consists of besides objects, index and working tree, as far as a command has no business to
// change it: HEAD, branches and tags, configuration, hooks. Each part has a name and a value that changes with it.
// Remote-tracking branches are left out, since fetching is harmless, and so are our own refs.
type Sign map[string]string

// signedFiles are the files below the common git directory that say what git does.
var signedFiles = []string{"config", "info/attributes", "info/exclude", "info/grafts", "objects/info/alternates", "shallow"}

// Sign looks at the repository. ErrGone says that there is none any more.
func (r *Repo) Sign(ctx context.Context) (Sign, error) {
	if _, err := os.Lstat(filepath.Join(r.Dir, "HEAD")); err != nil {
		return nil, ErrGone
	}
	s := Sign{"HEAD": digest(filepath.Join(r.Dir, "HEAD")), "config.worktree": digest(filepath.Join(r.Dir, "config.worktree"))}
	s["clada/trusted-commands.json"] = digest(filepath.Join(r.Common, "clada", "trusted-commands.json"))
	for _, name := range signedFiles {
		s[name] = digest(filepath.Join(r.Common, name))
	}
	hooks := filepath.Join(r.Common, "hooks")
	filepath.WalkDir(hooks, func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			s["hooks/"+strings.TrimPrefix(file, hooks+"/")] = digest(file)
		}
		return nil // a directory that cannot be read has no hook that runs
	})
	out, err := r.run(ctx, nil, "for-each-ref", "--format=%(refname) %(objectname)")
	if err != nil {
		if _, gone := os.Lstat(filepath.Join(r.Dir, "HEAD")); gone != nil {
			return nil, ErrGone
		}
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		name, oid, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !strings.HasPrefix(name, "refs/remotes/") && !strings.HasPrefix(name, "refs/clada/") && !strings.HasPrefix(name, "refs/notes/clada") {
			s[name] = oid
		}
	}
	return s, nil
}

// ErrGone says that the repository has disappeared.
var ErrGone = fmt.Errorf("the repository is gone: %w", fs.ErrNotExist)

// Changed gives the names of the parts that differ, sorted.
func (s Sign) Changed(now Sign) []string {
	names := map[string]bool{}
	for name, value := range s {
		if now[name] != value {
			names[name] = true
		}
	}
	for name := range now {
		if _, known := s[name]; !known {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// digest gives what changes with a file's content or permissions; "" if it is not there.
func digest(file string) string {
	info, err := os.Lstat(file)
	if err != nil {
		return ""
	}
	sum := sha256.New()
	if info.Mode()&fs.ModeSymlink != 0 {
		target, _ := os.Readlink(file)
		fmt.Fprintf(sum, "-> %s\n", target)
	}
	if content, err := os.ReadFile(file); err == nil {
		sum.Write(content)
	}
	return info.Mode().String() + " " + hex.EncodeToString(sum.Sum(nil))
}

// Adopt takes over from a later scan what a command may have changed rightly: the index, if only git's own memory of the
// files changed or more was staged, and the rules of conversion.
func (s *Scan) Adopt(later *Scan) {
	s.Index, s.Files, s.Gitlinks, s.converts = later.Index, later.Files, later.Gitlinks, later.converts
}
