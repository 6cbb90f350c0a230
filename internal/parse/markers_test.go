package parse

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/git-clada/git-clada/internal/batch"
)

// TestMarkersExamples reads testdata/parse/markers/examples.txt: numbered replies in the notation of the grammar's
// worked examples, each with the batch and the problems that must come of it.
func TestMarkersExamples(t *testing.T) {
	for _, c := range readExamples(t, "../../testdata/parse/markers/examples.txt") {
		t.Run(c.name, func(t *testing.T) {
			b, list := Parse([]byte(c.reply), Options{AllowEmptyReplace: c.allowEmpty, StrictDividers: c.strictDividers})
			got := describe(b, listText(list.Problems, list.Warnings))
			if got != c.want {
				t.Errorf("reply:\n%s\ngot:\n%swant:\n%s", c.reply, got, c.want)
			}
		})
	}
}

type example struct {
	name, reply, want          string
	allowEmpty, strictDividers bool
	noNewline                  bool // the last line has no line end
}

// readExamples reads blocks of `# name [flags]`, a line `reply: ...` in notation, and the lines of the expected
// description, up to an empty line.
func readExamples(t *testing.T, file string) []example {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []example
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		line := sc.Text()
		switch {
		case strings.HasPrefix(line, "# "):
			name, flags, _ := strings.Cut(line[2:], " ")
			all = append(all, example{
				name: name, allowEmpty: strings.Contains(flags, "allow-empty"), strictDividers: strings.Contains(flags, "strict-dividers"),
				noNewline: strings.Contains(flags, "no-newline"),
			})
		case strings.HasPrefix(line, "reply: "):
			e := &all[len(all)-1]
			e.reply = notation(line[len("reply: "):])
			if e.noNewline {
				e.reply = strings.TrimSuffix(e.reply, "\n")
			}
		case line != "":
			all[len(all)-1].want += line + "\n"
		}
	}
	if len(all) < 50 {
		t.Fatalf("only %d examples in %s", len(all), file)
	}
	return all
}

// notation expands « » ≡ ¦ (seven of the marker character; with a raised digit that many), ⏎ ␠ ⇥ ␍.
func notation(s string) string {
	raised := map[rune]int{'⁸': 8, '⁹': 9}
	marks := map[rune]string{'«': "<", '»': ">", '≡': "=", '¦': "|"}
	var b strings.Builder
	runes := []rune(s)
	for i := 0; i < len(runes); i++ {
		c, ok := marks[runes[i]]
		if !ok {
			b.WriteString(strings.NewReplacer("⏎", "\n", "␠", " ", "⇥", "\t", "␍", "\r").Replace(string(runes[i])))
			continue
		}
		n := 7
		if i+1 < len(runes) && raised[runes[i+1]] > 0 {
			i++
			n = raised[runes[i]]
		}
		b.WriteString(strings.Repeat(c, n))
		if c == "<" || c == ">" {
			b.WriteString(" ")
		}
	}
	return b.String() + "\n"
}

// describe writes a batch and what was wrong, a line each.
func describe(b *batch.Batch, rest string) string {
	var out strings.Builder
	for i, g := range b.Groups {
		state := "ok"
		if g.Malformed {
			state = "malformed"
		}
		fmt.Fprintf(&out, "group %d lines %d-%d %s\n", i+1, g.Span.Start, g.Span.End, state)
	}
	for _, task := range b.Tasks {
		fmt.Fprintf(&out, "task %d", task.Seq)
		if task.Group > 0 {
			fmt.Fprintf(&out, " in group %d", task.Group)
		}
		fmt.Fprintf(&out, " lines %d-%d: %s\n", task.Span.Start, task.Span.End, describeOp(task.Op))
	}
	return out.String() + rest
}

func describeOp(op batch.Op) string {
	switch o := op.(type) {
	case batch.Write:
		return fmt.Sprintf("write %s %q", o.Path, o.Content)
	case batch.Append:
		return fmt.Sprintf("append %s %q", o.Path, o.Content)
	case batch.Edit:
		return fmt.Sprintf("edit %s x%s%s", o.Path, describeExpect(o.Expect), describeSplits(o.Splits))
	case batch.EditRange:
		return fmt.Sprintf("edit_range %s x%s %q ..%s", o.Path, describeExpect(o.Expect), o.Start, describeSplits(o.Splits))
	case batch.Run:
		return fmt.Sprintf("run %q in %q", o.Command, o.Dir)
	}
	return fmt.Sprintf("%s %+v", op.Name(), op)
}

func describeExpect(e batch.Expect) string {
	if e.All {
		return "all"
	}
	return fmt.Sprint(e.Count)
}

func describeSplits(splits []batch.Split) string {
	var b strings.Builder
	for _, s := range splits {
		b.WriteString(" ")
		if s.Divider > 0 {
			fmt.Fprintf(&b, "[%d] ", s.Divider)
		}
		fmt.Fprintf(&b, "%q → %q", s.Old, s.New)
		if s.NoNew {
			b.WriteString(" (nothing)")
		}
	}
	return b.String()
}
