package repo

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Config is the configuration as git lists it: names in lower case, subsections as they are. The last value wins.
type Config struct {
	values  map[string][]string
	origins []string // the files that the configuration was read from
}

// parseConfig reads `git config --list -z --show-origin`: origin NUL key LF value NUL.
func parseConfig(out []byte) Config {
	c := Config{values: map[string][]string{}}
	fields := bytes.Split(out, []byte{0})
	for i := 0; i+1 < len(fields); i += 2 {
		origin := string(fields[i])
		key, value, hasValue := strings.Cut(string(fields[i+1]), "\n")
		if !hasValue {
			value = "true"
		}
		c.values[key] = append(c.values[key], value)
		if file, ok := strings.CutPrefix(origin, "file:"); ok && (len(c.origins) == 0 || c.origins[len(c.origins)-1] != file) {
			c.origins = append(c.origins, file)
		}
	}
	return c
}

// Value gives the last value of a key, such as "core.autocrlf".
func (c Config) Value(key string) (string, bool) {
	v := c.values[strings.ToLower(key)]
	if len(v) == 0 {
		return "", false
	}
	return v[len(v)-1], true
}

// All gives every value of a key.
func (c Config) All(key string) []string { return c.values[strings.ToLower(key)] }

// Bool gives a boolean, or def where the key is missing or no boolean.
func (c Config) Bool(key string, def bool) bool {
	v, ok := c.Value(key)
	if !ok {
		return def
	}
	if b, isBool := parseBool(v); isBool {
		return b
	}
	return def
}

func parseBool(v string) (value, ok bool) {
	switch strings.ToLower(v) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off", "":
		return false, true
	}
	if n, err := strconv.Atoi(v); err == nil {
		return n != 0, true
	}
	return false, false
}

// monitorFlags switches off a configured fsmonitor program. git's own daemon (a boolean) stays.
func (c Config) monitorFlags() []string {
	v, ok := c.Value("core.fsmonitor")
	if !ok {
		return nil
	}
	if _, isBool := parseBool(v); isBool {
		return nil
	}
	return []string{"-c", "core.fsmonitor=false"}
}

// startsProgram reports whether the value of a key is a command that git starts.
func startsProgram(key string) bool {
	switch key {
	case "core.fsmonitor", "core.editor", "core.pager", "core.sshcommand", "core.askpass", "gpg.program", "sequence.editor", "diff.external",
		"credential.helper", "interactive.difffilter", "core.gitproxy", "uploadpack.packobjectshook":
		return true
	}
	section, rest, _ := strings.Cut(key, ".")
	name := rest[strings.LastIndexByte(rest, '.')+1:]
	switch section {
	case "filter":
		return name == "clean" || name == "smudge" || name == "process"
	case "diff":
		return name == "command" || name == "textconv"
	case "merge":
		return name == "driver"
	case "difftool", "mergetool":
		return name == "cmd" || name == "path"
	case "gpg":
		return name == "program"
	case "alias", "pager", "trailer", "hook":
		return section != "trailer" || name == "cmd" || name == "command"
	}
	return false
}

// filesOf gives the words of a command that are files of the working tree.
func (r *Repo) filesOf(command string) []string {
	var files []string
	for word := range strings.FieldsFuncSeq(command, func(c rune) bool { return strings.ContainsRune(" \t\n\"';&|()<>=", c) }) {
		word = strings.TrimPrefix(word, "!")
		if word == "" || word[0] == '-' || word[0] == '~' || word == "." || word == "/" {
			continue
		}
		full := word
		if !filepath.IsAbs(full) {
			full = filepath.Join(r.Top, full)
		}
		if info, err := os.Lstat(full); err == nil && !info.IsDir() {
			files = append(files, word)
		}
	}
	return files
}

// RunByGit gives the paths below top that git reads as configuration or runs: a change to them is a change to what git
// does.
func (r *Repo) RunByGit() []string {
	candidates := append([]string{}, r.Config.origins...)
	for _, key := range []string{"core.hookspath", "core.attributesfile", "core.excludesfile", "commit.template", "include.path"} {
		candidates = append(candidates, r.Config.All(key)...)
	}
	for key, values := range r.Config.values {
		if startsProgram(key) {
			for _, command := range values {
				candidates = append(candidates, r.filesOf(command)...)
			}
		}
	}
	var found []string
	for _, file := range candidates {
		// husky keeps the hooks in a directory beside that of the shims which git is pointed to
		file = strings.TrimSuffix(strings.TrimSuffix(file, "/"), "/_")
		if file == "" || strings.HasPrefix(file, "~") {
			continue
		}
		if !filepath.IsAbs(file) {
			file = filepath.Join(r.Top, file)
		}
		rel, err := filepath.Rel(r.Top, file)
		if err != nil || rel == ".." || strings.HasPrefix(rel, "../") || rel == ".git" || strings.HasPrefix(rel, ".git/") {
			continue
		}
		found = append(found, filepath.ToSlash(rel))
	}
	return found
}

// filterKeys gives the keys of the drivers that convert content.
func (c Config) filterKeys() []string {
	var keys []string
	for key := range c.values {
		if strings.HasPrefix(key, "filter.") {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
