package parse

import (
	"fmt"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
)

// aiderForm writes SEARCH/REPLACE blocks below path lines.
type aiderForm struct{}

func (aiderForm) group(*strings.Builder, func() error) error { return ErrNoForm }

func (aiderForm) task(out *strings.Builder, t *batch.Task) error {
	var path, old, new string
	hasOld, hasNew := true, true
	switch o := t.Op.(type) {
	case batch.Edit:
		if !o.Lines || len(o.Splits) != 1 {
			return ErrNoForm
		}
		path, old, new, hasNew = o.Path, o.Splits[0].Old, o.Splits[0].New, !o.Splits[0].NoNew
	case batch.Write:
		if o.Mode != batch.Fill {
			return ErrNoForm
		}
		path, hasOld, hasNew = o.Path, false, len(o.Content) > 0
		new = strings.TrimSuffix(o.Content, "\n")
	default:
		return ErrNoForm
	}
	name := path
	if !isPath(path, false) {
		name = "File: `" + path + "`"
	}
	out.WriteString(name + "\n<<<<<<< SEARCH\n" + escapedLines(old, hasOld) + "=======\n" + escapedLines(new, hasNew) + ">>>>>>> REPLACE\n\n")
	return nil
}

// escapedLines writes lines, with a backslash before each that could be taken for structure.
func escapedLines(text string, any bool) string {
	if !any {
		return ""
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if escapable(strings.TrimLeft(line, `\`)) {
			lines[i] = `\` + line
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// v4aForm writes patch envelopes.
type v4aForm struct{}

func (f v4aForm) group(out *strings.Builder, tasks func() error) error {
	var inner strings.Builder
	before := out.String()
	if err := tasks(); err != nil {
		return err
	}
	text := strings.TrimPrefix(out.String(), before)
	out.Reset()
	// Each task was written in an envelope of its own: make one of them.
	inner.WriteString(strings.ReplaceAll(text, "*** End Patch\n*** Begin Patch\n", ""))
	out.WriteString(before + inner.String())
	return nil
}

func (v4aForm) task(out *strings.Builder, t *batch.Task) error {
	var b strings.Builder
	switch o := t.Op.(type) {
	case batch.Write:
		if o.Mode != batch.Any || o.Exec != nil {
			return ErrNoForm
		}
		b.WriteString("*** Add File: " + o.Path + "\n")
		for line := range strings.Lines(o.Content) {
			b.WriteString("+" + strings.TrimSuffix(line, "\n") + "\n")
		}
	case batch.Remove:
		b.WriteString("*** Delete File: " + o.Path + "\n")
	case batch.Patch:
		if !o.InOrder {
			return ErrNoForm
		}
		b.WriteString("*** Update File: " + o.Path + "\n")
		if o.To != "" {
			b.WriteString("*** Move to: " + o.To + "\n")
		}
		for i, h := range o.Hunks {
			writeChunk(&b, h, i > 0)
		}
	default:
		return ErrNoForm
	}
	out.WriteString(beginPatch + "\n" + b.String() + endPatch + "\n")
	return nil
}

func writeChunk(b *strings.Builder, h batch.Hunk, separate bool) {
	for _, context := range h.Contexts {
		b.WriteString("@@ " + context + "\n")
	}
	if len(h.Contexts) == 0 && separate {
		b.WriteString("@@\n")
	}
	for i, line := range h.Lines {
		if line.Kind == ' ' && line.Text == "" && i >= len(h.Lines)-h.Loose {
			b.WriteString("\n")
			continue
		}
		b.WriteString(string(line.Kind) + line.Text + "\n")
	}
	if h.AtEnd {
		b.WriteString("*** End of File\n")
	}
}

// patchForm writes unified diffs in fences.
type patchForm struct{}

func (f patchForm) group(out *strings.Builder, tasks func() error) error {
	before := out.String()
	if err := tasks(); err != nil {
		return err
	}
	text := strings.TrimPrefix(out.String(), before)
	out.Reset()
	out.WriteString(before + strings.ReplaceAll(text, patchFence+"\n"+patchFence+"diff\n", ""))
	return nil
}

// patchFence is longer than fences are: content has a prefix, but a line of it may be empty.
const patchFence = "````"

func (patchForm) task(out *strings.Builder, t *batch.Task) error {
	var b strings.Builder
	switch o := t.Op.(type) {
	case batch.Write:
		if o.Mode != batch.Create {
			return ErrNoForm
		}
		writeNewFile(&b, o)
	case batch.Patch:
		if o.InOrder {
			return ErrNoForm
		}
		writePatch(&b, o)
	default:
		return ErrNoForm
	}
	out.WriteString(patchFence + "diff\n" + b.String() + patchFence + "\n")
	return nil
}

func gitName(prefix, path string) string {
	name := prefix + path
	if strings.ContainsAny(path, "\t\n\r\"\\") || path != strings.TrimSpace(path) || strings.Contains(path, " ") {
		var b strings.Builder
		b.WriteByte('"')
		for i := range len(name) {
			switch c := name[i]; {
			case c == '"' || c == '\\':
				b.WriteString(`\` + string(c))
			case c < 0x20 || c >= 0x7f:
				fmt.Fprintf(&b, `\%03o`, c)
			default:
				b.WriteByte(c)
			}
		}
		return b.String() + `"`
	}
	return name
}

func writeNewFile(b *strings.Builder, o batch.Write) {
	if o.Exec != nil || len(o.Content) == 0 {
		mode := map[bool]string{true: "100755", false: "100644"}[o.Exec != nil && *o.Exec]
		fmt.Fprintf(b, "diff --git %s %s\nnew file mode %s\n", gitName("a/", o.Path), gitName("b/", o.Path), mode)
	}
	if len(o.Content) == 0 {
		return
	}
	lines := strings.SplitAfter(o.Content, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	fmt.Fprintf(b, "--- /dev/null\n+++ %s\n@@ -0,0 +1,%d @@\n", gitName("b/", o.Path), len(lines))
	for _, line := range lines {
		b.WriteString("+" + strings.TrimSuffix(line, "\n") + "\n")
		if !strings.HasSuffix(line, "\n") {
			b.WriteString("\\ No newline at end of file\n")
		}
	}
}

func writePatch(b *strings.Builder, o batch.Patch) {
	to := o.Path
	if o.To != "" {
		to = o.To
	}
	mode := func(exec bool) string { return map[bool]string{true: "100755", false: "100644"}[exec] }
	if o.To != "" || o.Exec != nil || o.WasExec != nil || o.Blobs[0] != "" || o.Delete || len(o.Hunks) == 0 {
		fmt.Fprintf(b, "diff --git %s %s\n", gitName("a/", o.Path), gitName("b/", to))
		switch {
		case o.Delete && o.WasExec != nil:
			b.WriteString("deleted file mode " + mode(*o.WasExec) + "\n")
		default:
			if o.WasExec != nil {
				b.WriteString("old mode " + mode(*o.WasExec) + "\n")
			}
			if o.Exec != nil {
				b.WriteString("new mode " + mode(*o.Exec) + "\n")
			}
		}
		if o.To != "" {
			word := "rename"
			if o.Copy {
				word = "copy"
			}
			fmt.Fprintf(b, "%s from %s\n%s to %s\n", word, gitName("", o.Path), word, gitName("", o.To))
		}
		if o.Blobs[0] != "" || o.Blobs[1] != "" {
			fmt.Fprintf(b, "index %s..%s\n", o.Blobs[0], o.Blobs[1])
		}
	}
	if len(o.Hunks) == 0 {
		return
	}
	newName := gitName("b/", to)
	if o.Delete {
		newName = devNull
	}
	fmt.Fprintf(b, "--- %s\n+++ %s\n", gitName("a/", o.Path), newName)
	for _, h := range o.Hunks {
		b.WriteString(h.Header + "\n")
		for _, line := range h.Lines {
			b.WriteString(string(line.Kind) + line.Text + "\n")
			if line.NoNewline {
				b.WriteString("\\ No newline at end of file\n")
			}
		}
	}
}
