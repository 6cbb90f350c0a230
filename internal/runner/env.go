package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// SystemPath is where built-in programs are looked for, unless clada.path says otherwise.
var SystemPath = []string{"/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin"}

// dropped are variables that change what a shell, a loader, an interpreter or git does, or that start a program. Those
// that end in * stand for all that begin so.
var dropped = []string{
	"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "BASH_FUNC_*", "PS4", "IFS", "CDPATH", "GLOBIGNORE", "PROMPT_COMMAND", "ZDOTDIR",
	"LD_*", "DYLD_*", "GCONV_PATH", "LOCPATH", "MALLOC_*",
	"NODE_OPTIONS", "PYTHONSTARTUP", "PYTHONINSPECT", "PERL5OPT", "PERL5DB", "RUBYOPT",
	"GIT_*", "PAGER", "MANPAGER", "LESSOPEN", "LESSCLOSE", "EDITOR", "VISUAL", "BROWSER", "SSH_ASKPASS", "SUDO_ASKPASS",
}

// identity are the variables of git that stay: they say who the person is, and where git finds what it knows of them.
var identity = []string{
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
}

func drops(name string) bool {
	return !slices.Contains(identity, name) && slices.ContainsFunc(dropped, func(d string) bool {
		begin, all := strings.CutSuffix(d, "*")
		return name == d || all && strings.HasPrefix(name, begin)
	})
}

// personsEnvironment is that of approved commands: the person's, without what could make a program do something else
// than it says. Nothing can be asked on a terminal.
func (p *Policy) personsEnvironment() []string {
	env := []string{"GIT_TERMINAL_PROMPT=0", "CLADA_RUN=1"}
	path := strings.Join(p.System, ":")
	for _, kv := range p.Env {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "PATH":
			path = value
		case name == "CLADA_RUN", drops(name) && !slices.Contains(p.Keep, name):
		default:
			env = append(env, kv)
		}
	}
	return append(env, "PATH="+strings.Join(p.outside(filepath.SplitList(path)), ":"))
}

// plainEnvironment is that of built-in commands: nothing of the person's.
func (p *Policy) plainEnvironment() []string {
	return []string{"PATH=" + strings.Join(p.System, ":"), "HOME=/nonexistent", "LC_ALL=C.UTF-8", "TZ=UTC0", "TERM=dumb"}
}

func pathOf(env []string) []string {
	for _, kv := range slices.Backward(env) {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			return filepath.SplitList(path)
		}
	}
	return nil
}

// outside leaves out directories that a reply could put a program into: relative ones and those of the working tree.
func (p *Policy) outside(path []string) []string {
	var kept []string
	for _, dir := range path {
		if filepath.IsAbs(dir) && !p.inTree(dir) {
			kept = append(kept, dir)
		}
	}
	return kept
}

// inTree reports whether a path is the top or below it, links resolved.
func (p *Policy) inTree(dir string) bool {
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	top := p.Top
	if resolved, err := filepath.EvalSymlinks(top); err == nil {
		top = resolved
	}
	rel, err := filepath.Rel(top, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// find gives the program of a built-in command. Directories that anybody may write to are left out.
func (p *Policy) find(name string) string {
	var trusted []string
	for _, dir := range p.outside(p.System) {
		if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o002 == 0 {
			trusted = append(trusted, dir)
		}
	}
	return lookUp(name, "/", trusted)
}

// readOnly is the confinement of built-in commands: reading the tree and what a program needs to run.
func (p *Policy) readOnly(program string, git bool) Confinement {
	c := Confinement{
		Reads: []exact{exact(p.Top), "/usr", "/proc/self"},
		Runs:  []exact{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/libexec"},
		Files: []exact{
			"/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/ld-musl-x86_64.path", "/etc/ld-musl-aarch64.path", "/etc/localtime",
			"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/magic",
		},
		CPU: uint64(BuiltinTimeout.Seconds()), FileSize: uint64(DefaultMaxOutput), OpenFiles: 256, Memory: 2 << 30,
	}
	if resolved, err := filepath.EvalSymlinks(program); err == nil {
		c.Files = append(c.Files, exact(resolved))
		if !strings.HasPrefix(resolved, "/usr/bin/") && !strings.HasPrefix(resolved, "/bin/") {
			c.Runs = append(c.Runs, exact(prefixOf(resolved)))
		}
	}
	if git && p.Git != nil {
		for _, dir := range p.Git.Reads {
			c.Reads = append(c.Reads, exact(dir))
		}
		for _, file := range p.Git.Files {
			c.Files = append(c.Files, exact(file))
		}
	}
	return c
}

// prefixOf gives the directory that a program was installed below, with its libraries: that above bin, or the whole
// store of a package manager that keeps each package by itself.
func prefixOf(program string) string {
	for _, store := range []string{"/nix/store", "/gnu/store"} {
		if strings.HasPrefix(program, store+"/") {
			return store
		}
	}
	return filepath.Dir(filepath.Dir(program))
}

// caches are where build tools keep what they have fetched, relative to the home directory.
var caches = []string{
	".cache", ".npm", ".yarn", ".pnpm-store", ".local/share/pnpm", ".cargo/registry", ".cargo/git", ".rustup/tmp", "go/pkg", ".m2", ".gradle",
	".ivy2", ".nuget", ".bundle", ".gem", ".composer", "Library/Caches",
}

// sandbox is the confinement of approved commands.
func (p *Policy) sandbox(env []string) Confinement {
	if p.Sandbox != InTree && p.Sandbox != Strict {
		return Confinement{}
	}
	c := Confinement{ReadsAll: true, NoTCP: p.Sandbox == Strict, Writes: []exact{exact(p.Top), "/tmp", "/var/tmp", "/dev/shm"}}
	home := ""
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		switch name {
		case "HOME":
			home = value
		case "TMPDIR", "XDG_CACHE_HOME", "GOCACHE", "GOMODCACHE", "npm_config_cache", "CARGO_TARGET_DIR", "PIP_CACHE_DIR":
			if filepath.IsAbs(value) {
				c.Writes = append(c.Writes, exact(value))
			}
		}
	}
	if filepath.IsAbs(home) {
		for _, dir := range caches {
			c.Writes = append(c.Writes, exact(filepath.Join(home, dir)))
		}
	}
	return c
}
