package parse

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// MaxReply is the size of the largest reply that is read, in bytes.
const MaxReply = 50_000_000

// Options say how a reply is read. The zero value is the default.
type Options struct {
	Dialect           string // read only this dialect; "" or "auto" reads all
	IgnoreFences      bool   // skip blocks that open inside a markdown fence
	AllowEmptyReplace bool   // an empty replacement part deletes the match
	StrictDividers    bool   // several possible divider lines are an error
	Strict            bool   // lenient readings are errors
	Match             batch.MatchTier
	OnlyExact         bool // text is compared exactly in the dialects too that are usually less strict
}

// Dialects gives the names of all dialects, in the order in which they are tried.
func Dialects() []string {
	names := make([]string, len(registry))
	for i, d := range registry {
		names[i] = d.name()
	}
	return names
}

// Known reports whether name is a dialect or "auto".
func Known(name string) bool {
	if name == "" || name == "auto" {
		return true
	}
	for _, d := range registry {
		if d.name() == name {
			return true
		}
	}
	return false
}

// Parse reads a reply. The batch holds what can be carried out, the list what is wrong; a list that is Refused means
// that nothing of the batch may be carried out. The batch is never nil.
func Parse(reply []byte, o Options) (*batch.Batch, *diag.List) {
	b := &batch.Batch{Reply: reply}
	list := &diag.List{}
	if err := checkText(reply); err != nil {
		list.Problems = append(list.Problems, diag.Problem{Error: err, Kind: diag.Syntax, Refuses: true})
		return b, list
	}
	if o.Strict && o.Dialect == "sham" {
		newScan(reply, o, b, list).parseStrictSham()
	} else {
		s := newScan(normalize(reply), o, b, list)
		s.hadBOM = bytes.HasPrefix(reply, byteOrderMark)
		s.run()
	}
	list.Sort()
	if len(b.Tasks) == 0 && len(b.Groups) == 0 && len(list.Problems) == 0 {
		list.Problems = append(list.Problems, nothingFound(o, list))
	}
	return b, list
}

func checkText(reply []byte) *diag.Error {
	if len(reply) > MaxReply {
		return diag.New(diag.InputTooLarge, "the reply has %d bytes, at most %d are read", len(reply), MaxReply).
			WithHint("apply it in several parts")
	}
	if utf8.Valid(reply) {
		return nil
	}
	off := invalidOffset(reply)
	line := 1 + bytes.Count(reply[:off], []byte("\n"))
	column := off - bytes.LastIndexByte(reply[:off], '\n')
	return diag.New(diag.InvalidUTF8, "the reply is not UTF-8 at byte offset %d (line %d)", off, line).
		At(diag.Pos{Line: line, Column: column}).
		WithHint("save the reply as UTF-8, for example with iconv -t utf-8")
}

func invalidOffset(p []byte) int {
	off := 0
	for off < len(p) {
		r, n := utf8.DecodeRune(p[off:])
		if r == utf8.RuneError && n == 1 {
			return off
		}
		off += n
	}
	return off
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// normalize drops a byte order mark and, if every line ends in CRLF, reads CRLF as LF: the transport made them so.
func normalize(reply []byte) []byte {
	text := bytes.TrimPrefix(reply, byteOrderMark)
	if bytes.IndexByte(text, '\r') < 0 {
		return text
	}
	lf := bytes.Count(text, []byte("\n"))
	if lf == 0 || bytes.Count(text, []byte("\r\n")) != lf {
		return text
	}
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
}

func nothingFound(o Options, list *diag.List) diag.Problem {
	var openers []string
	for _, d := range registry {
		if o.reads(d.name()) {
			openers = append(openers, d.openers()...)
		}
	}
	err := diag.New(diag.MalformedStructure, "no blocks found").At(diag.Pos{Line: 1, Column: 1})
	hint := "looked for " + strings.Join(openers, ", ")
	for _, w := range list.Warnings {
		if w.Code == NearMiss {
			hint += "\nnearest: " + lineRef(w.Pos.Line) + ": " + w.Message
			break
		}
	}
	err.Hint = hint
	return diag.Problem{Error: err, Kind: diag.Syntax, Refuses: true, NoBlock: true}
}

// reads reports whether a dialect is looked for.
func (o Options) reads(dialect string) bool {
	return o.Dialect == "" || o.Dialect == "auto" || o.Dialect == dialect
}
