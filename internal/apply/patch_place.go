package apply

import (
	"fmt"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// place finds the places of all hunks.
func (f *lineFile) place(op batch.Patch) ([]placed, *diag.Error) {
	var all []placed
	cursor := 0
	for i := range op.Hunks {
		h := &op.Hunks[i]
		var at placed
		var err *diag.Error
		if op.InOrder {
			at, cursor, err = f.placeInOrder(h, cursor, op.Match)
		} else {
			at, err = f.placeAnywhere(h, op.Match)
		}
		if err != nil {
			name := fmt.Sprintf("hunk %d of %d", i+1, len(op.Hunks))
			if op.InOrder {
				name = fmt.Sprintf("chunk %d of %d", i+1, len(op.Hunks))
			} else if h.Header != "" {
				name += " (" + clipLine(h.Header) + ")"
			}
			err.Message = name + ": " + err.Message
			return nil, err
		}
		at.hunk = h
		all = append(all, at)
	}
	return all, nil
}

// old gives the old lines of a hunk. Those with a NoNewline flag have no line end.
func oldLinesOf(lines []batch.HunkLine, strict bool) []rawLine {
	var old []rawLine
	for _, line := range lines {
		if line.Kind == '+' {
			continue
		}
		text, end := line.Text, "\n"
		switch {
		case line.NoNewline && strict:
			end = "" // a CR at its end is no part of a line end
		case strings.HasSuffix(text, "\r"):
			text, end = text[:len(text)-1], "\r\n"
		}
		old = append(old, rawLine{text, end})
	}
	return old
}

// placeAnywhere finds a hunk of a unified diff: where its header says, or else at the one place that fits.
func (f *lineFile) placeAnywhere(h *batch.Hunk, loosest batch.MatchTier) (placed, *diag.Error) {
	old := oldLinesOf(h.Lines, true)
	if len(old) == 0 {
		if len(f.lines) > 0 {
			return placed{}, diag.New(diag.MatchCountMismatch, "no context and no removed line").
				WithHint("give at least one unchanged line")
		}
		return placed{linePlace: linePlace{tier: tierExact}, lines: h.Lines, by: "line", insert: true}, nil
	}
	if at := h.Line - 1; h.Counted && f.standsAt(h, old, at) {
		return placed{linePlace: linePlace{at: at, tier: tierExact}, lines: h.Lines, by: "line"}, nil
	}
	for _, tier := range lineTiers(loosest) {
		found := f.patchPlaces(old, tier)
		switch {
		case len(found) == 1:
			return placed{linePlace: found[0], lines: h.Lines, by: "context"}, nil
		case len(found) > 1:
			err := diag.New(diag.MatchCountMismatch, "found %s, expected 1", plural(len(found), "matches"))
			err.Hint = Lines(numbers(found)) + " fit: "
			if h.Line > 0 {
				err.Hint = fmt.Sprintf("not at line %d; ", h.Line) + err.Hint + "correct the line number or "
			}
			err.Hint += "add context"
			return placed{}, err
		}
	}
	return placed{}, f.noPlace(old)
}

// patchPlaces is places with the rule of patches that the end of the file must agree too, in the exact tier.
func (f *lineFile) patchPlaces(old []rawLine, tier string) []linePlace {
	found := f.places(old, tier, 0, len(f.lines))
	if tier != tierExact {
		return found
	}
	kept := found[:0]
	for _, p := range found {
		agree := true
		for i, line := range old {
			if (line.end == "") != (f.lines[p.at+i].end == "") {
				agree = false
			}
		}
		if agree {
			kept = append(kept, p)
		}
	}
	return kept
}

// standsAt reports whether the old lines stand, byte for byte, where the header says.
func (f *lineFile) standsAt(h *batch.Hunk, old []rawLine, at int) bool {
	if at < 0 || at+len(old) > len(f.lines) {
		return false
	}
	for i, line := range old {
		have := f.lines[at+i]
		if line.text != have.text || (line.end == "") != (have.end == "") {
			return false
		}
	}
	if !f.endsAgree(old, at) {
		return false
	}
	if last := h.Lines[len(h.Lines)-1]; last.Kind != ' ' && at+len(old) != len(f.lines) {
		return false
	}
	return true
}

// noPlace says that lines stand nowhere, and what is nearest to them.
func (f *lineFile) noPlace(old []rawLine) *diag.Error {
	var b strings.Builder
	for _, line := range f.lines {
		b.WriteString(line.text + "\n")
	}
	texts := make([]string, len(old))
	for i, line := range old {
		texts[i] = line.text
	}
	return diag.New(diag.MatchCountMismatch, "found 0 matches, expected 1").
		WithHint("%s", newText([]byte(b.String())).missHint(strings.Join(texts, "\n")))
}

// placeInOrder finds a hunk below the lines that were found before, and below its context lines.
func (f *lineFile) placeInOrder(h *batch.Hunk, cursor int, loosest batch.MatchTier) (at placed, next int, err *diag.Error) {
	from, scopeEnd := cursor, -1
	for _, context := range h.Contexts {
		line := []rawLine{{context, "\n"}}
		found, n := linePlace{}, 0
		if scopeEnd > from {
			found, n = f.only(line, loosest, from, scopeEnd)
		}
		if n == 0 {
			found, n = f.only(line, loosest, from, len(f.lines))
		}
		if n != 1 {
			return at, 0, f.contextMiss(context, from, loosest, n)
		}
		from = found.at + 1
		scopeEnd = f.scopeEnd(found.at)
	}
	old := oldLinesOf(h.Lines, false)
	if len(old) == 0 {
		at = placed{linePlace: linePlace{at: len(f.lines), tier: tierExact}, lines: h.Lines, by: "context", insert: true}
		if len(h.Contexts) > 0 && !h.AtEnd {
			at.at = from
		}
		return at, max(cursor, from), nil
	}
	lowest := from
	if len(h.Contexts) > 0 {
		lowest = from - 1 // models repeat the context line
	}
	found, n := f.inScope(old, h, lowest, scopeEnd, loosest)
	lines, dropped := h.Lines, 0
	if n == 0 && h.Loose > 0 && h.Loose < len(h.Lines) {
		lines, dropped = h.Lines[:len(h.Lines)-h.Loose], h.Loose
		if shorter := oldLinesOf(lines, false); len(shorter) > 0 {
			found, n = f.inScope(shorter, h, lowest, scopeEnd, loosest)
			old = shorter
		}
	}
	if n != 1 {
		return at, 0, f.chunkMiss(old, h, lowest, scopeEnd, loosest, n)
	}
	return placed{linePlace: found, lines: lines, by: "context", dropped: dropped}, found.at + len(old), nil
}

// inScope looks for old lines in the scope of the last context line, and if there is none there from it on.
func (f *lineFile) inScope(old []rawLine, h *batch.Hunk, lowest, scopeEnd int, loosest batch.MatchTier) (linePlace, int) {
	for _, hi := range []int{scopeEnd, len(f.lines)} {
		for _, tier := range lineTiers(loosest) {
			lo := lowest
			if len(h.Contexts) > 0 && (tier == tierIndent || tier == tierPunctuation) && firstOld(h) != ' ' {
				lo++ // a line that goes is not the context line, however alike they look
			}
			found := f.places(old, tier, lo, hi)
			if h.AtEnd {
				found = atEnd(found, len(f.lines)-len(old))
			}
			if len(found) > 0 && f.newLinesFit(h, found[0]) {
				return found[0], len(found)
			}
		}
	}
	return linePlace{}, 0
}

// firstOld gives the kind of the first line of a hunk that is in the file.
func firstOld(h *batch.Hunk) byte {
	for _, line := range h.Lines {
		if line.Kind != '+' {
			return line.Kind
		}
	}
	return 0
}

func atEnd(found []linePlace, at int) []linePlace {
	for _, p := range found {
		if p.at == at {
			return []linePlace{p}
		}
	}
	return nil
}

// newLinesFit reports whether the added lines can be shifted like the old ones.
func (f *lineFile) newLinesFit(h *batch.Hunk, p linePlace) bool {
	for _, line := range h.Lines {
		if line.Kind == '+' {
			if _, ok := p.shift.line(line.Text); !ok {
				return false
			}
		}
	}
	return true
}

func (f *lineFile) contextMiss(context string, from int, loosest batch.MatchTier, n int) *diag.Error {
	err := diag.New(diag.MatchCountMismatch, "context %q found %s, expected 1", clipLine(context), times(n))
	line := []rawLine{{context, "\n"}}
	if n == 0 {
		err.Hint = f.noPlace(line).Hint
		if at, above := f.only(line, loosest, 0, from); above > 0 {
			err.Hint = fmt.Sprintf("it stands at line %d, above the place of the chunk before: chunks must be in the order of the file", at.at+1)
		}
		return err
	}
	at, _ := f.only(line, loosest, from, len(f.lines))
	return err.WithHint("%s; put the @@ line of what surrounds it above it", Lines(numbers(f.places(line, at.tier, from, len(f.lines)))))
}

func times(n int) string {
	if n == 1 {
		return "1 time"
	}
	return fmt.Sprintf("%d times", n)
}

func (f *lineFile) chunkMiss(old []rawLine, h *batch.Hunk, lowest, scopeEnd int, loosest batch.MatchTier, n int) *diag.Error {
	if n == 0 {
		if at, above := f.only(old, loosest, 0, lowest); above > 0 && lowest > 0 {
			return diag.New(diag.MatchCountMismatch, "found 0 matches, expected 1").
				WithHint("found at line %d, before the chunk above it (line %d): chunks must be in the order of the file", at.at+1, lowest)
		}
		return f.noPlace(old)
	}
	hi := len(f.lines)
	if scopeEnd > lowest {
		if _, inside := f.only(old, loosest, lowest, scopeEnd); inside > 0 {
			hi = scopeEnd
		}
	}
	first, _ := f.only(old, loosest, lowest, hi)
	found := f.places(old, first.tier, lowest, hi)
	return diag.New(diag.MatchCountMismatch, "found %s, expected 1", plural(n, "matches")).
		WithHint("%s, from line %d on; add lines of context, or an @@ line above", Lines(numbers(found)), lowest+1)
}

// scopeEnd gives the line behind the scope of a context line: the first one below it that is indented no deeper and has
// a letter, digit or quote in it. Lone braces do not end it.
func (f *lineFile) scopeEnd(at int) int {
	own := indentation(f.lines[at].text)
	for i := at + 1; i < len(f.lines); i++ {
		text := f.lines[i].text
		if strings.TrimSpace(text) == "" || indentation(text) > own || !strings.ContainsFunc(text, tells) {
			continue
		}
		return i
	}
	return len(f.lines)
}

func tells(r rune) bool {
	return r == '"' || r == '\'' || r == '`' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' || r > 0x7f
}

// indentation gives the column of the first character; a tab counts to the next multiple of 8.
func indentation(line string) int {
	n := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			n++
		case '\t':
			n += 8 - n%8
		default:
			return n
		}
	}
	return n
}
