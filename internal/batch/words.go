package batch

import (
	"fmt"
	"strings"
)

// Words is how a dialect speaks of what became of a task. In each text "{fact}" stands for a fact that carrying the
// task out gave; a text of which a fact is missing is not used.
type Words struct {
	Done     map[string]string // messages by verb: "created", "edited" ...
	Failures map[string]string // messages by case, or else by code
	Hints    map[string]string // hints in the same way
	Codes    map[string]string // the error code of a case, where the dialect has another one
	Data     map[string]string // members of the data, and the facts that are their values
}

// Render writes a text with its facts filled in. ok is false if there is no such text or one of its facts is missing.
func Render(texts map[string]string, key string, facts map[string]any) (text string, ok bool) {
	form, ok := texts[key]
	if !ok {
		return "", false
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(form, "{")
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		name, after, _ := strings.Cut(rest, "}")
		value, known := facts[name]
		if !known {
			return "", false
		}
		fmt.Fprint(&b, value)
		form = after
	}
}
