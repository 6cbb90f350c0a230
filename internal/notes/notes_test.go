package notes

import (
	"bytes"
	"reflect"
	"testing"
)

// TestMerge: notes survive being concatenated, sorted and doubled, in any order.
func TestMerge(t *testing.T) {
	lines := []Line{
		{Batch: "b1", Kind: "batch", Tasks: 2},
		{Batch: "b1", Task: 1, Op: "write", Path: "a\nb \u202e", Status: "ok", Span: &Span{1, 3}},
		{Batch: "b1", Task: 2, Op: "edit", Path: "c", Status: "failed", Code: "match_count_mismatch", Match: &Match{Tier: "exact", Lines: []int{1, 2}}},
		{Batch: "b0", Kind: "batch"},
	}
	all, err := Encode(lines)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := Encode(lines[:2])
	rest, _ := Encode(lines[1:])
	for name, merged := range map[string][]byte{
		"first and rest": Merge(first, rest), "rest and first": Merge(rest, first), "twice": Merge(all, all), "nothing": Merge(all, nil),
		"concatenated": Merge(append(append([]byte("\n"), rest...), first...), nil),
	} {
		if !bytes.Equal(merged, all) {
			t.Errorf("%s:\n%s\nwant:\n%s", name, merged, all)
		}
	}
	got := Decode(all)
	want := []Line{lines[3], lines[0], lines[1], lines[2]}
	for i := range want {
		want[i].V = Version
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// TestDecodeSkips: lines of others, of other versions, and rubbish are skipped, and Merge keeps them.
func TestDecodeSkips(t *testing.T) {
	text := []byte("a word\n{\"v\":99,\"batch\":\"x\"}\n{\"v\":1,\"batch\":\"b\",\"task\":1}\n{\"v\":1}\n")
	if got := Decode(text); len(got) != 1 || got[0].Batch != "b" {
		t.Errorf("got %+v", got)
	}
	if merged := Merge(text, nil); bytes.Count(merged, []byte("\n")) != 4 {
		t.Errorf("lines were lost: %s", merged)
	}
}
