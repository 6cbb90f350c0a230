package repo

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/git-clada/git-clada/internal/diag"
)

// Repo is an open repository with a working tree. It is used by one goroutine at a time unless a method says otherwise.
type Repo struct {
	Top       string // the working tree, absolute
	Dir       string // the git directory of this working tree, absolute
	Common    string // the git directory shared by all working trees
	IndexFile string // of this working tree
	Private   string // our directory inside Dir, for journal and lock; it may not exist yet
	Prefix    string // the current directory relative to Top, "" at the top, else with a slash at the end
	Config    Config

	// Inherit are files that long-running git processes inherit: the lock of the operation, so that it is held until
	// they have ended too.
	Inherit []*os.File

	*git
	Objects      *Store
	refs         *refSession
	headRef      string // what HEAD was when the repository was opened; "" is detached
	headKnown    bool
	opened       time.Time
	committerEnv []string
}

// Open finds the repository that dir belongs to. env is the environment of the process; where it names a repository,
// that one is opened.
func Open(ctx context.Context, dir string, env []string) (*Repo, error) {
	start := time.Now()
	plain := &git{dir: dir, env: append(userEnvironment(env), "LC_ALL=C")}
	type answer struct {
		out []byte
		err error
	}
	// The object reader is started at once too: git finds the repository for it as it does for rev-parse.
	objects := &Store{git: plain}
	objects.Start()
	config := make(chan answer, 1)
	go func() {
		out, err := plain.run(ctx, nil, "config", "--list", "-z", "--show-origin", "--includes")
		config <- answer{out, err}
	}()
	out, err := plain.run(ctx, nil, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir",
		"--git-path", "index", "--git-path", "objects", "--git-path", "clada", "--show-object-format",
		"--is-bare-repository", "--is-inside-work-tree", "--show-prefix", "--show-toplevel", "--symbolic-full-name", "HEAD")
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	refuse := func(err error) (*Repo, error) {
		<-config
		objects.close()
		return nil, err
	}
	if len(lines) < 9 {
		return refuse(notARepository(err))
	}
	if lines[6] == "true" {
		return refuse(diag.New(diag.UnsupportedRepository, "%s is a bare repository, which is not supported yet", lines[0]).
			WithHint("work in a clone that has files"))
	}
	if lines[7] != "true" || len(lines) < 10 {
		return refuse(diag.New(diag.UnsupportedRepository, "this directory is inside a git directory, not in a working tree").
			WithHint("go to the top of the working tree"))
	}
	if lines[5] != "sha1" {
		return refuse(diag.New(diag.UnsupportedRepository, "this repository uses the object format %s, which is not supported yet", lines[5]))
	}
	r := &Repo{Dir: lines[0], Common: lines[1], IndexFile: lines[2], Private: lines[4], Prefix: lines[8], Top: lines[9], opened: start}
	if len(lines) > 10 && err == nil {
		r.headRef, r.headKnown = strings.TrimPrefix(lines[10], "HEAD"), true
	}
	c := <-config
	if c.err != nil {
		objects.close()
		return nil, c.err
	}
	r.Config = parseConfig(c.out)
	r.git = &git{dir: r.Top, env: append(Environment(env), "GIT_DIR="+r.Dir, "GIT_WORK_TREE="+r.Top), flags: r.Config.monitorFlags()}
	r.Objects = newStore(r.git, lines[3], r.Config)
	r.Objects.cat = objects.cat
	return r, nil
}

// userEnvironment keeps the variables that say which repository is meant.
func userEnvironment(env []string) []string {
	kept := Environment(env)
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR":
			kept = append(kept, kv)
		}
	}
	return kept
}

func notARepository(err error) error {
	e, ok := err.(*diag.Error)
	if ok && (strings.Contains(e.Message, "not a git repository") || strings.Contains(e.Message, "must be run in a work tree")) {
		return diag.Wrap(err, diag.GitOperationFailed, "this directory is not in a git repository").
			WithHint("run git init first, or use --no-git to change files without history")
	}
	if err == nil {
		return diag.New(diag.GitOperationFailed, "git did not say where the repository is")
	}
	return err
}

// Close ends the processes that the repository keeps. It may be called twice.
func (r *Repo) Close() {
	r.Objects.close()
	if r.refs != nil {
		r.refs.leave()
		r.refs = nil
	}
}

// Head is where HEAD stands.
type Head struct {
	Ref string // the branch, as a full ref name; "" if HEAD is detached
	OID OID    // the commit; "" on an unborn branch
}

// Unborn reports whether the branch has no commit yet.
func (h Head) Unborn() bool { return h.OID == "" }

// Detached reports whether HEAD is on no branch.
func (h Head) Detached() bool { return h.Ref == "" }

// FirstHead gives what HEAD was when the repository was opened, without asking again where that is known.
func (r *Repo) FirstHead(ctx context.Context) (Head, error) {
	if !r.headKnown {
		return r.Head(ctx)
	}
	oid, err := r.Objects.Resolve("HEAD^{commit}")
	return Head{Ref: r.headRef, OID: oid}, err
}

// Refresh forgets what was known of HEAD since the repository was opened, if somebody may have moved it at the given
// time or later.
func (r *Repo) Refresh(moved time.Time) {
	const clockTick = 20 * time.Millisecond // of the file system
	if moved.After(r.opened.Add(-clockTick)) {
		r.headKnown = false
	}
}

// Renewed forgets what was known of HEAD and gives the repository itself.
func (r *Repo) Renewed() *Repo {
	r.headKnown = false
	return r
}

// Head reads HEAD.
func (r *Repo) Head(ctx context.Context) (Head, error) {
	var wg sync.WaitGroup
	var h Head
	var symErr error
	wg.Go(func() {
		out, err := r.run(ctx, nil, "symbolic-ref", "-q", "HEAD")
		h.Ref = strings.TrimSpace(string(out))
		if err != nil && exitStatus(err) != 1 {
			symErr = err
		}
	})
	oid, err := r.Objects.Resolve("HEAD^{commit}")
	wg.Wait()
	h.OID = oid
	if symErr != nil {
		return h, symErr
	}
	return h, err
}

// Identity gives author and committer as git would write them, without date. Where the user has configured none, it is
// clada's own, so that internal commits never fail.
func (r *Repo) Identity(ctx context.Context) string {
	if who, ok := r.configuredIdentity(); ok {
		return who
	}
	out, err := r.run(ctx, nil, "-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT")
	ident := strings.TrimSpace(string(out))
	if i := strings.LastIndexByte(ident, '>'); err == nil && i > 0 {
		return ident[:i+1]
	}
	r.committerEnv = []string{"GIT_COMMITTER_NAME=clada", "GIT_COMMITTER_EMAIL=clada@localhost"}
	return "clada <clada@localhost>"
}

// configuredIdentity gives the identity where environment or configuration say it plainly. Everything else is git's to
// decide.
func (r *Repo) configuredIdentity() (string, bool) {
	value := func(variable string, keys ...string) string {
		if v := r.variable(variable); v != "" {
			return v
		}
		for _, key := range keys {
			if v, ok := r.Config.Value(key); ok && v != "" {
				return v
			}
		}
		return ""
	}
	name := value("GIT_COMMITTER_NAME", "committer.name", "user.name")
	email := value("GIT_COMMITTER_EMAIL", "committer.email", "user.email")
	if name == "" || email == "" || strings.ContainsAny(name+email, "<>\n,;:\"\\'") || strings.TrimSpace(name) != name || strings.HasSuffix(name, ".") {
		return "", false
	}
	return name + " <" + email + ">", true
}

// InProgress names the operation of git that has not been finished in this working tree, and how to end it; "" if none.
func (r *Repo) InProgress() (name, end string) {
	for _, op := range []struct{ file, name, end string }{
		{"rebase-merge", "a rebase", "git rebase --continue or --abort"},
		{"rebase-apply/applying", "git am", "git am --continue or --abort"},
		{"rebase-apply", "a rebase", "git rebase --continue or --abort"},
		{"MERGE_HEAD", "a merge", "git merge --continue or --abort"},
		{"CHERRY_PICK_HEAD", "a cherry-pick", "git cherry-pick --continue or --abort"},
		{"REVERT_HEAD", "a revert", "git revert --continue or --abort"},
		{"sequencer", "a cherry-pick or revert", "git cherry-pick --continue or --abort"},
		{"BISECT_LOG", "a bisect", "git bisect reset"},
	} {
		if _, err := os.Lstat(filepath.Join(r.Dir, op.file)); err == nil {
			return op.name, op.end
		}
	}
	return "", ""
}

// CheckedOutElsewhere gives the other working tree in which a branch is checked out, or "".
func (r *Repo) CheckedOutElsewhere(ctx context.Context, ref string) (string, error) {
	if _, err := os.Stat(filepath.Join(r.Common, "worktrees")); err != nil {
		return "", nil
	}
	out, err := r.run(ctx, nil, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return "", err
	}
	where := ""
	for line := range bytes.SplitSeq(out, []byte{0}) {
		if p, ok := bytes.CutPrefix(line, []byte("worktree ")); ok {
			where = string(p)
		}
		if b, ok := bytes.CutPrefix(line, []byte("branch ")); ok && string(b) == ref && where != r.Top {
			return where, nil
		}
	}
	return "", nil
}

// Version gives git's version, such as "2.39.5".
func Version(ctx context.Context, env []string) string {
	g := &git{env: env}
	out, err := g.run(ctx, nil, "version")
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ")
}
