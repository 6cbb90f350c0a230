package parse

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"github.com/git-clada/git-clada/internal/batch"
)

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

var numbersOnly = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\.\.\.|-[0-9]+(,[0-9]+)? \+[0-9]+(,[0-9]+)?) @@`) })

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
		if strings.TrimSpace(rest) == "" || numbersOnly().MatchString(strings.TrimSpace(rest)) {
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
