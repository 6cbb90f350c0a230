package parse

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

func listText(problems []diag.Problem, warnings []diag.Warning) string {
	var b strings.Builder
	for _, p := range problems {
		verdict := "error"
		if p.Refuses {
			verdict = "refused"
		}
		fmt.Fprintf(&b, "%s %d:%d %s %s", verdict, p.Pos.Line, p.Pos.Column, p.Code, p.Message)
		if p.Hint != "" {
			fmt.Fprintf(&b, " | %s", strings.ReplaceAll(p.Hint, "\n", " | "))
		}
		b.WriteString("\n")
	}
	for _, w := range warnings {
		fmt.Fprintf(&b, "warning %d %s\n", w.Pos.Line, w.Code)
	}
	return b.String()
}

// seeds adds every worked example and every whole reply of testdata to a fuzz corpus.
func seeds(f *testing.F) {
	replies, err := filepath.Glob("../../testdata/replies/*/reply.md")
	if err != nil || len(replies) == 0 {
		f.Fatal("no replies in testdata", err)
	}
	for _, name := range replies {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	examples, err := os.ReadFile("../../testdata/parse/markers/examples.txt")
	if err != nil {
		f.Fatal(err)
	}
	text := string(examples)
	more, err := filepath.Glob("../../testdata/apply/*.txt")
	if err != nil || len(more) == 0 {
		f.Fatal("no examples", err)
	}
	for _, name := range more {
		examples, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		text += string(examples)
	}
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "reply: "); ok {
			f.Add([]byte(notation(rest)))
		}
	}
}

// FuzzParse: parsing never panics, numbers are consecutive, spans are in order and inside the reply, every problem has
// a place and a hint, and parsing twice gives the same.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, reply []byte) {
		b, list := Parse(reply, Options{})
		again, _ := Parse(reply, Options{})
		if !reflect.DeepEqual(b, again) {
			t.Fatal("two readings differ")
		}
		last := 0
		for i, task := range b.Tasks {
			if task.Seq != i+1 {
				t.Fatalf("task %d has number %d", i+1, task.Seq)
			}
			if task.Span.Lo < last || task.Span.End < task.Span.Start || task.Span.Lo >= task.Span.Hi || task.Span.Hi > len(reply) {
				t.Fatalf("task %d has span %+v behind offset %d of %d bytes", i+1, task.Span, last, len(reply))
			}
			last = task.Span.Hi
		}
		for _, p := range list.Problems {
			if p.Code != diag.InputTooLarge && (p.Pos.Line < 1 || p.Pos.Column < 1) {
				t.Fatalf("problem without a place: %v", p.Error)
			}
			if p.Hint == "" {
				t.Fatalf("problem without a hint: %v", p.Error)
			}
		}
	})
}

// FuzzFormat: a batch that is written out and read again is the same batch.
func FuzzFormat(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, reply []byte) {
		b, _ := Parse(reply, Options{AllowEmptyReplace: true})
		text, err := Format(b)
		if err != nil {
			t.Skip("not expressible: " + err.Error())
		}
		again, list := Parse([]byte(text), Options{AllowEmptyReplace: true})
		if len(b.Tasks) > 0 && len(list.Problems) > 0 {
			t.Fatalf("written out as\n%s\nit has problems:\n%s", text, listText(list.Problems, nil))
		}
		if got, want := ops(again), ops(b); !reflect.DeepEqual(got, want) {
			t.Fatalf("written out as\n%s\ngot  %q\nwant %q", text, got, want)
		}
	})
}

// ops gives the ops and which of them stand together, without line numbers.
func ops(b *batch.Batch) []string {
	var all []string
	group, number := 0, 0
	for _, task := range b.Tasks {
		if task.Group != group && task.Group > 0 {
			number++
		}
		group = task.Group
		in := 0
		if group > 0 {
			in = number
		}
		all = append(all, fmt.Sprintf("%d %s", in, describeOp(task.Op)))
	}
	return all
}
