package apply

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/git-clada/git-clada/internal/parse"
)

type shamCase struct {
	Name              string
	Before, After     map[string]string
	Gone, Allow       []string
	Properties        json.RawMessage
	Params, Data      any
	Status            string
	Error, Code, Hint string
	Lines             []int
	Warnings          []string
	Root              string
}

// block writes a block whose properties are those of a JSON object, in its order.
func (c *shamCase) block(t *testing.T) string {
	dec := json.NewDecoder(strings.NewReader(string(c.Properties)))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("#!nesl [@three-char-SHA-256: m5]\n")
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		value, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(key.(string) + " = " + string(text) + "\n")
	}
	return b.String() + "#!end_m5\n"
}

// TestShamActions: what every action does to files, and its data and messages to the letter.
func TestShamActions(t *testing.T) {
	text, err := os.ReadFile("../../testdata/apply/sham-actions.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []shamCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { c.check(t) })
	}
}

func (c *shamCase) check(t *testing.T) {
	b, list := parse.Parse([]byte(c.block(t)), parse.Options{})
	if len(b.Tasks) != 1 || len(list.Problems) > 0 {
		t.Fatalf("%d tasks, problems %v", len(b.Tasks), list.Problems)
	}
	tree := memTree{}
	want := memTree{}
	for name, content := range c.Before {
		tree[name], want[name] = content, content
	}
	for name, content := range c.After {
		want[name] = content
	}
	for _, name := range c.Gone {
		delete(want, name)
	}
	cs := Plan(b, tree, Options{Root: c.Root, Actions: c.Allow})
	r := cs.Results[0]
	if got := tree.after(cs); !reflect.DeepEqual(got, want) {
		t.Errorf("tree %q, want %q", got, want)
	}
	var warnings []string
	for _, w := range list.Warnings {
		warnings = append(warnings, w.Code)
	}
	if !reflect.DeepEqual(warnings, c.Warnings) {
		t.Errorf("warnings %v, want %v", warnings, c.Warnings)
	}
	if (r.Err != nil) != (c.Error != "") || r.Err != nil && (r.Err.Message != c.Error || string(r.Err.Code) != c.Code || !strings.Contains(r.Err.Hint, c.Hint) || r.Err.Hint == "") {
		t.Errorf("error %+v, want %s (%s)", r.Err, c.Error, c.Code)
	}
	if c.Status != "" && string(r.Status) != c.Status {
		t.Errorf("status %s, want %s", r.Status, c.Status)
	}
	if c.Lines != nil && !reflect.DeepEqual(r.Match.Lines, c.Lines) {
		t.Errorf("lines %v, want %v", r.Match.Lines, c.Lines)
	}
	if got := asJSON(t, r.Data); !reflect.DeepEqual(got, c.Data) {
		t.Errorf("data %v, want %v", got, c.Data)
	}
	if c.Params != nil {
		params := map[string]any{}
		for _, p := range b.Tasks[0].Params {
			params[p.Name] = p.Value
		}
		if got := asJSON(t, params); !reflect.DeepEqual(got, c.Params) {
			t.Errorf("params %v, want %v", got, c.Params)
		}
	}
}

func asJSON(t *testing.T, v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var back any
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	return back
}
