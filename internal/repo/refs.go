package repo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/git-clada/git-clada/internal/diag"
)

// RefUpdate moves a ref from Old to New, if it is at Old. "" is "does not exist"; Old equal to New only checks.
type RefUpdate struct {
	Name     string `json:"name"`
	Old, New OID
}

// ErrRefMoved says that a ref was not where it was expected: somebody else was faster.
var ErrRefMoved = errors.New("a ref was moved by another process")

// refSession is a running git update-ref --stdin, which takes several transactions.
type refSession struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *bytes.Buffer
}

// StartRefs starts the process that moves refs, so that it is ready when it is needed. message goes to the reflogs.
func (r *Repo) StartRefs(message string) error {
	if r.refs != nil {
		return nil
	}
	cmd := r.command(context.Background(), "-c", "core.fsync=added", "update-ref", "--create-reflog", "-m", message, "--stdin")
	if who := r.committerEnv; len(who) > 0 {
		cmd.Env = append(cmd.Env, who...)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	s := &refSession{cmd: cmd, in: in, out: bufio.NewReader(out), stderr: &bytes.Buffer{}}
	cmd.Stderr = s.stderr
	cmd.ExtraFiles = r.Inherit
	if err := cmd.Start(); err != nil {
		return failed(cmd, err, "")
	}
	r.refs = s
	return nil
}

// close ends a session that has failed and waits, so that what git said is complete.
func (s *refSession) close() error {
	s.in.Close()
	return s.cmd.Wait()
}

// leave ends a session in which nothing is under way.
func (s *refSession) leave() {
	s.in.Close()
	go s.cmd.Wait()
}

// UpdateRefs moves refs in one transaction: all or none. It gives ErrRefMoved if one of them is not where it should be.
func (r *Repo) UpdateRefs(updates []RefUpdate, message string) error {
	if err := r.StartRefs(message); err != nil {
		return err
	}
	s := r.refs
	var b strings.Builder
	b.WriteString("start\n")
	for _, u := range updates {
		writeUpdate(&b, u)
	}
	b.WriteString("commit\n")
	_, err := io.WriteString(s.in, b.String())
	for _, want := range []string{"start: ok\n", "commit: ok\n"} {
		if err != nil {
			break
		}
		var line string
		if line, err = s.out.ReadString('\n'); err == nil && line != want {
			err = errors.New("git update-ref answered " + line)
		}
	}
	if err == nil {
		return nil
	}
	r.refs = nil
	s.close()
	words := strings.TrimSpace(s.stderr.String())
	if isRace(words) {
		return fmt.Errorf("%w: %s", ErrRefMoved, strings.TrimPrefix(words, "fatal: "))
	}
	return failed(s.cmd, err, words)
}

// isRace reports whether git refused because a ref is elsewhere or is being moved just now.
func isRace(words string) bool {
	return strings.Contains(words, "but expected") || strings.Contains(words, "reference already exists") ||
		strings.Contains(words, "unable to resolve reference") || strings.Contains(words, "File exists") ||
		strings.Contains(words, "is missing but expected")
}

func writeUpdate(b *strings.Builder, u RefUpdate) {
	switch {
	case u.Old == u.New && u.Old == "":
		fmt.Fprintf(b, "verify %s\n", u.Name)
	case u.Old == u.New:
		fmt.Fprintf(b, "verify %s %s\n", u.Name, u.Old)
	case u.Old == "":
		fmt.Fprintf(b, "create %s %s\n", u.Name, u.New)
	case u.New == "":
		fmt.Fprintf(b, "delete %s %s\n", u.Name, u.Old)
	default:
		fmt.Fprintf(b, "update %s %s %s\n", u.Name, u.New, u.Old)
	}
}

// Ref gives the object that a ref points to, "" if the ref does not exist.
func (r *Repo) Ref(name string) (OID, error) { return r.Objects.Resolve(name) }

// SetHead lets HEAD point to a branch, which need not exist, or, where ref is "", detaches it at oid. No file changes.
func (r *Repo) SetHead(ctx context.Context, h Head, message string) error {
	r.headKnown = false
	var err error
	if h.Ref != "" {
		_, err = r.run(ctx, nil, "symbolic-ref", "-m", message, "HEAD", h.Ref)
	} else {
		_, err = r.run(ctx, nil, "update-ref", "--no-deref", "-m", message, "HEAD", string(h.OID))
	}
	return err
}

// RefLock gives the lock file of a ref in the files backend.
func (r *Repo) RefLock(name string) string {
	dir := r.Common
	if name == "HEAD" {
		dir = r.Dir
	}
	return filepath.Join(dir, filepath.FromSlash(name)+".lock")
}

// RemoveDeadLock removes the lock file of a ref if it can be proven to be left by an operation of ours that died: it
// holds what that operation was writing, or the beginning of it (or nothing) and no process has it open.
func RemoveDeadLock(file string, expected ...string) (removed bool, err error) {
	content, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	ours := false
	for _, e := range append(expected, "") {
		complete := string(content) == e && e != ""
		begun := strings.HasPrefix(e, string(content)) && nobodyHasOpen(file)
		ours = ours || complete || begun
	}
	if !ours {
		return false, diag.New(diag.Interrupted, "%s is held by another process", file).
			WithHint("if no git command runs in this repository, remove the file")
	}
	return true, os.Remove(file)
}

// nobodyHasOpen reports that no process has a file open. Where the system does not tell, it reports false.
func nobodyHasOpen(file string) bool {
	want, err := os.Stat(file)
	if err != nil {
		return false
	}
	fds, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil || len(fds) == 0 {
		return false
	}
	for _, fd := range fds {
		if info, err := os.Stat(fd); err == nil && os.SameFile(info, want) {
			return false
		}
	}
	return true
}

// IsAncestor reports whether commit a is b or an ancestor of b.
func (r *Repo) IsAncestor(ctx context.Context, a, b OID) (bool, error) {
	if a == "" || b == "" {
		return a == "", nil
	}
	_, err := r.run(ctx, nil, "merge-base", "--is-ancestor", string(a), string(b))
	if exitStatus(err) == 1 {
		return false, nil
	}
	return err == nil, err
}
