package parse

import (
	"strings"
	"testing"

	"github.com/git-clada/git-clada/internal/batch"
)

// TestPrompts: every example of every prompt is read as exactly one task, and the prompt as a whole as all of them.
func TestPrompts(t *testing.T) {
	for _, dialect := range Dialects() {
		examples := Examples(dialect)
		if len(examples) < 2 {
			t.Errorf("%s has only %d examples", dialect, len(examples))
		}
		for what, text := range examples {
			b, list := Parse([]byte(text), Options{})
			if len(b.Tasks) != 1 || len(list.Problems) > 0 || len(list.Warnings) > 0 || b.Tasks[0].Dialect != dialect {
				t.Errorf("%s, %q:\n%s\n%d tasks\n%s", dialect, what, text, len(b.Tasks), listText(list.Problems, list.Warnings))
			}
		}
		whole, err := Prompt(dialect, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, list := Parse([]byte(whole), Options{})
		if len(b.Tasks) != len(examples) || len(list.Problems) > 0 {
			t.Errorf("%s as a whole: %d tasks of %d\n%s", dialect, len(b.Tasks), len(examples), listText(list.Problems, nil))
		}
		t.Logf("%s: %d examples, %d bytes", dialect, len(examples), len(whole))
	}
	if _, err := Prompt("patch", []string{"glob"}); err == nil {
		t.Error("patch has no glob")
	}
	if text, err := Prompt("markers", []string{"write"}); err != nil || strings.Contains(text, "SEARCH path") {
		t.Error(text, err)
	}
}

// FuzzConvert: a batch that is written in any dialect and read again asks for the same.
func FuzzConvert(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, reply []byte) {
		b, list := Parse(reply, Options{AllowEmptyReplace: true})
		if list.Refused() {
			return
		}
		for _, dialect := range Dialects() {
			text, err := Format(b, dialect)
			if err != nil {
				continue
			}
			again, list := Parse([]byte(text), Options{Dialect: dialect, AllowEmptyReplace: true})
			if len(b.Tasks) > 0 && len(list.Problems) > 0 || len(again.Tasks) != len(b.Tasks) {
				t.Fatalf("written in %s as\n%s\n%d tasks for %d, and problems:\n%s", dialect, text, len(again.Tasks), len(b.Tasks), listText(list.Problems, nil))
			}
			for i := range b.Tasks {
				if !SameOp(again.Tasks[i].Op, b.Tasks[i].Op) {
					t.Fatalf("written in %s as\n%s\ngot  %+v\nwant %+v", dialect, text, again.Tasks[i].Op, b.Tasks[i].Op)
				}
				if again.Tasks[i].Group > 0 && b.Tasks[i].Group == 0 && i > 0 && again.Tasks[i].Group == again.Tasks[i-1].Group {
					t.Fatalf("written in %s as\n%s\ntask %d joined a group", dialect, text, i+1)
				}
			}
		}
	})
}

// TestOwnDialect: every worked example can be written in its own dialect again.
func TestOwnDialect(t *testing.T) {
	written, skipped := map[string]int{}, map[string]int{}
	for _, reply := range exampleReplies(t) {
		b, list := Parse([]byte(reply), Options{AllowEmptyReplace: true})
		if list.Refused() {
			continue
		}
		for i := range b.Tasks {
			one := b.Tasks[i]
			one.Group, one.Seq = 0, 1
			if edit, ok := one.Op.(batch.Edit); ok && len(edit.Splits) > 1 {
				continue // the file decides between several readings, so there is no one text
			}
			_, err := Format(&batch.Batch{Tasks: []batch.Task{one}}, one.Dialect)
			if err != nil {
				skipped[one.Dialect]++
				t.Logf("%s: %v\n%s", one.Dialect, err, reply)
				continue
			}
			written[one.Dialect]++
		}
	}
	for _, dialect := range Dialects() {
		if written[dialect] < 9*skipped[dialect] || written[dialect] == 0 {
			t.Errorf("%s: %d written, %d not", dialect, written[dialect], skipped[dialect])
		}
	}
	t.Log("written", written, "not", skipped)
}
