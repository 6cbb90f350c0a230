package txn

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/batch"
)

func (o *Op) timeText() string { return o.Time.UTC().Format(time.RFC3339) }

func failures(results []apply.Result) int {
	n := 0
	for i := range results {
		if s := results[i].Status; s == apply.Failed || s == apply.Skipped {
			n++
		}
	}
	return n
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// phrase is a kind of effect in the summary of a batch.
var phrases = []struct{ verb, text string }{
	{"edited", "edit"}, {"created", "create"}, {"overwrote", "rewrite"}, {"appended", "append to"}, {"inserted", "insert into"},
	{"moved", "move"}, {"copied", "copy"}, {"removed", "remove"}, {"removed-directory", "remove"}, {"mode", "change the mode of"}, {"created-directory", "make directory"}, {"touched", "touch"},
}

// summary says in a few words what a batch did: "edit 3 files, create src/app.js".
func summary(results []apply.Result) string {
	paths := map[string]map[string]bool{}
	for i := range results {
		for _, e := range results[i].Did {
			if paths[e.Verb] == nil {
				paths[e.Verb] = map[string]bool{}
			}
			paths[e.Verb][string(e.Path)] = true
		}
	}
	var parts []string
	for _, p := range phrases {
		switch set := paths[p.verb]; len(set) {
		case 0:
		case 1:
			for path := range set {
				parts = append(parts, p.text+" "+oneLine(path))
			}
		default:
			noun := "file"
			if p.verb == "created-directory" {
				parts = append(parts, "make "+strconv.Itoa(len(set))+" directories")
				continue
			}
			parts = append(parts, p.text+" "+count(len(set), noun))
		}
	}
	return strings.Join(append(parts, commandsRun(results)...), ", ")
}

// commandsRun names the commands that were run with a person's approval; those that only read are no news.
func commandsRun(results []apply.Result) []string {
	var texts []string
	for i := range results {
		run := results[i].Run
		if run == nil || run.Class != "approved" {
			continue
		}
		text := strings.Join(run.Argv, " ")
		if op, ok := results[i].Task.Op.(batch.Run); ok {
			text = strings.TrimSpace(op.Command)
		}
		if op, ok := results[i].Task.Op.(batch.Exec); ok {
			text = op.Language + " code"
		}
		if !slices.Contains(texts, "run "+oneLine(text)) {
			texts = append(texts, "run "+oneLine(text))
		}
	}
	if len(texts) > 2 {
		return []string{"run " + count(len(texts), "command")}
	}
	return texts
}

const maxSubject = 72

// postMessage writes the message of a post commit. Nothing in it comes from the reply but paths, on lines that cannot
// be taken for a trailer.
func postMessage(rec Record, op *Op) string {
	subject := rec.Message
	if subject == "" {
		subject = "AI: " + op.Summary
	}
	var b strings.Builder
	b.WriteString(clipSubject(oneLine(subject)) + "\n\n")
	for i := range rec.Results {
		r := &rec.Results[i]
		mark, text := "✓", r.Op+" "+oneLine(r.Path)
		if run, ok := r.Task.Op.(batch.Run); ok && r.Path == "" {
			text = r.Op + " " + clipSubject(oneLine(run.Command))
		}
		switch r.Status {
		case apply.Failed:
			mark = "✗"
			text += ": " + string(r.Err.Code)
		case apply.Skipped:
			if !r.ExitsClean {
				mark = "✗"
			} else {
				mark = "-"
			}
			text += ": skipped"
		case apply.Unchanged:
			text += ": unchanged"
		}
		fmt.Fprintf(&b, "%s %d %s\n", mark, r.Task.Seq, strings.TrimSpace(text))
	}
	if rec.Problems > 0 {
		fmt.Fprintf(&b, "✗ %s did not parse\n", count(rec.Problems, "block"))
	}
	trailers := map[string]string{"Clada-Batch": rec.ID, "Clada-Input": string(op.Input)}
	if op.Pre != "" {
		trailers["Clada-Pre"] = string(op.Pre)
	}
	if rec.Model != "" {
		trailers["Assisted-by"] = "clada:" + oneLine(rec.Model)
	}
	names := make([]string, 0, len(trailers))
	for name := range trailers {
		names = append(names, name)
	}
	sort.Strings(names)
	b.WriteString("\n")
	for _, name := range names {
		fmt.Fprintf(&b, "%s: %s\n", name, trailers[name])
	}
	return b.String()
}

// oneLine makes text safe for a line of a message: control characters are shown, not sent.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if apply.Invisible(r) {
			return '?'
		}
		return r
	}, s)
}

func clipSubject(s string) string {
	if utf8.RuneCountInString(s) <= maxSubject {
		return s
	}
	runes := []rune(s)
	return string(runes[:maxSubject-3]) + "..."
}
