package parse

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
)

// cmlForm writes elements with CDATA content.
type cmlForm struct{}

func (cmlForm) group(out *strings.Builder, tasks func() error) error {
	out.WriteString("<tasks version=\"1.1\">\n")
	if err := tasks(); err != nil {
		return err
	}
	out.WriteString("</tasks>\n")
	return nil
}

func cmlAttribute(name, value string) string {
	if value == "" {
		return ""
	}
	return " " + name + `="` + strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;", "\n", "&#10;", "\r", "&#13;").Replace(value) + `"`
}

// cdataSection writes text as CDATA: a literal "]]&gt;" is split, since it would be decoded.
func cdataSection(text string) string {
	text = strings.ReplaceAll(text, "]]&gt;", "]]]]><![CDATA[&gt;")
	return "<![CDATA[" + closeSections(text) + "]]>"
}

// closeSections writes "]]>" inside CDATA as it is written there, but not the ones that end a split.
func closeSections(text string) string {
	const mark = "]]]]><![CDATA[&gt;"
	parts := strings.Split(text, mark)
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], "]]>", "]]&gt;")
	}
	return strings.Join(parts, mark)
}

func cmlCountOf(e batch.Expect) (string, bool) {
	switch {
	case e.None:
		return "", false
	case e.All:
		return ` count="all"`, true
	case e.Count == 1:
		return "", true
	}
	return fmt.Sprintf(` count="%d"`, e.Count), true
}

func (cmlForm) task(out *strings.Builder, t *batch.Task) error {
	switch o := t.Op.(type) {
	case batch.Write:
		out.WriteString("<write" + cmlAttribute("path", o.Path) + ">" + cdataSection(o.Content) + "</write>\n")
	case batch.Append:
		out.WriteString("<write" + cmlAttribute("path", o.Path) + ` append="true">` + cdataSection(o.Content) + "</write>\n")
	case batch.Edit:
		count, ok := cmlCountOf(o.Expect)
		if !ok || len(o.Splits) != 1 {
			return ErrNoForm
		}
		fmt.Fprintf(out, "<edit%s%s>\n<search>%s</search>\n<replace>%s</replace>\n</edit>\n", cmlAttribute("path", o.Path), count,
			cdataSection(o.Splits[0].Old), cdataSection(o.Splits[0].New))
	case batch.EditRange:
		count, ok := cmlCountOf(o.Expect)
		if !ok || len(o.Splits) != 1 {
			return ErrNoForm
		}
		fmt.Fprintf(out, "<edit%s%s>\n<search-start>%s</search-start>\n<search-end>%s</search-end>\n<replace>%s</replace>\n</edit>\n",
			cmlAttribute("path", o.Path), count, cdataSection(o.Start), cdataSection(o.Splits[0].Old), cdataSection(o.Splits[0].New))
	case batch.Move:
		out.WriteString("<move" + cmlAttribute("from", o.From) + cmlAttribute("to", o.To) + "/>\n")
	case batch.Remove:
		out.WriteString("<remove" + cmlAttribute("path", o.Path) + "/>\n")
	case batch.Run:
		out.WriteString("<run" + cmlAttribute("dir", o.Dir) + ">" + cdataSection(o.Command) + "</run>\n")
	default:
		return ErrNoForm
	}
	return nil
}

// tagsForm writes nested tags. Bodies that hold tags of the dialect go into CDATA sections.
type tagsForm struct{}

func (tagsForm) group(*strings.Builder, func() error) error { return ErrNoForm }

// element writes an operation: children are name, body, name, body ...
func tagElement(name string, children ...string) string {
	var b strings.Builder
	b.WriteString("<" + name + ">\n")
	for i := 0; i+1 < len(children); i += 2 {
		fmt.Fprintf(&b, "<%s>%s</%s>\n", children[i], children[i+1], children[i])
	}
	return b.String() + "</" + name + ">\n"
}

// tagContent writes the body of content: in block form where the text ends in a newline.
func tagContent(text string) string {
	if mayHoldTags(text) && !strings.Contains(text, "]]>") {
		if text == "" || strings.HasSuffix(text, "\n") {
			return "<![CDATA[\n" + text + "]]>"
		}
		return "<![CDATA[" + text + "]]>"
	}
	if text == "" || strings.HasSuffix(text, "\n") {
		return "\n" + text
	}
	return text
}

func mayHoldTags(text string) bool {
	return strings.Contains(text, "</") || strings.Contains(text, "<![CDATA[")
}

// tagMatch writes the body of a text that is looked for, or put in its place.
func tagMatch(text string, block bool) string {
	if block {
		return "\n" + text + "\n"
	}
	if strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

func (tagsForm) task(out *strings.Builder, t *batch.Task) error {
	switch o := t.Op.(type) {
	case batch.Write:
		name := map[batch.WriteMode]string{batch.Create: "create", batch.Any: "create_overwrite"}[o.Mode]
		if name == "" {
			return ErrNoForm
		}
		out.WriteString(tagElement(name, "file", o.Path, "content", tagContent(o.Content)))
	case batch.Edit:
		text, ok := tagEdit([]batch.Edit{o}, o.Path)
		if !ok {
			return ErrNoForm
		}
		out.WriteString(text)
	case batch.EditSeries:
		text, ok := tagEdit(o.Edits, o.Path)
		if !ok {
			return ErrNoForm
		}
		out.WriteString(text)
	case batch.Append:
		out.WriteString(tagElement("append", "file", o.Path, "content", tagContent(o.Content)))
	case batch.Insert:
		name := "insert_after"
		if o.Before {
			name = "insert_before"
		}
		out.WriteString(tagElement(name, "file", o.Path, "pattern", tagMatch(o.Anchors[0], o.Aligned), "content", tagContent(o.Content)))
	case batch.Remove:
		out.WriteString(tagElement("delete", "file", o.Path))
	case batch.Move:
		out.WriteString(tagElement("move", "from", o.From, "to", o.To))
	case batch.Copy:
		name := "copy"
		if o.Overwrite {
			name = "copy_overwrite"
		}
		out.WriteString(tagElement(name, "from", o.From, "to", o.To))
	case batch.Mkdir:
		out.WriteString(tagElement("mkdir", "path", o.Path))
	case batch.Rmdir:
		out.WriteString(tagElement("rmdir", "path", o.Path))
	case batch.Read:
		return formatTagRead(out, o)
	case batch.Grep:
		children := []string{"file", o.Path, "pattern", tagMatch(o.Pattern, false)}
		if o.IgnoreCase {
			children = append(children, "case_insensitive", "true")
		}
		out.WriteString(tagElement("grep", children...))
	default:
		return ErrNoForm
	}
	return nil
}

func tagEdit(edits []batch.Edit, path string) (string, bool) {
	children := []string{"file", path}
	for _, e := range edits {
		if !e.Expect.All || e.Expect.None || e.Lines {
			return "", false
		}
		find := tagMatch(e.Splits[0].Old, e.Aligned)
		if len(e.Splits) > 1 {
			find = tagMatch(e.Splits[1].Old, e.Aligned) // as it was written, sections and all
		}
		replace := e.Splits[0].New
		if replace != "" {
			replace = tagMatch(replace, e.Aligned)
		}
		children = append(children, "find", find, "replace", replace)
	}
	return tagElement("edit", children...), true
}

func formatTagRead(out *strings.Builder, o batch.Read) error {
	children := []string{"file", o.Path}
	switch {
	case o.Window && len(o.Ranges) == 1:
		children = append(children, "offset", strconv.Itoa(o.Ranges[0].First-1))
		if o.Ranges[0].Last > 0 {
			children = append(children, "limit", strconv.Itoa(o.Ranges[0].Last-o.Ranges[0].First+1))
		}
	case o.Window:
		children = append(children, "limit", "0")
	case o.Ranges != nil:
		var parts []string
		for _, rg := range o.Ranges {
			switch rg.Last {
			case 0:
				parts = append(parts, fmt.Sprintf("%d-", rg.First))
			case rg.First:
				parts = append(parts, strconv.Itoa(rg.First))
			default:
				parts = append(parts, fmt.Sprintf("%d-%d", rg.First, rg.Last))
			}
		}
		children = append(children, "lines", strings.Join(parts, ","))
	}
	out.WriteString(tagElement("read", children...))
	return nil
}
