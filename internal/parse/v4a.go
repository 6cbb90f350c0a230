package parse

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
	"sync"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// v4a is the dialect of the patch envelope:
//
//	envelope = "*** Begin Patch" { section } "*** End Patch"
//	section  = "*** Add File: " path { "+" line } | "*** Delete File: " path
//	         | "*** Update File: " path [ "*** Move to: " path ] { chunk }
//	chunk    = { "@@" [ context ] } { ( " " | "-" | "+" ) line | empty line } [ "*** End of File" ]
//
// The envelope is a group, a section a task. It ends at the first end marker at the line start: content always has a
// prefix, so whatever a patch quotes cannot end it.
type v4a struct{}

func (v4a) name() string { return "v4a" }

func (v4a) openers() []string { return []string{"*** Begin Patch"} }

const beginPatch, endPatch = "*** Begin Patch", "*** End Patch"

// envelopeMark reports whether a line is a marker of the envelope, trailing stars and blanks forgiven.
func envelopeMark(line, marker string) bool {
	rest, ok := strings.CutPrefix(line, marker)
	return ok && strings.Trim(rest, " \t*\r") == "" && (strings.Trim(rest, " \t\r") == "" || strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, "*"))
}

// envelope is one envelope being read.
type envelope struct {
	*scan
	first, last int
	prefix      string
	dir         string // paths are relative to it
	group       int
	at          int // line being read
	bad         bool
}

func (v v4a) open(s *scan, i int) (next int, ok bool) {
	lead0 := skipLeadIn(s.line(i))
	if len(lead0) < len("** begin") || lead0[0] != '*' {
		return 0, false
	}
	line := s.bare(i)
	rest := line[len(line)-len(lead0):]
	if envelopeMark(line, endPatch) {
		s.strayEndPatch(i)
		return i + 1, true
	}
	if !envelopeMark(rest, beginPatch) {
		// A list marker may itself be a star: what stands behind it decides.
		if !envelopeMark(line, beginPatch) {
			s.v4aNearMiss(line, i)
			return 0, false
		}
		rest = line
	}
	lead := line[:len(line)-len(rest)]
	e := &envelope{scan: s, first: i, prefix: blanksFor(lead)}
	e.last = s.patchEnd(e.prefix, i)
	switch {
	case e.last < 0 && lead != "":
		s.warn("v4a", NearMiss, i+1, "an indented `"+beginPatch+"` without an end marker at the same indentation is read as prose")
		return 0, false
	case e.last < 0:
		return e.unterminated(), true
	}
	e.read()
	return e.last + 1, true
}

// blanksFor replaces list markers by blanks.
func blanksFor(lead string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, lead)
}

// patchEnd gives the first line behind i that ends an envelope with the given indentation, or -1.
func (s *scan) patchEnd(prefix string, i int) int {
	all, _ := s.memo["v4a"].(map[int]map[string][]int)
	if all == nil {
		all = map[int]map[string][]int{}
		s.memo["v4a"] = all
	}
	if all[s.strip] == nil {
		ends := map[string][]int{}
		for k := range s.lines() {
			line := s.bare(k)
			rest := strings.TrimLeft(line, " \t")
			if strings.HasPrefix(rest, "***") && envelopeMark(rest, endPatch) {
				indent := line[:len(line)-len(rest)]
				ends[indent] = append(ends[indent], k)
			}
		}
		all[s.strip] = ends
	}
	ends := all[s.strip][prefix]
	if n := sort.SearchInts(ends, i+1); n < len(ends) {
		return ends[n]
	}
	return -1
}

func (e *envelope) unterminated() int {
	e.last = e.lines() - 1
	e.group = e.addGroup(true)
	e.problem(e.first, "envelope of line %d is not closed", "end it with `*** End Patch` at the line start", e.first+1)
	return e.lines()
}

func (e *envelope) addGroup(malformed bool) int {
	e.batch.Groups = append(e.batch.Groups, batch.Group{Dialect: "v4a", Span: e.span(e.first, e.last), Malformed: malformed})
	return len(e.batch.Groups)
}

func (e *envelope) problem(line int, form, hint string, args ...any) {
	e.bad = true
	e.list.Problems = append(e.list.Problems, diag.Problem{
		Error: diag.New(diag.MalformedStructure, form, args...).At(diag.Pos{Line: line + 1, Column: 1}).WithHint("%s", hint),
		Kind:  diag.Syntax, Dialect: "v4a", BlockStart: e.first + 1, BlockEnd: e.last + 1, Group: e.group,
	})
}

func (s *scan) strayEndPatch(i int) {
	hint := "the opener may be missing or wrong: it is `*** Begin Patch` alone on its line"
	if line, ok := s.memo["v4a near"].(int); ok {
		hint = fmt.Sprintf("the opener may be wrong: line %d has `%s`", line+1, clip(string(s.line(line))))
	}
	s.list.Problems = append(s.list.Problems, diag.Problem{
		Error: diag.New(diag.MalformedStructure, "`*** End Patch` outside an envelope").At(diag.Pos{Line: i + 1, Column: 1}).WithHint("%s", hint),
		Kind:  diag.Syntax, Dialect: "v4a", BlockStart: i + 1, BlockEnd: i + 1, Refuses: true,
	})
}

var v4aAlmost = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^[ \t]*\*{1,5}[ \t]*begin[ \t]+patch[ \t*]*$`) })

func (s *scan) v4aNearMiss(line string, i int) {
	if len(line) < 60 && v4aAlmost().MatchString(line) {
		s.memo["v4a near"] = i
		s.warn("v4a", NearMiss, i+1, fmt.Sprintf("%q looks like an opener and is read as prose: write %s", strings.TrimSpace(line), beginPatch))
	}
}

var cdPatch = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^cd[ \t]+(\"[^\"]+\"|'[^']+'|[^ \t\"']+)[ \t]*&&[ \t]*apply_?patch\\b")
})

// wrapperDir gives the directory of a `cd DIR && apply_patch` above the envelope.
func (e *envelope) wrapperDir() string {
	for i := e.first - 1; i >= e.behind; i-- {
		line := strings.TrimSpace(e.bare(i))
		if line == "" {
			continue
		}
		if m := cdPatch().FindStringSubmatch(line); m != nil {
			return strings.Trim(m[1], `"'`)
		}
		return ""
	}
	return ""
}

// row gives line i less the prefix; ok is false if it lacks the prefix.
func (e *envelope) row(i int) (string, bool) {
	line := e.raw(i)
	if rest, ok := strings.CutPrefix(line, e.prefix); ok {
		return rest, true
	}
	return "", strings.Trim(line, " \t\r") == ""
}

func (e *envelope) read() {
	e.group = e.addGroup(false)
	e.dir = e.wrapperDir()
	tasks := len(e.batch.Tasks)
	sections := 0
	for e.at = e.first + 1; e.at < e.last; {
		line, ok := e.row(e.at)
		text := strings.TrimRight(line, " \t\r")
		switch {
		case !ok:
			e.problem(e.at, "line %d lacks the indentation of the envelope", "indent every line of the envelope alike", e.at+1)
			e.at++
		case text == "":
			e.at++
		case strings.HasPrefix(text, "*** Add File:"):
			e.add(filePath(text, "*** Add File:"))
			sections++
		case strings.HasPrefix(text, "*** Delete File:"):
			e.remove(filePath(text, "*** Delete File:"))
			sections++
		case strings.HasPrefix(text, "*** Update File:"):
			e.update(filePath(text, "*** Update File:"))
			sections++
		case envelopeMark(text, beginPatch):
			e.problem(e.at, "a second *** Begin Patch in line %d", "end the first envelope with `*** End Patch`", e.at+1)
			e.at++
		case strings.HasPrefix(text, "*** "):
			e.problem(e.at, "unknown header in line %d", "known: Add File, Delete File, Update File, and Move to below Update File", e.at+1)
			e.at++
		default:
			e.problem(e.at, "line %d belongs to no file", "start with `*** Update File: PATH`, `*** Add File: PATH` or `*** Delete File: PATH`", e.at+1)
			e.at++
		}
	}
	if sections == 0 && !e.bad {
		e.problem(e.first, "the envelope has no section", "give at least one `*** Update File:`, `*** Add File:` or `*** Delete File:`")
	}
	if e.bad {
		e.batch.Tasks = e.batch.Tasks[:tasks]
		e.batch.Groups[e.group-1].Malformed = true
	}
}
