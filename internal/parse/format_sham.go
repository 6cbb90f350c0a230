package parse

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
)

// shamForm writes blocks of the newest generation, with ids of their own.
type shamForm struct{ n int }

func (f *shamForm) group(*strings.Builder, func() error) error { return ErrNoForm }

func (f *shamForm) task(out *strings.Builder, t *batch.Task) error {
	pairs, ok := shamPairs(t.Op)
	if !ok {
		return ErrNoForm
	}
	f.n++
	id := fmt.Sprintf("b%02d", f.n)
	fmt.Fprintf(out, "#!nesl [@%s: %s]\n", usualTag, id)
	for i := 0; i+1 < len(pairs); i += 2 {
		if value := pairs[i+1]; fitsHeredoc(value, "EOT_"+id) {
			fmt.Fprintf(out, "%s = <<'EOT_%s'\n%s\nEOT_%s\n", pairs[i], id, value, id)
		} else {
			fmt.Fprintf(out, "%s = %s\n", pairs[i], jsonString(value))
		}
	}
	out.WriteString("#!end_" + id + "\n")
	return nil
}

// fitsHeredoc reports whether a text is worth a heredoc and can stand in one.
func fitsHeredoc(value, delimiter string) bool {
	return strings.Contains(value, "\n") && !strings.Contains(value, delimiter) && !strings.Contains(value, "\r")
}

// shamPairs gives the properties that ask for an op: key, value, key, value ...
func shamPairs(op batch.Op) (pairs []string, ok bool) {
	say := func(action string, pairs ...string) ([]string, bool) {
		return append([]string{"action", action}, pairs...), true
	}
	switch o := op.(type) {
	case batch.Write:
		name := map[batch.WriteMode]string{batch.Any: "file_write", batch.Create: "file_create"}[o.Mode]
		return append([]string{"action", name}, "path", o.Path, "content", o.Content), name != ""
	case batch.Append:
		return say("file_append", "path", o.Path, "content", o.Content)
	case batch.Edit:
		return shamEditPairs(o)
	case batch.EditFiles:
		return say("files_replace_all_text", "paths", strings.Join(o.Paths, "\n"), "old_text", o.Edit.Splits[0].Old, "new_text", o.Edit.Splits[0].New)
	case batch.EditRange:
		return say("file_replace_text_range", "path", o.Path, "old_text_beginning", o.Start, "old_text_end", o.Splits[0].Old, "new_text", o.Splits[0].New)
	case batch.EditLines:
		return say("file_replace_lines", "path", o.Path, "lines", o.Spec, "new_content", o.New)
	case batch.Read:
		return say("file_read", "path", o.Path)
	case batch.ReadNumbered:
		return say("file_read_numbered", "path", o.Path, "lines", o.Spec, "delimiter", o.Delimiter)
	case batch.ReadFiles:
		return say("files_read", "paths", strings.Join(o.Paths, "\n"))
	case batch.Remove:
		if o.OnlyDir {
			return say("dir_delete", "path", o.Path, "recursive", strconv.FormatBool(o.Recursive))
		}
		return say("file_delete", "path", o.Path)
	case batch.Move:
		return say("file_move", "old_path", o.From, "new_path", o.To)
	case batch.Mkdir:
		return say("dir_create", "path", o.Path)
	case batch.List:
		return say("ls", "path", o.Path)
	case batch.Grep:
		pairs := []string{"pattern", o.Pattern, "path", o.Path}
		if o.Include != "" {
			pairs = append(pairs, "include", o.Include)
		}
		return say("grep", pairs...)
	case batch.Glob:
		return say("glob", "pattern", o.Pattern, "base_path", o.Base)
	case batch.Exec:
		pairs := []string{"code", o.Code, "lang", o.Language}
		if o.Dir != "" {
			pairs = append(pairs, "cwd", o.Dir)
		}
		return say("exec", pairs...)
	case batch.Context:
		if o.Path == "" {
			return say("context_" + o.Verb)
		}
		return say("context_"+o.Verb, "path", o.Path)
	case batch.NotDone:
		return say(o.As)
	}
	return nil, false
}

func shamEditPairs(o batch.Edit) ([]string, bool) {
	if len(o.Splits) != 1 {
		return nil, false
	}
	texts := []string{"path", o.Path, "old_text", o.Splits[0].Old, "new_text", o.Splits[0].New}
	switch {
	case o.Expect.All:
		return append([]string{"action", "file_replace_all_text"}, texts...), true
	case o.Expect.Count == 1:
		return append([]string{"action", "file_replace_text"}, texts...), true
	}
	return append(append([]string{"action", "file_edit"}, texts...), "count", strconv.Itoa(o.Expect.Count)), true
}
