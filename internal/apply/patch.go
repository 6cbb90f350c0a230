package apply

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"sort"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// PatchData is what an edit at several places of whole lines gives back.
type PatchData struct {
	Edits     []HunkPlace `json:"edits,omitempty"`
	Preimage  string      `json:"preimage,omitempty"` // verified, differs or unknown: is the file what the patch was made for
	Mode      string      `json:"mode,omitempty"`     // the file's mode, where it is not what the patch believes
	Overwrote bool        `json:"overwrote,omitempty"`
}

// HunkPlace says where one hunk was found.
type HunkPlace struct {
	Tier    string `json:"tier"`
	Line    int    `json:"line"`
	By      string `json:"by"` // line: where the reply says; context: where its lines stand
	Offset  int    `json:"offset,omitempty"`
	Dropped int    `json:"dropped,omitempty"` // blank lines at its end that did not belong to it
}

// placed is a hunk with its place.
type placed struct {
	linePlace
	hunk    *batch.Hunk
	lines   []batch.HunkLine // those that count
	by      string
	dropped int
	insert  bool // it has no old line: it goes in before line at
}

// patch changes a file at the places of its hunks, all found in the file as it is, and may move, copy or remove it.
func (p *planner) patch(r *Result, op batch.Patch) *diag.Error {
	path, was, err := p.target(r, op.Path, "")
	if err != nil {
		return err
	}
	if was == nil && op.MayCreate {
		return p.write(r, batch.Write{Path: op.Path, Content: addedLines(op.Hunks), Mode: batch.Create, Exec: op.Exec})
	}
	if was == nil {
		return p.missingForPatch(path, op)
	}
	var data PatchData
	if len(op.Hunks) > 0 || op.Delete {
		if err := p.patchContent(r, path, was, op, &data); err != nil {
			return err
		}
	}
	if op.WasExec != nil && was.Kind == Regular && (was.Perm&0o100 != 0) != *op.WasExec {
		data.Mode = map[bool]string{true: "100755", false: "100644"}[was.Perm&0o100 != 0]
	}
	turned, err := p.chmod(path, op.Exec)
	if err != nil {
		return err
	}
	if turned {
		if err := p.mayWrite(path, false); err != nil {
			return err
		}
		if len(r.Did) == 0 {
			r.Did = append(r.Did, Effect{Verb: "mode", Path: path})
		}
	}
	if op.To != "" {
		if err := p.relocate(r, op, &data); err != nil {
			return err
		}
	}
	if data.Edits != nil || data.Preimage != "" || data.Mode != "" || data.Overwrote {
		r.Data = data
	}
	return nil
}

// addedLines gives the file that hunks without old lines make.
func addedLines(hunks []batch.Hunk) string {
	var b strings.Builder
	for _, h := range hunks {
		for _, line := range h.Lines {
			b.WriteString(line.Text)
			if !line.NoNewline {
				b.WriteString("\n")
			}
		}
	}
	return b.String()
}

// missingForPatch says what could be meant by a path that does not exist.
func (p *planner) missingForPatch(path batch.Path, op batch.Patch) *diag.Error {
	err := p.missing(path)
	if rest, ok := strings.CutPrefix(string(path), "a/"); ok {
		if n, lookErr := p.tree.lstat(batch.Path(rest)); lookErr == nil && n != nil {
			return err.WithHint("%s exists: write `--- a/%s` and `+++ b/%s`", rest, rest, rest)
		}
	}
	if op.InOrder && err.Hint == "" {
		err.WithHint("`*** Add File: %s` creates it", path)
	}
	return err
}

// relocate moves or copies the patched file to its new place.
func (p *planner) relocate(r *Result, op batch.Patch, data *PatchData) *diag.Error {
	_, was, err := p.look(op.To, "")
	if err != nil {
		return err
	}
	data.Overwrote = was != nil
	if was != nil {
		r.fact("overwrote", true)
	}
	edits := r.Did
	r.Did = nil
	if op.Copy {
		err = p.copyAfterEdit(r, op)
	} else {
		err = p.move(r, op.Path, op.To, "", op.Overwrite)
	}
	if err != nil {
		return err
	}
	r.Did[len(r.Did)-1].Over = was != nil
	r.Did = append(edits, r.Did...)
	return nil
}

// copyAfterEdit puts the edited content at the new place and what it was made from back at the old one.
func (p *planner) copyAfterEdit(r *Result, op batch.Patch) *diag.Error {
	if err := p.copy(r, op.Path, op.To, "", batch.Copy{Overwrite: op.Overwrite}); err != nil {
		return err
	}
	from, _, err := p.look(op.Path, "")
	if err != nil {
		return err
	}
	was, err := p.beforeTask(from)
	if err != nil {
		return err
	}
	return p.tree.set(from, was)
}

// beforeTask gives what was at a path when the task began.
func (p *planner) beforeTask(at batch.Path) (*Node, *diag.Error) {
	for _, u := range p.tree.undo {
		if u.path == at {
			if u.had {
				return u.prev, nil
			}
			return p.tree.original(at)
		}
	}
	return p.tree.lstat(at)
}

// patchContent makes the hunks of a patch.
func (p *planner) patchContent(r *Result, path batch.Path, was *Node, op batch.Patch, data *PatchData) *diag.Error {
	content, err := p.readable(path, was)
	if err != nil {
		return err
	}
	data.Preimage = p.preimage(content, op.Blobs[0])
	f := newLineFile(content)
	f.strict = op.Exact
	all, err := f.place(op)
	if err != nil {
		p.explainMiss(r, err, f, content, op, data)
		return err
	}
	if op.Delete {
		return p.patchDelete(r, path, f, all)
	}
	changes, err := f.changes(all)
	if err != nil {
		return err
	}
	if _, err := p.store(path, was, []byte(f.rewrite(changes))); err != nil {
		return err
	}
	m := &Match{Tier: tierExact, Count: len(all)}
	for i, h := range all {
		at := HunkPlace{Tier: h.tier, Line: h.at + 1, By: h.by, Dropped: h.dropped}
		if h.by == "context" && h.hunk.Line > 0 {
			at.Offset = h.at + 1 - h.hunk.Line
			if len(all) == 1 {
				m.Moved = at.Offset
			}
		}
		data.Edits = append(data.Edits, at)
		m.Tier = looser(m.Tier, h.tier)
		m.Lines = append(m.Lines, h.at+1)
		if h.dropped > 0 {
			m.Notes = append(m.Notes, fmt.Sprintf("hunk %d: trailing blank line ignored", i+1))
		}
	}
	if data.Preimage == "differs" {
		m.Notes = append(m.Notes, "pre-image differs from blob "+op.Blobs[0])
	}
	p.edited(r, path, m)
	return nil
}

// preimage compares a file with the blob that a patch was made for. Models invent ids, so an unknown one says nothing.
func (p *planner) preimage(content []byte, blob string) string {
	switch {
	case blob == "":
		return ""
	case isBlob(content, blob):
		return "verified"
	case p.o.Blob != nil && p.o.Blob(blob):
		return "differs"
	}
	return "unknown"
}

// isBlob reports whether git would give content an id that starts with prefix.
func isBlob(content []byte, prefix string) bool {
	sum := sha1.New()
	fmt.Fprintf(sum, "blob %d\x00", len(content))
	sum.Write(content)
	return len(prefix) >= 4 && strings.HasPrefix(hex.EncodeToString(sum.Sum(nil)), prefix)
}

func (p *planner) explainMiss(r *Result, err *diag.Error, f *lineFile, content []byte, op batch.Patch, data *PatchData) {
	if lines := f.inPlace(op); lines != nil {
		r.AlreadyApplied = true
		err.Hint = "the new text is already there, at " + Lines(lines)
	}
	if data.Preimage == "differs" {
		err.Hint += "\npre-image differs from blob " + op.Blobs[0]
	}
	if op.Blobs[1] != "" && isBlob(content, op.Blobs[1]) {
		r.AlreadyApplied = true
		err.Hint = "the file already is what the patch makes of it (blob " + op.Blobs[1] + ")"
	}
}

// inPlace gives where the results of all hunks stand, or nil if they do not all. What adds little proves nothing.
func (f *lineFile) inPlace(op batch.Patch) []int {
	const telling = 10
	reverse := op
	reverse.Hunks = nil
	added := 0
	for _, h := range op.Hunks {
		back := h
		back.Lines, back.Counted, back.Loose = nil, false, 0
		for _, line := range h.Lines {
			switch line.Kind {
			case '+':
				added += len(strings.TrimSpace(line.Text))
				line.Kind = '-'
			case '-':
				line.Kind = '+'
			}
			back.Lines = append(back.Lines, line)
		}
		reverse.Hunks = append(reverse.Hunks, back)
	}
	if added < telling || op.Delete {
		return nil
	}
	all, err := f.place(reverse)
	if err != nil {
		return nil
	}
	lines := make([]int, len(all))
	for i, h := range all {
		if h.insert {
			return nil
		}
		lines[i] = h.at + 1
	}
	return lines
}

func (p *planner) patchDelete(r *Result, path batch.Path, f *lineFile, all []placed) *diag.Error {
	gone := make([]bool, len(f.lines))
	for _, h := range all {
		i := h.at
		for _, line := range h.lines {
			if line.Kind == '-' {
				gone[i] = true
			}
			if line.Kind != '+' {
				i++
			}
		}
	}
	var left []int
	for i, g := range gone {
		if !g {
			left = append(left, i+1)
		}
	}
	if len(left) > 0 {
		return diag.New(diag.MatchCountMismatch, "the deletion leaves %s", Lines(left)).WithHint("a deletion must remove every line")
	}
	return p.remove(r, string(path), "", batch.Remove{})
}

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
		if strings.HasSuffix(text, "\r") {
			text, end = text[:len(text)-1], "\r\n"
		}
		if line.NoNewline && strict {
			end = ""
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
			found := f.places(old, tier, lowest, hi)
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

// changes turns placed hunks into changes, in the order of the file. Hunks may share context lines; a line that one
// removes may not be in another.
func (f *lineFile) changes(all []placed) ([]change, *diag.Error) {
	owner := map[int]int{}   // line → hunk that has it
	removed := map[int]int{} // line → hunk that removes it
	type edit struct {
		at, order int
		c         change
	}
	var edits []edit
	for n, h := range all {
		i := h.at
		var run *change
		flush := func() {
			if run != nil {
				edits = append(edits, edit{run.at, len(edits), *run})
				run = nil
			}
		}
		start := func() {
			if run == nil {
				run = &change{at: i}
			}
		}
		for _, line := range h.lines {
			switch line.Kind {
			case '+':
				start()
				text, ok := h.shift.line(line.Text)
				if !ok {
					return nil, diag.New(diag.MatchCountMismatch, "the added lines cannot be shifted like the old ones").
						WithHint("indent them like the lines around them")
				}
				run.lines = append(run.lines, newLine{from: -1, text: text, ends: endOf(line, h)})
			case '-':
				if other, taken := owner[i]; taken && other != n {
					return nil, overlap(i)
				}
				owner[i], removed[i] = n, n
				start()
				run.old++
				i++
			default:
				if other, gone := removed[i]; gone && other != n {
					return nil, overlap(i)
				}
				flush()
				owner[i] = n
				i++
			}
		}
		flush()
	}
	sort.SliceStable(edits, func(a, b int) bool {
		if edits[a].at != edits[b].at {
			return edits[a].at < edits[b].at
		}
		return edits[a].order < edits[b].order
	})
	changes := make([]change, 0, len(edits))
	for _, e := range edits {
		if n := len(changes); n > 0 && changes[n-1].at+changes[n-1].old > e.at {
			return nil, overlap(e.at)
		}
		changes = append(changes, e.c)
	}
	return changes, nil
}

// endOf says how a new line ends. Only the exact tier of a patch speaks of that; elsewhere the file's state stays.
func endOf(line batch.HunkLine, h placed) lineEnd {
	switch {
	case h.tier != tierExact || h.hunk.Contexts != nil || h.hunk.Header == "":
		return asBefore
	case line.NoNewline:
		return unended
	}
	return ended
}

func overlap(line int) *diag.Error {
	return diag.New(diag.MatchCountMismatch, "two hunks change line %d", line+1).
		WithHint("put changes that touch each other into one hunk")
}
