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
	for _, reply := range exampleReplies(f) {
		f.Add([]byte(reply))
	}
}

// exampleReplies gives the replies of all worked examples.
func exampleReplies(tb testing.TB) []string {
	files, err := filepath.Glob("../../testdata/apply/*.txt")
	if err != nil || len(files) == 0 {
		tb.Fatal("no examples", err)
	}
	var all []string
	for _, name := range append(files, "../../testdata/parse/markers/examples.txt") {
		examples, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		for line := range strings.Lines(string(examples)) {
			if rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "reply: "); ok {
				all = append(all, notation(rest))
			}
		}
	}
	for _, mode := range []string{"strict", "lenient"} {
		for _, e := range readShamExamples(tb, "../../testdata/parse/sham/"+mode+".txt") {
			all = append(all, e.input)
		}
	}
	for _, text := range Examples("sham") {
		all = append(all, text)
	}
	return all
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
