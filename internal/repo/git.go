package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/git-clada/git-clada/internal/diag"
)

// git starts git commands in one repository with a pinned environment.
type git struct {
	dir   string   // where commands start
	env   []string // complete
	flags []string // before the subcommand
}

// pinned are the options that every call gets: nothing that the repository's configuration names may be started, and
// nothing may wait for a person.
var pinned = []string{
	"--no-pager",
	"--no-optional-locks",            // reading must not contend for index.lock
	"--literal-pathspecs",            // a path is a path
	"-c", "core.hooksPath=/dev/null", // --no-verify does not cover every hook
	"-c", "gc.auto=0", // no garbage collection in the middle of an operation
	"-c", "maintenance.auto=false",
	"-c", "core.safecrlf=false", // a warning about line ends must not fail an operation
	"-c", "core.askPass=",
	"-c", "commit.gpgSign=false",
	"-c", "log.showSignature=false",
}

// localVars are what git rev-parse --local-env-vars prints: they belong to one repository and would leak into another.
var localVars = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_OBJECT_DIRECTORY",
	"GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS",
	"GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_INTERNAL_SUPER_PREFIX",
}

// unsafeVars make git start a program or write a file.
var unsafeVars = []string{
	"GIT_EXTERNAL_DIFF", "GIT_PAGER", "PAGER", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_TRACE", "GIT_TRACE2", "GIT_TRACE2_EVENT",
	"GIT_TRACE2_PERF", "GIT_TRACE_SETUP", "GIT_TRACE_PERFORMANCE",
}

// Environment gives env without the variables that tie git to one repository or start programs, with the settings that
// every call of ours needs.
func Environment(env []string) []string {
	drop := append(slices.Clone(localVars), unsafeVars...)
	kept := make([]string, 0, len(env)+6)
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(drop, name) || strings.HasPrefix(name, "GIT_CONFIG_KEY_") || strings.HasPrefix(name, "GIT_CONFIG_VALUE_") {
			continue
		}
		kept = append(kept, kv)
	}
	return append(kept, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=false", "GIT_SEQUENCE_EDITOR=false", "GIT_NO_LAZY_FETCH=1")
}

// command is the one place that builds a git command.
func (g *git) command(ctx context.Context, args ...string) *exec.Cmd {
	full := make([]string, 0, len(pinned)+len(g.flags)+len(args))
	full = append(append(append(full, pinned...), g.flags...), args...)
	cmd := exec.CommandContext(ctx, "git", full...)
	cmd.Dir, cmd.Env = g.dir, g.env
	cmd.SysProcAttr = ownGroup // Ctrl-C is ours to answer: git must not end in the middle of what we are doing
	return cmd
}

var ownGroup = &syscall.SysProcAttr{Setpgid: true}

// run runs a git command with an input and gives its output.
func (g *git) run(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	return finish(g.command(ctx, args...), stdin)
}

// runEnv is run with more variables.
func (g *git) runEnv(ctx context.Context, env []string, stdin []byte, args ...string) ([]byte, error) {
	cmd := g.command(ctx, args...)
	cmd.Env = append(slices.Clone(cmd.Env), env...)
	return finish(cmd, stdin)
}

func finish(cmd *exec.Cmd, stdin []byte) ([]byte, error) {
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &out, &errs
	if err := cmd.Run(); err != nil {
		return out.Bytes(), failed(cmd, err, errs.String())
	}
	return out.Bytes(), nil
}

// failed turns a git failure into an error that names the subcommand and git's own words.
func failed(cmd *exec.Cmd, err error, stderr string) *diag.Error {
	if errors.Is(err, exec.ErrNotFound) {
		return diag.Wrap(err, diag.GitOperationFailed, "git is not installed").WithHint("install git 2.36 or later")
	}
	words := strings.TrimSpace(stderr)
	if words == "" {
		words = err.Error()
	}
	return diag.Wrap(err, diag.GitOperationFailed, "git %s: %s", subcommand(cmd.Args), words)
}

func subcommand(args []string) string {
	for i := 1; i < len(args); i++ {
		switch {
		case args[i] == "-c" || args[i] == "-C":
			i++
		case !strings.HasPrefix(args[i], "-"):
			return args[i]
		}
	}
	return fmt.Sprint(args)
}

// exitStatus gives the exit status of a failed git command, -1 if it did not exit by itself.
func exitStatus(err error) int {
	var e *exec.ExitError
	if errors.As(err, &e) {
		return e.ExitCode()
	}
	return -1
}

// Reader is how git is started for a command that a reply asks for and that only reads: by somebody else, with nothing
// of the configuration that would start another program.
type Reader struct {
	Flags []string // before the subcommand
	Env   []string
	Dirs  []string // that git reads
	Files []string // that git reads
}

// readerFlags switch off what a command that only reads could start, or could be led to.
var readerFlags = []string{
	"--no-pager", "--no-optional-locks",
	"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.pager=cat", "-c", "core.editor=false", "-c", "core.askPass=",
	"-c", "credential.helper=", "-c", "safe.bareRepository=explicit", "-c", "color.ui=false", "-c", "log.showSignature=false",
	"-c", "diff.submodule=short", "-c", "diff.ignoreSubmodules=dirty", "-c", "submodule.recurse=false", "-c", "protocol.allow=never",
	"-c", "gc.auto=0", "-c", "maintenance.auto=false",
}

// readerVars are the variables that say where the user's configuration is.
var readerVars = []string{"HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}

// Reader gives the way to start git for a reply.
func (r *Repo) Reader() Reader {
	reader := Reader{Flags: readerFlags, Dirs: []string{r.Dir, r.Common}, Files: slices.Clone(r.Config.origins)}
	env := []string{
		"GIT_DIR=" + r.Dir, "GIT_WORK_TREE=" + r.Top, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "GIT_EDITOR=false",
		"GIT_ASKPASS=false", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C.UTF-8", "TZ=UTC0", "TERM=dumb", "PATH=/usr/bin:/bin",
	}
	for _, name := range readerVars {
		if value := r.variable(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	filters := r.Config.filterKeys()
	env = append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(filters)))
	for i, key := range filters {
		value := ""
		if strings.HasSuffix(key, ".required") {
			value = "false"
		}
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, value))
	}
	reader.Env = env
	home := r.variable("HOME")
	reader.Files = append(reader.Files, r.userFile("core.excludesFile", "ignore"), r.userFile("core.attributesFile", "attributes"),
		filepath.Join(home, ".gitconfig"), r.userFile("", "config"), r.variable("GIT_CONFIG_GLOBAL"), "/etc/gitconfig", "/etc/gitattributes")
	reader.Files = slices.DeleteFunc(reader.Files, func(f string) bool { return !filepath.IsAbs(f) })
	reader.Dirs = append(reader.Dirs, r.alternates()...)
	return reader
}

// alternates gives the object stores that this one borrows from.
func (r *Repo) alternates() []string {
	var dirs []string
	text, err := os.ReadFile(filepath.Join(r.Common, "objects", "info", "alternates"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if dir := strings.TrimSpace(line); dir != "" && dir[0] != '#' {
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(r.Common, "objects", dir)
			}
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
