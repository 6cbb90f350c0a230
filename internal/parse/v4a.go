package parse

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strings"

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

var v4aAlmost = regexp.MustCompile(`(?i)^[ \t]*\*{1,5}[ \t]*begin[ \t]+patch[ \t*]*$`)

func (s *scan) v4aNearMiss(line string, i int) {
	if len(line) < 60 && v4aAlmost.MatchString(line) {
		s.memo["v4a near"] = i
		s.warn("v4a", NearMiss, i+1, fmt.Sprintf("%q looks like an opener and is read as prose: write %s", strings.TrimSpace(line), beginPatch))
	}
}

var cdPatch = regexp.MustCompile("^cd[ \t]+(\"[^\"]+\"|'[^']+'|[^ \t\"']+)[ \t]*&&[ \t]*apply_?patch\\b")

// wrapperDir gives the directory of a `cd DIR && apply_patch` above the envelope.
func (e *envelope) wrapperDir() string {
	for i := e.first - 1; i >= e.behind; i-- {
		line := strings.TrimSpace(e.bare(i))
		if line == "" {
			continue
		}
		if m := cdPatch.FindStringSubmatch(line); m != nil {
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

// filePath reads the path of a header: trailing stars and one pair of quotes go.
func filePath(text, header string) string {
	path := strings.TrimSpace(strings.TrimPrefix(text, header))
	if cut := strings.TrimRight(path, "*"); cut != path && (strings.HasSuffix(cut, " ") || strings.HasSuffix(cut, "\t")) {
		path = strings.TrimSpace(cut)
	}
	if n := len(path); n > 1 && path[0] == path[n-1] && (path[0] == '`' || path[0] == '"') {
		path = path[1 : n-1]
	}
	return path
}

func (e *envelope) task(action string, start int, op batch.Op, params ...batch.Param) {
	last := max(start, e.at-1)
	words := v4aWords
	if action == "add_file" {
		words = v4aAddWords
	}
	e.addTask(batch.Task{
		Group: e.group, Dialect: "v4a", Action: action, Params: params, Span: e.span(start, last), Op: op, Words: words,
	})
}

var (
	v4aWords    = &batch.Words{Hints: map[string]string{"is_directory": "Delete File removes files only"}}
	v4aAddWords = &batch.Words{Data: map[string]string{"overwrote": "overwrote"}}
)

// inDir puts a path below the directory of the wrapper.
func (e *envelope) inDir(path string) string {
	if e.dir == "" || path == "" {
		return path
	}
	return strings.TrimSuffix(e.dir, "/") + "/" + path
}

func (e *envelope) needsPath(path, header string) bool {
	if path == "" {
		e.problem(e.at-1, "%s without a path in line %d", "write the path behind the colon", header, e.at)
	}
	return path != ""
}

// sectionEnds reports whether a line starts another section. A marker of the envelope in the middle is reported there.
func sectionEnds(line string) bool { return strings.HasPrefix(line, "*** ") }

func (e *envelope) add(path string) {
	start := e.at
	e.at++
	e.needsPath(path, "Add File")
	var content strings.Builder
	blanks := 0
	for ; e.at < e.last; e.at++ {
		line, ok := e.row(e.at)
		if ok && sectionEnds(line) {
			break
		}
		switch {
		case ok && strings.HasPrefix(line, "+"):
			for ; blanks > 0; blanks-- {
				content.WriteByte('\n')
			}
			content.WriteString(line[1:])
			content.WriteByte('\n')
		case ok && strings.Trim(line, " \t\r") == "":
			blanks++
		default:
			e.problem(e.at, "Add File content without `+`, line %d", "put `+` in front of every line of the new file", e.at+1)
		}
	}
	path = e.inDir(path)
	text := content.String()
	if hasConflict(text) {
		e.warn("v4a", ConflictMarks, start+1, "the new content has git conflict markers")
	}
	e.task("add_file", start, batch.Write{Path: path, Content: strings.TrimPrefix(text, string(byteOrderMark))},
		param("path", path), param("content", text))
}

func (e *envelope) remove(path string) {
	start := e.at
	e.at++
	if e.needsPath(path, "Delete File") {
		path = e.inDir(path)
		e.task("delete_file", start, batch.Remove{Path: path}, param("path", path))
	}
}

func (e *envelope) update(path string) {
	start := e.at
	e.at++
	e.needsPath(path, "Update File")
	op := batch.Patch{Path: e.inDir(path), InOrder: true, Overwrite: true, Match: e.peerTier(batch.Punctuation)}
	if line, ok := e.row(e.at); ok && e.at < e.last && strings.HasPrefix(line, "*** Move to:") {
		e.at++
		to := filePath(strings.TrimRight(line, " \t\r"), "*** Move to:")
		if e.needsPath(to, "Move to") {
			op.To = e.inDir(to)
		}
	}
	e.skipBlank()
	for e.at < e.last {
		line, ok := e.row(e.at)
		if ok && sectionEnds(line) && !strings.HasPrefix(line, "*** End of File") {
			break
		}
		h, good := e.chunk()
		if good {
			op.Hunks = append(op.Hunks, h)
		}
	}
	if len(op.Hunks) == 0 && op.To == "" && !e.bad {
		e.problem(start, "Update File %s has no chunk", "give the lines to change, or `*** Move to:`", path)
	}
	params := []batch.Param{param("path", op.Path)}
	if op.To != "" {
		params = append(params, param("to", op.To))
	}
	e.task("update_file", start, op, append(params, param("edits", hunkParams(op.Hunks)))...)
}

func (e *envelope) skipBlank() {
	for e.at < e.last {
		if line, ok := e.row(e.at); !ok || strings.Trim(line, " \t\r") != "" {
			return
		}
		e.at++
	}
}

var numbersOnly = regexp.MustCompile(`^(\.\.\.|-[0-9]+(,[0-9]+)? \+[0-9]+(,[0-9]+)?) @@`)

// chunk reads the next chunk. What belongs to none is reported and skipped.
func (e *envelope) chunk() (h batch.Hunk, ok bool) {
	start := e.at
	for ; e.at < e.last; e.at++ {
		line, _ := e.row(e.at)
		line = strings.TrimSuffix(line, "\r")
		rest, isContext := strings.CutPrefix(line, "@@")
		if !isContext || rest != "" && !blank(rest[0]) {
			break
		}
		if strings.TrimSpace(rest) == "" || numbersOnly.MatchString(strings.TrimSpace(rest)) {
			continue
		}
		h.Contexts = append(h.Contexts, rest[1:])
	}
	blanks := 0
	for ; e.at < e.last; e.at++ {
		line, prefixed := e.row(e.at)
		bare := strings.TrimSuffix(line, "\r")
		if prefixed && strings.HasPrefix(bare, "*** End of File") && strings.Trim(bare[len("*** End of File"):], " \t*") == "" {
			h.AtEnd = true
			e.at++
			e.skipBlank()
			break
		}
		if prefixed && (sectionEnds(line) || bare == "@@" || strings.HasPrefix(bare, "@@ ") || strings.HasPrefix(bare, "@@\t")) {
			break
		}
		switch {
		case prefixed && bare == "":
			h.Lines = append(h.Lines, batch.HunkLine{Kind: ' '})
			blanks++
			continue
		case prefixed && (line[0] == ' ' || line[0] == '-' || line[0] == '+'):
			h.Lines = append(h.Lines, batch.HunkLine{Kind: line[0], Text: line[1:]})
		default:
			e.problem(e.at, "line %d starts with none of blank, `+`, `-`, `@@`", "write context lines with one blank in front", e.at+1)
		}
		blanks = 0
	}
	h.Loose = blanks
	if len(h.Lines) == blanks && !e.bad {
		e.problem(start, "the chunk of line %d has no lines", "give the lines to change behind it", start+1)
	}
	return h, len(h.Lines) > 0
}

// hunkEdits are hunks as reports show them.
type hunkEdits []batch.Hunk

// hunkParams shows hunks as edits for reports.
func hunkParams(hunks []batch.Hunk) hunkEdits { return hunks }

// MarshalJSON writes old and new text of each hunk.
func (h hunkEdits) MarshalJSON() ([]byte, error) {
	type edit struct {
		Old       string   `json:"old"`
		New       string   `json:"new"`
		Expect    int      `json:"expect"`
		Contexts  []string `json:"contexts,omitempty"`
		EndOfFile bool     `json:"endOfFile,omitempty"`
	}
	edits := []edit{}
	for _, hunk := range h {
		var before, after []string
		for _, line := range hunk.Lines {
			if line.Kind != '+' {
				before = append(before, line.Text)
			}
			if line.Kind != '-' {
				after = append(after, line.Text)
			}
		}
		edits = append(edits, edit{strings.Join(before, "\n"), strings.Join(after, "\n"), 1, hunk.Contexts, hunk.AtEnd})
	}
	return json.Marshal(edits)
}
