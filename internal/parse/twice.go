package parse

import (
	"fmt"
	"hash/maphash"
	"strconv"

	"github.com/git-clada/git-clada/internal/batch"
)

// warnSameTwice points at tasks that ask for exactly what an earlier one asked for.
func (s *scan) warnSameTwice() {
	if len(s.batch.Tasks) < 2 {
		return
	}
	seed := maphash.MakeSeed()
	seen := make(map[uint64]int, len(s.batch.Tasks))
	for i := range s.batch.Tasks {
		t := &s.batch.Tasks[i]
		if _, ok := t.Op.(batch.NotDone); ok {
			continue // it does nothing, so it may be there twice
		}
		var h maphash.Hash
		h.SetSeed(seed)
		hashOp(&h, t.Op)
		if first, ok := seen[h.Sum64()]; ok {
			s.warn(t.Dialect, SameTwice, t.Span.Start, "task "+strconv.Itoa(t.Seq)+" is the same as task "+strconv.Itoa(first))
			continue
		}
		seen[h.Sum64()] = t.Seq
	}
}

// hashOp feeds what an op asks for into a hash, without the line numbers in it.
func hashOp(h *maphash.Hash, op batch.Op) {
	text := func(parts ...string) {
		for _, p := range parts {
			h.WriteString(p)
			h.WriteByte(0xff) // in no UTF-8 text
		}
	}
	text(op.Name())
	switch o := op.(type) {
	case batch.Edit:
		text(o.Path, o.Splits[0].Old, o.Splits[0].New)
		hashExpect(h, o.Expect)
	case batch.EditRange:
		text(o.Path, o.Start, o.Splits[0].Old, o.Splits[0].New)
		hashExpect(h, o.Expect)
	case batch.Write:
		text(o.Path, o.Content)
		h.WriteByte(byte(o.Mode))
	case batch.Append:
		text(o.Path, o.Content)
	case batch.Insert:
		text(o.Path, o.Anchors[0], o.Content)
	case batch.Patch:
		text(o.Path, o.To)
		for _, hunk := range o.Hunks {
			text(hunk.Contexts...)
			text(hunk.Header)
			for _, line := range hunk.Lines {
				h.WriteByte(line.Kind)
				text(line.Text)
			}
		}
	default:
		fmt.Fprintf(h, "%q", op)
	}
}

func hashExpect(h *maphash.Hash, e batch.Expect) {
	if e.All {
		h.WriteByte(1)
		return
	}
	h.WriteString(strconv.Itoa(e.Count))
}
