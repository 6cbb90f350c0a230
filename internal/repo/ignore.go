package repo

import (
	"os"
	"path/filepath"
	"strings"
)

// ignorePattern is one line of an ignore or attributes file.
type ignorePattern struct {
	pattern  string
	negated  bool
	dirOnly  bool
	baseOnly bool // no slash: matched against the last component
	literal  bool // no wildcards
	suffix   bool // a star and then a literal
}

// ignoreFile is the patterns of one file, relative to the directory base ("" or with a slash at the end).
type ignoreFile struct {
	base     string
	patterns []ignorePattern
}

// ignoreRules decide what is ignored. They are read-only once made; a directory's own rules stand in front of its
// parent's.
type ignoreRules struct {
	parent *ignoreRules
	file   ignoreFile
	fold   bool
}

// parsePattern reads a line of an ignore file; ok is false for a blank line or comment.
func parsePattern(line string) (p ignorePattern, ok bool) {
	line = trimTrailingBlanks(line)
	if line == "" || line[0] == '#' {
		return p, false
	}
	if line[0] == '!' {
		p.negated = true
		line = line[1:]
	}
	return finishPattern(p, line), line != "" || p.negated
}

func finishPattern(p ignorePattern, line string) ignorePattern {
	if strings.HasSuffix(line, "/") {
		p.dirOnly = true
		line = line[:len(line)-1]
	}
	p.baseOnly = !strings.Contains(line, "/")
	p.pattern = strings.TrimPrefix(line, "/")
	p.literal = !strings.ContainsAny(p.pattern, `*?[\`)
	p.suffix = len(p.pattern) > 1 && p.pattern[0] == '*' && !strings.ContainsAny(p.pattern[1:], `*?[\`)
	return p
}

// trimTrailingBlanks drops blanks at the end of a line unless a backslash protects them.
func trimTrailingBlanks(line string) string {
	end := len(line)
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			if end == len(line) {
				end = i
			}
		case '\\':
			i++
			end = len(line)
		default:
			end = len(line)
		}
	}
	return line[:end]
}

func parseIgnoreFile(base string, content []byte) ignoreFile {
	f := ignoreFile{base: base}
	for line := range strings.SplitSeq(strings.TrimPrefix(string(content), "\xef\xbb\xbf"), "\n") {
		if p, ok := parsePattern(strings.TrimSuffix(line, "\r")); ok {
			f.patterns = append(f.patterns, p)
		}
	}
	return f
}

// matches reports whether a pattern of a file with the given base fits path.
func (p *ignorePattern) matches(base, path, name string, isDir, fold bool) bool {
	if p.dirOnly && !isDir {
		return false
	}
	if p.baseOnly {
		switch {
		case p.literal:
			return sameName(p.pattern, name, fold)
		case p.suffix:
			return len(name) >= len(p.pattern)-1 && sameName(p.pattern[1:], name[len(name)-len(p.pattern)+1:], fold)
		}
		return wildmatch(p.pattern, name, false, fold)
	}
	rel := path[len(base):]
	if p.literal {
		return sameName(p.pattern, rel, fold)
	}
	return wildmatch(p.pattern, rel, true, fold)
}

func sameName(a, b string, fold bool) bool { return a == b || (fold && strings.EqualFold(a, b)) }

// ignored says what the rules say of a path whose parents are not ignored.
func (r *ignoreRules) ignored(path string, isDir bool) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	for ; r != nil; r = r.parent {
		for i := len(r.file.patterns) - 1; i >= 0; i-- {
			p := &r.file.patterns[i]
			if p.matches(r.file.base, path, name, isDir, r.fold) {
				return !p.negated
			}
		}
	}
	return false
}

// ignoreBase gives the rules that hold everywhere: core.excludesFile, then info/exclude.
func (r *Repo) ignoreBase() *ignoreRules {
	fold := r.Config.Bool("core.ignoreCase", false)
	var rules *ignoreRules
	for _, file := range []string{r.userFile("core.excludesFile", "ignore"), filepath.Join(r.Common, "info", "exclude")} {
		if file == "" {
			continue
		}
		if content, err := os.ReadFile(file); err == nil {
			rules = &ignoreRules{parent: rules, file: parseIgnoreFile("", content), fold: fold}
		}
	}
	return rules
}

// userFile gives the file that a key names, or its default in the user's git configuration directory.
func (r *Repo) userFile(key, name string) string {
	if file, ok := r.Config.Value(key); ok {
		if rest, isHome := strings.CutPrefix(file, "~/"); isHome {
			return filepath.Join(r.variable("HOME"), rest)
		}
		if file != "" && !filepath.IsAbs(file) {
			return filepath.Join(r.Top, file)
		}
		return file
	}
	if dir := r.variable("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git", name)
	}
	if home := r.variable("HOME"); home != "" {
		return filepath.Join(home, ".config", "git", name)
	}
	return ""
}

// variable gives a variable of the environment that git is started with.
func (r *Repo) variable(name string) string {
	value := ""
	for _, kv := range r.env {
		if rest, ok := strings.CutPrefix(kv, name+"="); ok {
			value = rest
		}
	}
	return value
}

// Rules tell which paths git ignores. What was read of a directory is remembered.
type Rules struct {
	repo *Repo
	dirs map[string]dirRules
}

type dirRules struct {
	rules   *ignoreRules
	ignored bool // the directory itself is
}

// IgnoreRules gives the rules as they are in the working tree now.
func (r *Repo) IgnoreRules() *Rules {
	return &Rules{repo: r, dirs: map[string]dirRules{}}
}

// Ignored reports whether git ignores a path that it does not track: the path itself or a directory above it.
func (r *Rules) Ignored(path string) bool {
	d := r.dir(path[:strings.LastIndexByte(path, '/')+1])
	return d.ignored || d.rules.ignored(path, false)
}

// dir gives the rules in a directory, which is "" or has a slash at the end.
func (r *Rules) dir(dir string) dirRules {
	if d, ok := r.dirs[dir]; ok {
		return d
	}
	var d dirRules
	if dir == "" {
		d.rules = r.repo.ignoreBase()
	} else {
		name := strings.TrimSuffix(dir, "/")
		d = r.dir(name[:strings.LastIndexByte(name, '/')+1])
		d.ignored = d.ignored || d.rules.ignored(name, true)
	}
	file := filepath.Join(r.repo.Top, dir, ".gitignore")
	if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() && !d.ignored {
		if content, err := os.ReadFile(file); err == nil {
			d.rules = &ignoreRules{parent: d.rules, file: parseIgnoreFile(dir, content), fold: r.repo.Config.Bool("core.ignoreCase", false)}
		}
	}
	r.dirs[dir] = d
	return d
}
