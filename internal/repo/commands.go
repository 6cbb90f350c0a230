package repo

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-clada/git-clada/internal/diag"
)

// MergeFile merges by lines what leads from base to theirs into ours, with git merge-file. ok is false on a conflict or
// for binary content.
func (r *Repo) MergeFile(ctx context.Context, ours, base, theirs []byte) (merged []byte, ok bool, err error) {
	if err := os.MkdirAll(r.Private, 0o777); err != nil {
		return nil, false, systemError(err)
	}
	dir, err := os.MkdirTemp(r.Private, "intent-merge-")
	if err != nil {
		return nil, false, systemError(err)
	}
	defer os.RemoveAll(dir)
	names := make([]string, 3)
	for i, data := range [][]byte{ours, base, theirs} {
		names[i] = filepath.Join(dir, []string{"ours", "base", "theirs"}[i])
		if err := os.WriteFile(names[i], data, 0o600); err != nil {
			return nil, false, systemError(err)
		}
	}
	out, err := r.run(ctx, nil, append([]string{"merge-file", "-p", "-q"}, names...)...)
	if err == nil {
		return out, true, nil
	}
	if exitStatus(err) > 0 {
		return nil, false, nil // the number of conflicts, or 255 for binary content
	}
	return nil, false, err
}

// UserCommit runs git commit on what is staged, as the user would: with their hooks, signing and configuration.
func (r *Repo) UserCommit(ctx context.Context, env []string, message string, out, errs io.Writer) error {
	file := filepath.Join(r.Private, "message")
	if err := os.WriteFile(file, []byte(message), 0o666); err != nil {
		return systemError(err)
	}
	defer os.Remove(file)
	cmd := exec.CommandContext(ctx, "git", "commit", "-F", file)
	cmd.Dir = r.Top
	cmd.Env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(localVars, name)
	})
	cmd.Env = append(cmd.Env, "GIT_DIR="+r.Dir, "GIT_WORK_TREE="+r.Top)
	cmd.Stdout, cmd.Stderr = out, errs
	if err := cmd.Run(); err != nil {
		return diag.Wrap(err, diag.GitOperationFailed, "%v", err)
	}
	return nil
}

// Difference writes the difference between two trees as git shows it.
func (r *Repo) Difference(ctx context.Context, a, b OID, color bool, options ...string) ([]byte, error) {
	args := []string{"diff-tree", "-r", "-p", "-M", "--no-ext-diff", "--no-textconv", "--full-index"}
	if color {
		args = append(args, "--color=always")
	}
	return r.run(ctx, nil, append(append(args, options...), string(a), string(b))...)
}
