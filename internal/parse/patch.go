package parse

import (
	"regexp"
	"strings"
	"sync"

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
	if s.fence.end < i {
		s.fence.end = s.findFenceEnd(i)
	}
	return s.fence.end
}

func (s *scan) findFenceEnd(i int) int {
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

var mailStart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^From ([0-9a-f]{40}|[0-9a-f]{64}) `) })

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
		case strings.HasPrefix(line, "From ") && mailStart().MatchString(line):
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
