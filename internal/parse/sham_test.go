package parse

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

// shamExample is a text with what its blocks, errors and warnings must be, each on one line.
type shamExample struct {
	name, gen, input         string
	blocks, errors, warnings []string
}

func readShamExamples(t testing.TB, file string) []shamExample {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []shamExample
	for line := range strings.Lines(string(data)) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch word {
		case "#":
			name, gen, _ := strings.Cut(rest, " ")
			all = append(all, shamExample{name: name, gen: gen})
		case "input:":
			all[len(all)-1].input = shamNotation(rest, all[len(all)-1].gen)
		case "block:":
			all[len(all)-1].blocks = append(all[len(all)-1].blocks, rest)
		case "error:":
			all[len(all)-1].errors = append(all[len(all)-1].errors, rest)
		case "warning:":
			all[len(all)-1].warnings = append(all[len(all)-1].warnings, rest)
		}
	}
	if len(all) < 10 {
		t.Fatalf("only %d examples in %s", len(all), file)
	}
	return all
}

// shamNotation writes out {H id}, {E id}, {D id}: the header, end marker and delimiter of a generation.
func shamNotation(s, gen string) string {
	for _, g := range generations {
		if g.name != gen {
			continue
		}
		for mark, form := range map[string]string{"H": g.mark + " [@" + usualTag + ": %]", "E": g.end + "%", "D": g.delim + "%"} {
			for strings.Contains(s, "{"+mark+" ") {
				before, rest, _ := strings.Cut(s, "{"+mark+" ")
				id, after, _ := strings.Cut(rest, "}")
				s = before + strings.Replace(form, "%", id, 1) + after
			}
		}
	}
	return strings.NewReplacer("⏎", "\n", "␠", " ", "␉", "\t", "␍", "\r", "{BOM}", "\ufeff").Replace(s)
}

func describeSham(d *Sham) (blocks, errs, warnings []string) {
	for _, b := range d.Blocks {
		var props []string
		for _, p := range b.Properties {
			props = append(props, jsonString(p.Key)+": "+jsonString(p.Value))
		}
		end := "null"
		if b.EndLine > 0 {
			end = fmt.Sprint(b.EndLine)
		}
		blocks = append(blocks, fmt.Sprintf("%s %d-%s {%s}", b.ID, b.StartLine, end, strings.Join(props, ", ")))
	}
	notes := func(all []ShamNote) (lines []string) {
		for _, n := range all {
			id := "-"
			if n.BlockID != nil {
				id = *n.BlockID
			}
			lines = append(lines, fmt.Sprintf("%s %d:%d+%d %s", n.Code, n.Line, n.Column, n.Length, id))
		}
		return lines
	}
	return blocks, notes(d.Errors), notes(d.Warnings)
}

// TestShamExamples: blocks, errors and warnings of the worked examples, strict and lenient, with their places.
func TestShamExamples(t *testing.T) {
	for _, mode := range []string{"strict", "lenient"} {
		for _, c := range readShamExamples(t, "../../testdata/parse/sham/"+mode+".txt") {
			t.Run(c.name, func(t *testing.T) {
				blocks, errs, warnings := describeSham(ParseSham(c.input, mode == "strict"))
				for _, part := range []struct {
					what       string
					have, want []string
				}{{"blocks", blocks, c.blocks}, {"errors", errs, c.errors}, {"warnings", warnings, c.warnings}} {
					if !reflect.DeepEqual(part.have, part.want) {
						t.Errorf("%s:\n  %s\nwant:\n  %s", part.what, strings.Join(part.have, "\n  "), strings.Join(part.want, "\n  "))
					}
				}
				if t.Failed() {
					t.Logf("input:\n%s", c.input)
				}
			})
		}
	}
}

// TestShamRecords: the whole records, with content, context and message.
func TestShamRecords(t *testing.T) {
	input := "intro\n#!nesl [@three-char-SHA-256: m5]\nclé = \"v\" 😀\nx\nk = \"w\"\n\nbye\n"
	want := `{"blocks":[{"id":"m5","properties":{"clé":"v","k":"w"},"startLine":2,"endLine":null}],
     "errors":[{"code":"TRAILING_CONTENT","line":3,"column":11,"length":2,"blockId":"m5","content":"clé = \"v\" 😀","context":"intro\n#!nesl [@three-char-SHA-256: m5]\nclé = \"v\" 😀\nx\nk = \"w\"","message":"Unexpected content after quoted value"},
       {"code":"MALFORMED_ASSIGNMENT","line":4,"column":1,"length":1,"blockId":"m5","content":"x","context":"#!nesl [@three-char-SHA-256: m5]\nclé = \"v\" 😀\nx\nk = \"w\"\n","message":"Invalid line format in block 'm5': not a valid key-value assignment or empty line"},
       {"code":"MALFORMED_ASSIGNMENT","line":7,"column":1,"length":3,"blockId":"m5","content":"bye","context":"x\nk = \"w\"\n\nbye\n","message":"Invalid line format in block 'm5': not a valid key-value assignment or empty line"},
       {"code":"UNCLOSED_BLOCK","line":9,"column":1,"length":0,"blockId":"m5","content":"","context":"x\nk = \"w\"\n\nbye\n","message":"Block 'm5' not closed before EOF"}]}`
	have, err := json.Marshal(ParseSham(input, true).Document(true))
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := json.Unmarshal(have, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%s\nwant %s", have, want)
	}
}
