package parse

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// shells are the tags of fences whose content is a program for a shell. They are never executed.
var shells = []string{"bash", "sh", "shell", "zsh", "fish", "ksh", "csh", "tcsh", "cmd", "batch", "powershell", "ps1"}

// openFence reads a whole file: a path line directly above a fence that holds no block. That is done only where the
// dialect was named, since such fences are everywhere.
func (a aider) openFence(s *scan, i int) (next int, ok bool) {
	if s.opts.Dialect != "aider" || i == 0 || i-1 < s.behind {
		return 0, false
	}
	open, isFence := readFence(s.line(i))
	tag := strings.TrimSpace(s.bare(i))
	if !isFence && !slices.Contains(wrapperTags[:5], tag) {
		return 0, false
	}
	path, isPath := pathLine(s.bare(i - 1))
	if !isPath || s.passed >= maxPassed {
		return 0, false
	}
	end := -1
	if isFence {
		end = s.wholeFenceEnd(i, open)
	} else {
		end = s.lineWith(i+1, "</"+tag[1:])
	}
	last := end
	if end < 0 {
		last = s.lines()
	}
	if s.hasSearch(i+1, last) {
		s.passed++
		return 0, false
	}
	if end < 0 {
		s.list.Problems = append(s.list.Problems, diag.Problem{
			Error: diag.New(diag.MalformedStructure, "the file %s has no end", path).At(diag.Pos{Line: i + 1, Column: 1}).
				WithHint("close the fence around it"),
			Kind: diag.Syntax, Dialect: "aider", BlockStart: i + 1, BlockEnd: s.lines(),
		})
		return s.lines(), true
	}
	s.wholeFile(path, i, end, isFence, open)
	return end + 1, true
}

// maxPassed bounds how many fences around blocks are looked at whole before the blocks in them are read.
const maxPassed = 1000

// lineWith gives the first line at or behind i that is text and nothing else, or -1.
func (s *scan) lineWith(i int, text string) int {
	for ; i < s.lines(); i++ {
		if strings.TrimSpace(s.bare(i)) == text {
			return i
		}
	}
	return -1
}

// wholeFenceEnd gives the line that closes a fence around a whole file. A fence with an info string inside it takes the
// next bare one.
func (s *scan) wholeFenceEnd(i int, open fence) int {
	depth := 0
	for k := i + 1; k < s.lines(); k++ {
		f, ok := readFence(s.line(k))
		switch {
		case !ok || f.char != open.char || f.run < open.run:
		case f.info != "":
			depth++
		case depth > 0:
			depth--
		case f.indent == open.indent:
			return k
		}
	}
	return -1
}

// hasSearch reports whether a block of this dialect opens on one of the lines [first, last).
func (s *scan) hasSearch(first, last int) bool {
	t := s.aiderTables().same
	for k := t.limitAt(first); int(k) < len(t.marks) && int(t.marks[k].line) < last; k++ {
		if m := aiderMark(s.line(int(t.marks[k].line))); m.run > 0 && m.class == opener {
			return true
		}
	}
	return false
}

var proseEnds = []string{".md", ".markdown", ".mdx", ".rst", ".adoc"}

var leftOutCode = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\.\.\..*(rest of|existing|remaining|unchanged|same as before)|(rest of|existing|remaining) (the )?(code|file|content).*\.\.\.`)
})

func (s *scan) wholeFile(path string, open, end int, isFence bool, f fence) {
	if isFence && slices.ContainsFunc(proseEnds, func(e string) bool { return strings.HasSuffix(path, e) }) {
		for k := end + 1; k < s.lines(); k++ {
			if next, ok := readFence(s.line(k)); ok && next.char == f.char {
				if next.info == "" {
					pos := diag.Pos{Line: end + 1, Column: 1}
					s.list.Problems = append(s.list.Problems, diag.Problem{
						Error: diag.New(diag.MalformedStructure, "it is in doubt where the fence around %s ends: here or at line %d", path, k+1).At(pos).
							WithHint("use a longer fence around a file that has fences in it"),
						Kind: diag.Syntax, Dialect: "aider", BlockStart: open + 1, BlockEnd: k + 1, Refuses: true,
					})
				}
				break
			}
		}
	}
	s.strip = f.indent
	content := s.body(open+1, end).all()
	s.strip = 0
	for i := open + 1; i < end; i++ {
		if leftOutCode().Match(s.line(i)) {
			s.warn("aider", NearMiss, i+1, "the line says that code was left out, but it is written as it stands")
		}
	}
	s.addTask(batch.Task{
		Dialect: "aider", Action: "whole_file", Params: []batch.Param{param("path", path), param("content", content)},
		Span: s.span(open, end), Fenced: isFence, Op: batch.Write{Path: path, Content: content},
	})
}

// finish names the shell fences of the reply as tasks that are not done, if it is a reply in this dialect.
func (a aider) finish(s *scan) {
	if s.opts.IgnoreFences {
		return
	}
	ours := slices.ContainsFunc(s.batch.Tasks, func(t batch.Task) bool { return t.Dialect == "aider" }) ||
		slices.ContainsFunc(s.list.Problems, func(p diag.Problem) bool { return p.Dialect == "aider" && !p.Refuses })
	if !ours {
		return
	}
	hasBlock := s.ownedLines()
	for _, f := range s.fences {
		words := strings.Fields(f.info)
		if len(words) > 0 && slices.Contains(shells, strings.ToLower(words[0])) && !hasBlock(f.first, f.last) {
			s.addShellFence(f)
		}
	}
	slices.SortStableFunc(s.batch.Tasks, func(a, b batch.Task) int { return a.Span.Lo - b.Span.Lo })
	for i := range s.batch.Tasks {
		s.batch.Tasks[i].Seq = i + 1
	}
}

func (s *scan) addShellFence(f fencedLines) {
	last := min(f.last, s.lines())
	n := max(0, last-f.first-1)
	text := fmt.Sprintf("Skipped: shell fence, %d lines, never executed", n)
	if n == 1 {
		text = "Skipped: shell fence, 1 line, never executed"
	}
	command := s.str[s.starts[min(f.first+1, last)]:s.starts[last]]
	s.addTask(batch.Task{
		Dialect: "aider", Action: "shell", Span: s.span(f.first, min(last, s.lines()-1)), Fenced: true,
		Params: []batch.Param{param("command", strings.TrimSuffix(command, "\n"))},
		Op:     batch.NotDone{As: "run", Text: text, Why: "a shell fence is never executed", Hint: "run it yourself if it is right", Harmless: true},
	})
}

// ownedLines gives a function that reports whether a block lies within lines.
func (s *scan) ownedLines() func(first, last int) bool {
	var starts []int
	for i := range s.batch.Tasks {
		starts = append(starts, s.batch.Tasks[i].Span.Start-1)
	}
	for _, g := range s.batch.Groups {
		starts = append(starts, g.Span.Start-1)
	}
	for _, p := range s.list.Problems {
		starts = append(starts, p.BlockStart-1)
	}
	slices.Sort(starts)
	return func(first, last int) bool {
		i, _ := slices.BinarySearch(starts, first)
		return i < len(starts) && starts[i] <= last
	}
}
