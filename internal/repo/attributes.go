package repo

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// converts decides which paths git may store otherwise than they stand in the working tree, or the other way round:
// those with line-ending conversion, a filter, $Id$ expansion or another encoding. It errs on the side of yes, since
// for these paths git itself is asked, which is slower and always right.
type converts struct {
	all   bool // core.autocrlf: any file may be converted
	files []attrFile
	fold  bool
}

type attrFile struct {
	base     string
	patterns []ignorePattern
}

// telling are the attributes that change content.
var telling = []string{"text", "crlf", "eol", "filter", "ident", "working-tree-encoding"}

// conversions reads the attributes files of the index and of the user.
func (r *Repo) conversions(x *Index, more []string) *converts {
	c := &converts{fold: r.Config.Bool("core.ignoreCase", false)}
	if v, ok := r.Config.Value("core.autocrlf"); ok {
		b, isBool := parseBool(v)
		c.all = !isBool || b
	}
	c.read("", r.userFile("core.attributesFile", "attributes"))
	c.read("", filepath.Join(r.Common, "info", "attributes"))
	c.read("", "/etc/gitattributes")
	const name = ".gitattributes"
	inTree := slices.Clone(more)
	for i := range x.Entries {
		if p := x.Entries[i].Path; strings.HasSuffix(p, name) && (len(p) == len(name) || p[len(p)-len(name)-1] == '/') {
			inTree = append(inTree, p)
		}
	}
	for _, p := range inTree {
		c.read(strings.TrimSuffix(p, name), filepath.Join(r.Top, p))
	}
	return c
}

func (c *converts) read(base, file string) {
	if file == "" {
		return
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return
	}
	f := attrFile{base: base}
	for line := range strings.SplitSeq(string(content), "\n") {
		if p, ok := tellingPattern(strings.Trim(line, " \t\r")); ok {
			f.patterns = append(f.patterns, p)
		}
	}
	if len(f.patterns) > 0 {
		c.files = append(c.files, f)
	}
}

// tellingPattern gives the pattern of a line that sets an attribute of interest, or one that may (a macro).
func tellingPattern(line string) (ignorePattern, bool) {
	if line == "" || line[0] == '#' {
		return ignorePattern{}, false
	}
	if strings.HasPrefix(line, "[attr]") {
		return ignorePattern{pattern: "*", baseOnly: true}, true
	}
	pattern, rest := line, ""
	if line[0] == '"' {
		end := strings.LastIndexByte(line, '"')
		return ignorePattern{pattern: "*", baseOnly: true}, end > 0 // quoted: rare, and asking git is always right
	} else if i := strings.IndexAny(line, " \t"); i >= 0 {
		pattern, rest = line[:i], line[i:]
	}
	for _, a := range strings.Fields(rest) {
		name, _, _ := strings.Cut(a, "=")
		if strings.HasPrefix(a, "-") || strings.HasPrefix(a, "!") {
			continue // unset: git does nothing there
		}
		if slices.Contains(telling, name) || !slices.Contains(harmless, name) {
			return finishPattern(ignorePattern{}, pattern), true
		}
	}
	return ignorePattern{}, false
}

// harmless are the attributes that leave content alone. Any other one may be a macro.
var harmless = []string{
	"binary", "diff", "merge", "whitespace", "export-ignore", "export-subst", "delta", "encoding", "conflict-marker-size",
	"linguist-generated", "linguist-vendored", "linguist-language", "linguist-detectable", "linguist-documentation", "lockable",
}

// path reports whether git may convert the content of a path.
func (c *converts) path(p string) bool {
	if c.all {
		return true
	}
	name := p[strings.LastIndexByte(p, '/')+1:]
	for i := range c.files {
		f := &c.files[i]
		if !strings.HasPrefix(p, f.base) {
			continue
		}
		for k := range f.patterns {
			if f.patterns[k].matches(f.base, p, name, false, c.fold) {
				return true
			}
		}
	}
	return false
}
