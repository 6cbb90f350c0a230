package parse

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/git-clada/git-clada/internal/diag"
)

// aiderRun tells the two forms of a marker apart in a mark's run: dash forms count from here.
const aiderRun = 100

// aiderMark says what a line is in this dialect, with run 0 for a line that is nothing.
func aiderMark(line []byte) (m mark) {
	if len(line) < 5 {
		return m
	}
	c := line[0]
	n := runLength(line, c)
	if n < 5 || n > 9 {
		return m
	}
	rest := line[n:]
	if c == '=' {
		if onlyBlanks(rest) {
			return mark{run: int32(n), class: divider}
		}
		return m
	}
	label := string(bytes.TrimRight(bytes.TrimLeft(rest, " \t"), " \t"))
	if len(rest) == 0 || !blank(rest[0]) {
		return m
	}
	label = strings.TrimSuffix(label, ">")
	switch {
	case c == '<' && label == "SEARCH":
		return mark{run: int32(n), class: opener, word: wSearch}
	case c == '-' && label == "SEARCH":
		return mark{run: int32(n) + aiderRun, class: opener, word: wSearch}
	case c == '>' && label == "REPLACE":
		return mark{run: int32(n), class: closer, word: wReplace}
	case c == '+' && label == "REPLACE":
		return mark{run: int32(n) + aiderRun, class: closer, word: wReplace}
	}
	return m
}

// aiderTables are the marks of a view: once each run for itself, once all runs and forms taken for the same.
type aiderTables struct{ same, any *markTable }

func (s *scan) aiderTables() *aiderTables {
	all, _ := s.memo["aider"].(map[int]*aiderTables)
	if all == nil {
		all = map[int]*aiderTables{}
		s.memo["aider"] = all
	}
	if t := all[s.strip]; t != nil {
		return t
	}
	t := &aiderTables{same: &markTable{}, any: &markTable{}}
	for i := range s.lines() {
		line := s.line(i)
		m := aiderMark(line)
		if m.run == 0 {
			var ok bool
			if m, ok = classify(line); !ok || m.class == section {
				continue
			}
		}
		m.line = int32(i)
		t.same.marks = append(t.same.marks, m)
		if m.class == opener && m.word != wSearch || m.class == closer && m.word != wReplace {
			continue
		}
		m.run = 1
		t.any.marks = append(t.any.marks, m)
	}
	t.same.balance()
	t.any.balance()
	all[s.strip] = t
	return t
}

// escapable reports whether a line would be structure, or could be taken for it.
func escapable(line string) bool {
	text := []byte(strings.TrimSuffix(line, "\r"))
	if aiderMark(text).run > 0 || strings.HasPrefix(line, ":start_line:") || strings.HasPrefix(line, ":end_line:") {
		return true
	}
	if n := runLength(text, '-'); n >= 5 && n <= 9 && onlyBlanks(text[n:]) {
		return true
	}
	for _, c := range []byte("<>") {
		if n := runLength(text, c); n == minRun && (len(text) == n || blank(text[n])) {
			return true
		}
	}
	return false
}

func (s *scan) strayReplace(i int) {
	err := diag.New(diag.MalformedStructure, "REPLACE marker outside a block").At(diag.Pos{Line: i + 1, Column: 1})
	err.WithHint("the block above ended too early or its opener is wrong")
	for _, w := range slices.Backward(s.list.Warnings) {
		if w.Dialect == "aider" && w.Code == NearMiss {
			err.WithHint("the block above ended too early or its opener is wrong: line %d has `%s`", w.Pos.Line, clip(s.bare(w.Pos.Line-1)))
			break
		}
	}
	s.list.Problems = append(s.list.Problems, diag.Problem{
		Error: err, Kind: diag.Syntax, Dialect: "aider", BlockStart: i + 1, BlockEnd: i + 1, Refuses: true,
	})
}

// aiderNearMiss warns about lines that were meant as openers or closers and are not.
func (s *scan) aiderNearMiss(line []byte, i int) {
	trimmed := bytes.TrimLeft(line, " \t")
	if len(trimmed) < 9 || (trimmed[0] != '<' && trimmed[0] != '>') {
		return
	}
	n := runLength(trimmed, trimmed[0])
	if n < 3 {
		return
	}
	label := strings.TrimSuffix(strings.TrimSpace(string(trimmed[n:])), ">")
	upper := strings.ToUpper(label)
	var why string
	switch {
	case upper != "SEARCH" && upper != "REPLACE" && label != "ORIGINAL" && label != "UPDATED":
		return
	case (label == "SEARCH" || label == "REPLACE") && s.reads("markers") && n >= minRun:
		return // that dialect has its own words for it
	case label == "ORIGINAL" || label == "UPDATED":
		why = "the words are SEARCH and REPLACE"
	case label != upper:
		why = "the words are upper case"
	case len(trimmed) != len(line):
		why = "markers stand at the line start"
	case n < 5 || n > 9:
		why = "a marker has 5 to 9 characters"
	default:
		why = "a blank stands before the word"
	}
	s.warn("aider", NearMiss, i+1, fmt.Sprintf("%s looks like a marker and is read as prose: %s", clip(string(trimmed)), why))
}
