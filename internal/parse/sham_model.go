package parse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
)

// Sham is what a text says in the sham dialect: the result of its parser, before any action is looked at.
type Sham struct {
	Blocks   []*ShamBlock
	Errors   []ShamNote // in order of occurrence
	Warnings []ShamNote // by place; only of lenient reading
	late     []ShamNote // errors that are reported behind all others
}

// ShamBlock is one block: a flat list of properties, in order.
type ShamBlock struct {
	ID         string
	Generation string
	Properties []ShamProperty
	StartLine  int // from 1
	EndLine    int // 0 if the block was not closed

	gen       *generation
	last      int            // last line that it takes, from 1
	lines     map[string]int // line of each key
	closing   []int          // lines that end a heredoc of it, if it is indented
	lookalike string         // what was probably meant as the delimiter of a heredoc without end
	span      batch.Span
	fenced    bool
}

// ShamProperty is one key with its value.
type ShamProperty struct{ Key, Value string }

// ShamNote is an error or warning. Column and Length count UTF-16 code units; Column counts from 1.
type ShamNote struct {
	Code    string  `json:"code"`
	Line    int     `json:"line"`
	Column  int     `json:"column"`
	Length  int     `json:"length"`
	BlockID *string `json:"blockId"`
	Content string  `json:"content"`
	Context string  `json:"context"`
	Message string  `json:"message"`
}

// Value gives the value of a key.
func (b *ShamBlock) Value(key string) (string, bool) {
	for _, p := range b.Properties {
		if p.Key == key {
			return p.Value, true
		}
	}
	return "", false
}

func (b *ShamBlock) set(key, value string, line int) {
	b.lines[key] = line
	for i := range b.Properties {
		if b.Properties[i].Key == key {
			b.Properties[i].Value = value
			return
		}
	}
	b.Properties = append(b.Properties, ShamProperty{key, value})
}

// MarshalJSON writes the properties as an object, in order.
func (b *ShamBlock) MarshalJSON() ([]byte, error) { return b.encode("") }

func (b *ShamBlock) encode(generation string) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(`{"id":` + jsonString(b.ID) + `,"properties":{`)
	for i, p := range b.Properties {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(jsonString(p.Key) + ":" + jsonString(p.Value))
	}
	fmt.Fprintf(&out, `},"startLine":%d,"endLine":`, b.StartLine)
	if b.EndLine > 0 {
		fmt.Fprint(&out, b.EndLine)
	} else {
		out.WriteString("null")
	}
	if generation != "" {
		out.WriteString(`,"generation":` + jsonString(generation))
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// lenientBlock is a block with its generation.
type lenientBlock struct{ *ShamBlock }

func (b lenientBlock) MarshalJSON() ([]byte, error) { return b.encode(b.Generation) }

// Document gives what is printed as JSON: the blocks and errors of a strict reading, and for a lenient one the
// generation of each block and the warnings too.
func (d *Sham) Document(strict bool) any {
	errs := append([]ShamNote{}, d.Errors...)
	if strict {
		return struct {
			Blocks []*ShamBlock `json:"blocks"`
			Errors []ShamNote   `json:"errors"`
		}{append([]*ShamBlock{}, d.Blocks...), errs}
	}
	blocks := make([]lenientBlock, len(d.Blocks))
	for i, b := range d.Blocks {
		blocks[i] = lenientBlock{b}
	}
	return struct {
		Blocks   []lenientBlock `json:"blocks"`
		Errors   []ShamNote     `json:"errors"`
		Warnings []ShamNote     `json:"warnings"`
	}{blocks, errs, append([]ShamNote{}, d.Warnings...)}
}

// jsonString writes a JSON string without the escapes that only HTML needs.
func jsonString(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string can always be written
	}
	return strings.TrimSuffix(b.String(), "\n")
}
