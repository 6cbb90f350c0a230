package apply

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// lineSpec reads a line specification: N or N-M. Each part is an integer prefix, as in JavaScript's parseInt: blanks
// before it are skipped, what follows the digits is ignored.
func lineSpec(spec string) (first, last int, err *diag.Error) {
	invalid := func() *diag.Error {
		return diag.New(diag.InvalidArgument, "the line specification %q is not allowed", spec).
			WithHint("write N or N-M, counted from 1").With("invalid lines", "spec", spec)
	}
	parts := strings.Split(spec, "-")
	if len(parts) > 2 {
		return 0, 0, invalid()
	}
	numbers := make([]int, len(parts))
	for i, part := range parts {
		part = strings.TrimLeft(part, " \t\r\n")
		n := 0
		for n < len(part) && part[n] >= '0' && part[n] <= '9' {
			n++
		}
		value, convErr := strconv.Atoi(part[:min(n, 9)])
		if convErr != nil || value < 1 {
			return 0, 0, invalid()
		}
		numbers[i] = value
	}
	first, last = numbers[0], numbers[len(numbers)-1]
	if last < first {
		return 0, 0, diag.New(diag.InvalidArgument, "the line range %q ends before it starts", spec).
			WithHint("the first number must not be larger than the second").With("reversed lines", "spec", spec)
	}
	return first, last, nil
}

// numberedLines splits content at LF, CRLF and lone CR, as actions that count lines do.
func numberedLines(content string) []rawLine {
	var lines []rawLine
	for {
		n := strings.IndexAny(content, "\r\n")
		if n < 0 {
			return append(lines, rawLine{text: content})
		}
		end := content[n : n+1]
		if strings.HasPrefix(content[n:], "\r\n") {
			end = "\r\n"
		}
		lines = append(lines, rawLine{content[:n], end})
		content = content[n+len(end):]
	}
}

// countedLines is numberedLines without the empty line behind a final LF or CRLF.
func countedLines(content string) []rawLine {
	lines := numberedLines(content)
	if n := len(lines); lines[n-1].text == "" && (n == 1 || lines[n-2].end != "\r") {
		return lines[:n-1]
	}
	return lines
}

// editLines replaces lines by number.
func (p *planner) editLines(r *Result, op batch.EditLines) *diag.Error {
	path, was, content, err := p.file(r, op.Path)
	if err != nil {
		return err
	}
	first, last, err := lineSpec(op.Spec)
	if err != nil {
		return err
	}
	bom := ""
	text := string(content)
	if strings.HasPrefix(text, byteOrderMark) {
		bom, text = byteOrderMark, text[len(byteOrderMark):]
	}
	lines := countedLines(text)
	if last > len(lines) {
		return diag.New(diag.InvalidArgument, "lines %s are not in %s, which has %d", op.Spec, path, len(lines)).
			WithHint("the file has %d lines", len(lines)).With("lines out of bounds", "spec", op.Spec, "n", len(lines))
	}
	if p.shifted[path] {
		p.warnings = append(p.warnings, diag.Warning{
			Dialect: r.Task.Dialect, Code: "LINE_NUMBERS_SHIFTED", Pos: r.Task.Span.Pos(), BlockID: r.Task.ID,
			Message: fmt.Sprintf("an earlier edit of this reply changed the number of lines in %s: numbers refer to the file as it was then left", path),
		})
	}
	added := countedLines(op.New)
	if len(added) == 0 {
		added = []rawLine{{}}
	}
	if err := p.replaceLines(path, was, bom, lines, first, last, added); err != nil {
		return err
	}
	r.fact("replaced", last-first+1)
	p.edited(r, path, &Match{Tier: tierExact, Count: 1, Lines: []int{first}, Ends: []int{last}})
	return nil
}

func (p *planner) replaceLines(path batch.Path, was *Node, bom string, lines []rawLine, first, last int, added []rawLine) *diag.Error {
	end := ""
	for _, line := range lines[first-1 : last] {
		if end == "" {
			end = line.end
		}
	}
	var b strings.Builder
	b.WriteString(bom)
	for _, line := range lines[:first-1] {
		b.WriteString(line.text + line.end)
	}
	if end == "" {
		end = ending(b.String())
	}
	for i, line := range added {
		b.WriteString(line.text)
		if i < len(added)-1 {
			b.WriteString(end)
		}
	}
	b.WriteString(lines[last-1].end)
	for _, line := range lines[last:] {
		b.WriteString(line.text + line.end)
	}
	if _, err := p.store(path, was, []byte(b.String())); err != nil {
		return err
	}
	if len(added) != last-first+1 {
		if p.shifted == nil {
			p.shifted = map[batch.Path]bool{}
		}
		p.shifted[path] = true
	}
	return nil
}

// readNumbered gives lines with their numbers. A final line end makes one more, empty, line here.
func (p *planner) readNumbered(r *Result, op batch.ReadNumbered) *diag.Error {
	at, n, err := p.target(r, op.Path, "")
	if err != nil {
		return err
	}
	content, err := p.text(at, n)
	if err != nil {
		return err
	}
	lines := numberedLines(content)
	first, last := 1, len(lines)
	if op.Spec != "" {
		if first, last, err = lineSpec(op.Spec); err != nil {
			return err
		}
	}
	r.fact("content", "")
	if content == "" {
		r.Did = append(r.Did, Effect{Verb: "read", Path: at})
		return nil
	}
	short := last > len(lines)
	shown := lines[min(first-1, len(lines)):min(last, len(lines))]
	width := len(strconv.Itoa(min(last, len(lines))))
	out := make([]string, len(shown))
	for i, line := range shown {
		out[i] = fmt.Sprintf("%*d%s%s", width, first+i, op.Delimiter, line.text)
	}
	r.fact("content", strings.Join(out, "\n"))
	if short {
		r.shape()
		return diag.New(diag.InvalidArgument, "lines %s were asked for, but %s has only %d", op.Spec, at, len(lines)).
			WithHint("the file has %d lines", len(lines)).With("lines beyond the end", "spec", op.Spec, "n", len(lines))
	}
	r.Did = append(r.Did, Effect{Verb: "read", Path: at, Bytes: len(content)})
	return nil
}
