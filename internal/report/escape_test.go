package report

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestEscape: what could deceive a reader of a terminal is shown instead of sent.
func TestEscape(t *testing.T) {
	for _, c := range []struct{ in, line, block string }{
		{"plain ünïcode →", "plain ünïcode →", "plain ünïcode →"},
		{"a\tb\nc", `a\x09b\x0ac`, "a\tb\nc"},
		{"\x1b[2J\x07", `\x1b[2J\x07`, `\x1b[2J\x07`},
		{"bidi\u202etxt", `bidi\u{202e}txt`, `bidi\u{202e}txt`},
		{"zero\u200bwidth\ufeff", `zero\u{200b}width\u{feff}`, `zero\u{200b}width\u{feff}`},
		{"c1\u009b31m", `c1\x9b31m`, `c1\x9b31m`},
		{"bad\xff", `bad\xff`, `bad\xff`},
		{"cr\rover", `cr\x0dover`, `cr\x0dover`},
	} {
		if got := Line(c.in); got != c.line {
			t.Errorf("Line(%q) = %q, want %q", c.in, got, c.line)
		}
		if got := Block(c.in); got != c.block {
			t.Errorf("Block(%q) = %q, want %q", c.in, got, c.block)
		}
	}
}

// TestJSONIsSafeAndExact: no deceiving character stands in the JSON as it is, and a reader gets the text back.
func TestJSONIsSafeAndExact(t *testing.T) {
	want := "\x1b[0m \u202e \u200b \u009b \U000e0041 <&> \u2028 end"
	var b bytes.Buffer
	if err := Encode(&b, map[string]string{"s": want}); err != nil {
		t.Fatal(err)
	}
	for _, r := range b.String() {
		if r != '\n' && (r < 0x20 || r > 0x7e) {
			t.Errorf("%U stands in %q", r, b.String())
		}
	}
	var got map[string]string
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got["s"] != want {
		t.Errorf("got %q, %v", got["s"], err)
	}
}
