package parse

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// patch is the dialect of unified diffs and git patches:
//
//	patch   = section { section }
//	section = git-head [ names hunk { hunk } ] | names hunk { hunk }
//	names   = "--- " name NL "+++ " name NL
//	hunk    = "@@ -N,N +N,N @@" line { line }       numbered
//	        | "@@" [ text ] line { line }           unnumbered
//	line    = ( " " | "-" | "+" ) text | empty line | "\ " text
//
// A patch is a group, a section a task. A fence tagged diff, patch or udiff owns all it holds; bare patches open at
// "diff --git" or at "---", "+++", "@@" on three lines. patch_hunks.go reads hunks, patch_names.go names.
type patch struct{}

func (patch) name() string { return "patch" }

func (patch) openers() []string {
	return []string{"a ```diff fence", "diff --git", "---, +++ and @@ lines"}
}

// diffText is the lines that a patch is read from.
type diffText struct {
	*scan
	lo, hi int  // lines
	fenced bool // a fence owns them
	start  int  // line of the present patch
	group  int
	bad    bool
}

func (p patch) open(s *scan, i int) (next int, ok bool) {
	if s.fence.char != 0 && s.fence.lead && isDiffFence(s.fence.info) {
		return s.diffFence(i)
	}
	if !s.opensSection(i, s.lines()) {
		return 0, false
	}
	d := &diffText{scan: s, lo: i, hi: s.barePatchLimit(i)}
	return d.patch(i), true
}

func isDiffFence(info string) bool {
	word, _, _ := strings.Cut(info, " ")
	switch strings.ToLower(word) {
	case "diff", "patch", "udiff":
		return true
	}
	return false
}

// barePatchLimit gives the line that ends a patch outside fences of its own: the end of the fence it stands in.
func (s *scan) barePatchLimit(i int) int {
	if s.fence.char == 0 {
		return s.lines()
	}
	return s.fenceEnd(i)
}

// fenceEnd gives the line that closes the open fence: bare, of the same character, at least as long, and indented in
// exactly the same way. Without one it is the end of the reply.
func (s *scan) fenceEnd(i int) int {
	for ; i < s.lines(); i++ {
		line := chomp(s.text[s.starts[i]:s.starts[i+1]])
		rest := strings.TrimLeft(string(line), " \t")
		if len(line)-len(rest) != s.fence.indent || len(rest) < s.fence.run || rest[0] != s.fence.char {
			continue
		}
		if strings.Trim(rest, string(s.fence.char)) == "" || strings.Trim(rest[runLength([]byte(rest), s.fence.char):], " \t") == "" {
			return i
		}
	}
	return s.lines()
}

// diffFence reads a fence that says it holds a patch.
func (s *scan) diffFence(i int) (next int, ok bool) {
	end := s.fenceEnd(i)
	d := &diffText{scan: s, lo: i, hi: end, fenced: true}
	found := false
	for at := i; at < end; {
		switch {
		case s.opensSection(at, end):
			at = d.patch(at)
			found = true
		case isHunkHeader(d.raw(at)):
			d.headless(at)
			return end, true
		default:
			at++
		}
	}
	if !found {
		s.warn("patch", NearMiss, s.fence.line+1, "a fence tagged "+s.fence.info+" without a file header is read as an illustration")
		return 0, false
	}
	return end, true
}

func isHunkHeader(line string) bool { return strings.HasPrefix(line, "@@") }

// opensSection reports whether a file header stands at line i.
func (s *scan) opensSection(i, limit int) bool {
	text := s.bare(i)
	if len(text) < 4 || (text[0] != 'd' && text[0] != '-') {
		return false
	}
	if strings.HasPrefix(text, "diff --git ") || strings.HasPrefix(text, "diff --cc ") || strings.HasPrefix(text, "diff --combined ") {
		return true
	}
	return strings.HasPrefix(text, "--- ") && i+2 < limit && strings.HasPrefix(s.bare(i+1), "+++ ") && isHunkHeader(s.bare(i+2))
}

// opensNames is opensSection for the lines --- and +++ alone.
func (d *diffText) opensNames(i int) bool {
	return i+1 < d.hi && strings.HasPrefix(d.bare(i), "--- ") && strings.HasPrefix(d.bare(i+1), "+++ ")
}

var mailStart = regexp.MustCompile(`^From ([0-9a-f]{40}|[0-9a-f]{64}) `)

// isSignature reports whether line i is the "-- " of a mail, with a version line, a blank line or the end behind it.
func (d *diffText) isSignature(i int) bool {
	if line := d.bare(i); line != "-- " && line != "--" {
		return false
	}
	if i+1 >= d.hi {
		return true
	}
	next := strings.TrimSpace(d.bare(i + 1))
	return next == "" || next[0] >= '0' && next[0] <= '9'
}

// problem records what is wrong with the patch that is being read.
func (d *diffText) problem(line int, code diag.Code, form, hint string, args ...any) {
	if d.bad { // one is enough: what follows may be a consequence
		return
	}
	d.bad = true
	kind := diag.Syntax
	if code == diag.InvalidArgument {
		kind = diag.Validation
	}
	d.list.Problems = append(d.list.Problems, diag.Problem{
		Error: diag.New(code, form, args...).At(diag.Pos{Line: line + 1, Column: 1}).WithHint("%s", hint),
		Kind:  kind, Dialect: "patch", BlockStart: d.start + 1, BlockEnd: d.hi, Group: d.group,
	})
}

// headless reports hunks without a file.
func (d *diffText) headless(at int) {
	d.start = at
	d.batch.Groups = append(d.batch.Groups, batch.Group{Dialect: "patch", Span: d.span(at, max(at, d.hi-1)), Malformed: true})
	d.group = len(d.batch.Groups)
	d.problem(at, diag.MalformedStructure, "hunk without file header, line %d", "put `--- a/PATH` and `+++ b/PATH` above it", at+1)
}

// patch reads one patch from its first section on and gives the line behind it.
func (d *diffText) patch(at int) int {
	d.start, d.bad = at, false
	tasks := len(d.batch.Tasks)
	d.batch.Groups = append(d.batch.Groups, batch.Group{Dialect: "patch"})
	d.group = len(d.batch.Groups)
	last := at
	for {
		at = d.section(at)
		last = at
		for at < d.hi && strings.TrimSpace(d.bare(at)) == "" {
			at++
		}
		if at < d.hi && d.opensSection(at, d.hi) {
			continue
		}
		if at < d.hi && (strings.HasPrefix(d.bare(at), "Index: ") || strings.HasPrefix(d.bare(at), "diff ") || strings.HasPrefix(d.bare(at), "====")) {
			k := at
			for k < min(at+4, d.hi) && !d.opensSection(k, d.hi) {
				k++
			}
			if k < d.hi && d.opensSection(k, d.hi) {
				at = k
				continue
			}
		}
		break
	}
	if d.fenced {
		last = d.rest(last)
	}
	g := &d.batch.Groups[d.group-1]
	g.Span = d.span(d.start, max(d.start, last-1))
	if d.bad {
		d.batch.Tasks = d.batch.Tasks[:tasks]
		g.Malformed = true
	}
	return last
}

// rest looks at what stands in a fence behind the last section of a patch. Mail is prose up to the next patch; anything
// else but blank lines makes the patch malformed, since it may be content that lost its prefix.
func (d *diffText) rest(at int) int {
	for ; at < d.hi; at++ {
		line := d.bare(at)
		switch {
		case strings.TrimSpace(line) == "":
		case d.isSignature(at):
			at++ // the version line
		case mailStart.MatchString(line):
			return d.nextSection(at)
		default:
			d.problem(at, diag.MalformedStructure, "line %d starts with none of blank, `+`, `-`, `\\`", "write context lines with one blank in front", at+1)
			return d.nextSection(at)
		}
	}
	return d.hi
}

func (d *diffText) nextSection(at int) int {
	for at < d.hi && !d.opensSection(at, d.hi) {
		at++
	}
	return at
}

// fileHead is what stands above the hunks of a section.
type fileHead struct {
	git                      bool
	gitLine                  string
	oldName, newName         string // of --- and +++
	hasNames                 bool
	from, to                 string // of rename and copy
	copies                   bool
	newMode, oldMode         string
	created, deleted, binary bool
	blobs                    [2]string
	binaryName               string
}

// section reads a file header with its hunks from line at on and gives the line behind it.
func (d *diffText) section(at int) int {
	start := at
	var h fileHead
	if line := d.bare(at); strings.HasPrefix(line, "diff --") {
		if !strings.HasPrefix(line, "diff --git ") {
			d.problem(at, diag.MalformedStructure, "a combined diff in line %d", "give an ordinary diff against one version", at+1)
		}
		h.git, h.gitLine = true, strings.TrimPrefix(line, "diff --git ")
		at = d.extended(at+1, &h)
	}
	if !h.binary && d.opensNames(at) {
		h.hasNames = true
		h.oldName, h.newName = nameOf(d.bare(at)[4:]), nameOf(d.bare(at + 1)[4:])
		at += 2
	}
	var hunks []batch.Hunk
	for at < d.hi && isHunkHeader(d.bare(at)) {
		if strings.HasPrefix(d.bare(at), "@@@") {
			d.problem(at, diag.MalformedStructure, "a combined diff in line %d", "give an ordinary diff against one version", at+1)
		}
		if !h.hasNames {
			d.problem(at, diag.MalformedStructure, "hunk without file header, line %d", "put `--- a/PATH` and `+++ b/PATH` above it", at+1)
		}
		var hunk batch.Hunk
		hunk, at = d.hunk(at)
		hunks = append(hunks, hunk)
	}
	d.finishSection(start, at, &h, hunks)
	return at
}

// extended reads the lines between "diff --git" and the names.
func (d *diffText) extended(at int, h *fileHead) int {
	for ; at < d.hi; at++ {
		line := d.bare(at)
		word := func(prefix string) (string, bool) { return strings.CutPrefix(line, prefix) }
		switch {
		case strings.HasPrefix(line, "similarity index "), strings.HasPrefix(line, "dissimilarity index "):
		default:
			if rest, ok := word("old mode "); ok {
				h.oldMode = rest
			} else if rest, ok := word("new mode "); ok {
				h.newMode = rest
			} else if rest, ok := word("new file mode "); ok {
				h.newMode, h.created = rest, true
			} else if rest, ok := word("deleted file mode "); ok {
				h.oldMode, h.deleted = rest, true
			} else if rest, ok := word("rename from "); ok {
				h.from = unquoteName(rest)
			} else if rest, ok := word("rename to "); ok {
				h.to = unquoteName(rest)
			} else if rest, ok := word("copy from "); ok {
				h.from, h.copies = unquoteName(rest), true
			} else if rest, ok := word("copy to "); ok {
				h.to, h.copies = unquoteName(rest), true
			} else if rest, ok := word("index "); ok {
				ids, _, _ := strings.Cut(rest, " ")
				old, new, _ := strings.Cut(ids, "..")
				h.blobs = [2]string{old, new}
			} else if strings.HasPrefix(line, "GIT binary patch") {
				h.binary = true
				return d.binaryEnd(at + 1)
			} else if strings.HasPrefix(line, "Binary files ") && strings.HasSuffix(line, " differ") {
				h.binary = true
				return at + 1
			} else {
				return at
			}
		}
	}
	return at
}

// binaryEnd passes over the data of a binary patch: two parts, each up to a blank line.
func (d *diffText) binaryEnd(at int) int {
	for at < d.hi && !d.opensSection(at, d.hi) {
		line := d.bare(at)
		if strings.TrimSpace(line) == "" && (at+1 >= d.hi || !strings.HasPrefix(d.bare(at+1), "literal ") && !strings.HasPrefix(d.bare(at+1), "delta ")) {
			return at
		}
		at++
	}
	return at
}

// finishSection makes the task of a section.
func (d *diffText) finishSection(start, end int, h *fileHead, hunks []batch.Hunk) {
	names, code, message, hint := h.names()
	if code != "" {
		d.problem(start, code, "%s", hint, message)
		return
	}
	if !h.git && len(hunks) == 0 {
		d.problem(start, diag.MalformedStructure, "no hunk for %s", "give the changed lines behind an @@ line", names.path)
		return
	}
	t := batch.Task{Group: d.group, Dialect: "patch", Span: d.span(start, max(start, end-1)), Words: patchWords}
	t.Action, t.Op = h.op(names, hunks, d.peerTier(batch.Whitespace))
	t.Params = append(t.Params, param("path", names.path))
	if names.to != "" {
		t.Params = append(t.Params, param("to", names.to))
	}
	if w, ok := t.Op.(batch.Write); ok {
		t.Params = append(t.Params, param("content", string(w.Content)))
	} else if len(hunks) > 0 {
		t.Params = append(t.Params, param("edits", hunkParams(hunks)))
	}
	if h.newMode != "" {
		t.Params = append(t.Params, param("mode", h.newMode))
	}
	d.addTask(t)
}

var patchWords = &batch.Words{
	Hints: map[string]string{
		"file_exists": "`--- /dev/null` is for new files; to change this one write `--- a/{path}`",
	},
}

// op gives the operation of a section.
func (h *fileHead) op(n sectionNames, hunks []batch.Hunk, tier batch.MatchTier) (action string, op batch.Op) {
	refuse := func(code diag.Code, why, hint string) batch.Op {
		as := map[string]string{"patch_create": "write", "patch_delete": "remove"}[action]
		if as == "" {
			as = "edit"
		}
		return batch.NotDone{As: as, Text: why, Why: why, Hint: hint, Fails: true, Code: code}
	}
	switch {
	case n.creates:
		action = "patch_create"
	case n.deletes:
		action = "patch_delete"
	case h.copies:
		action = "patch_copy"
	case n.to != "":
		action = "patch_rename"
	default:
		action = "patch_edit"
	}
	for _, mode := range []string{h.newMode, h.oldMode} {
		switch mode {
		case "", "100644", "100755":
		case "120000":
			return action, refuse(diag.SymlinkNotAllowed, n.path+" is a symbolic link", "links are not made by patches; make it by hand")
		default:
			return action, refuse(diag.InvalidArgument, "mode "+mode+" of "+n.path, "modes are 100644 and 100755")
		}
	}
	if h.binary {
		return action, refuse(diag.BinaryFile, "GIT binary patch for "+n.path, "binary patches are not supported; add the file by hand")
	}
	if action == "patch_create" {
		w := batch.Write{Path: n.path, Content: newContent(hunks), Mode: batch.Create}
		if h.newMode != "" {
			exec := h.newMode == "100755"
			w.Exec = &exec
		}
		return action, w
	}
	p := batch.Patch{
		Path: n.path, To: n.to, Copy: h.copies, Delete: n.deletes, Hunks: hunks, Match: tier, Blobs: h.blobs,
		Exact: endsInCR(hunks), MayCreate: n.to == "" && !n.deletes && onlyAdds(hunks),
	}
	if h.newMode != "" {
		exec := h.newMode == "100755"
		p.Exec = &exec
	}
	if h.oldMode != "" {
		was := h.oldMode == "100755"
		p.WasExec = &was
	}
	return action, p
}

// newContent gives the file that the added lines of hunks make.
func newContent(hunks []batch.Hunk) string {
	var b strings.Builder
	for _, h := range hunks {
		for _, line := range h.Lines {
			if line.Kind != '-' {
				b.WriteString(line.Text)
				if !line.NoNewline {
					b.WriteByte('\n')
				}
			}
		}
	}
	return b.String()
}

// endsInCR reports whether the hunks know of CRs, so that line ends are to be taken byte for byte.
func endsInCR(hunks []batch.Hunk) bool {
	for _, h := range hunks {
		for _, line := range h.Lines {
			if strings.HasSuffix(line.Text, "\r") {
				return true
			}
		}
	}
	return false
}

// onlyAdds reports whether there is one hunk, for line 0, without any old line.
func onlyAdds(hunks []batch.Hunk) bool {
	if len(hunks) != 1 || !strings.Contains(hunks[0].Header, "-0,0") {
		return false
	}
	for _, line := range hunks[0].Lines {
		if line.Kind != '+' {
			return false
		}
	}
	return true
}

// hunkHeader is the numbered form.
var hunkHeader = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// hunk reads the hunk whose header stands at line at, by its counts if they are right, else by its shape.
func (d *diffText) hunk(at int) (batch.Hunk, int) {
	header := d.bare(at)
	h := batch.Hunk{Header: header}
	if m := hunkHeader.FindStringSubmatch(header); m != nil {
		h.Line, _ = strconv.Atoi(m[1])
		h.Header = m[0]
		if lines, next, ok := d.counted(at+1, countOf(m[2]), countOf(m[4])); ok {
			h.Lines, h.Counted = lines, true
			return h, next
		}
	}
	next := at + 1
	h.Lines, next = d.shaped(next)
	if len(h.Lines) == 0 {
		d.problem(at, diag.MalformedStructure, "the hunk of line %d has no lines", "give the changed lines behind it", at+1)
	}
	return h, next
}

func countOf(s string) int {
	if s == "" {
		return 1
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// counted reads lines until both counts are used up; ok is false if a line cannot be of the hunk, or more follows.
func (d *diffText) counted(at, old, new int) (lines []batch.HunkLine, next int, ok bool) {
	if n := max(old, new); n > 0 && n <= d.hi-at {
		lines = make([]batch.HunkLine, 0, n)
	}
	for at < d.hi && (old > 0 || new > 0) {
		line := d.raw(at)
		if rest, isMark := strings.CutPrefix(line, `\ `); isMark && len(lines) > 0 && rest != "" {
			lines[len(lines)-1].NoNewline = true
			at++
			continue
		}
		kind, text, good := hunkLine(line)
		if !good {
			return nil, 0, false
		}
		if kind != '+' {
			old--
		}
		if kind != '-' {
			new--
		}
		if old < 0 || new < 0 {
			return nil, 0, false
		}
		lines = append(lines, batch.HunkLine{Kind: kind, Text: text})
		at++
	}
	if old != 0 || new != 0 || len(lines) == 0 {
		return nil, 0, false
	}
	if at < d.hi && strings.HasPrefix(d.raw(at), `\ `) {
		lines[len(lines)-1].NoNewline = true
		at++
	}
	if at < d.hi {
		if line := d.raw(at); line != "" && strings.IndexByte(" +-", line[0]) >= 0 && !d.opensNames(at) && !d.isSignature(at) {
			return nil, 0, false
		}
	}
	return lines, at, true
}

// hunkLine reads a line of a hunk.
func hunkLine(line string) (kind byte, text string, ok bool) {
	if line == "" || line == "\r" {
		return ' ', line, true
	}
	if strings.IndexByte(" +-", line[0]) < 0 {
		return 0, "", false
	}
	return line[0], line[1:], true
}

// shaped reads lines up to what can be no line of a hunk. Bare blank lines at its end do not belong to it.
func (d *diffText) shaped(at int) (lines []batch.HunkLine, next int) {
	bare := 0
	for ; at < d.hi; at++ {
		line := d.raw(at)
		if isHunkHeader(line) || d.opensNames(at) || d.isSignature(at) || strings.HasPrefix(line, "diff --") || mailStart.MatchString(line) {
			break
		}
		if strings.HasPrefix(line, `\ `) && len(lines) > 0 {
			lines[len(lines)-1].NoNewline = true
			bare = 0
			continue
		}
		kind, text, good := hunkLine(line)
		if !good {
			if bare == 0 && !strings.HasPrefix(line, "Index: ") {
				d.problem(at, diag.MalformedStructure, "line %d starts with none of blank, `+`, `-`, `\\`", "write context lines with one blank in front", at+1)
			}
			break
		}
		if strings.TrimSuffix(line, "\r") == "" {
			bare++
		} else {
			bare = 0
		}
		lines = append(lines, batch.HunkLine{Kind: kind, Text: text})
	}
	return lines[:len(lines)-bare], at - bare
}
