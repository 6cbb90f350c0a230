package runner

import (
	"regexp"
	"strings"

	"github.com/git-clada/git-clada/internal/diag"
)

// optionSet is the options that a command may have: name, with its dashes, to the kind of its value.
type optionSet map[string]string

// readOptions reads the notation of builtin.options. In the style of words a dash stands before a whole word.
func readOptions(notation string, s style) optionSet {
	set := optionSet{}
	for token := range strings.FieldsSeq(notation) {
		name, kind, _ := strings.Cut(token, ":")
		if strings.HasPrefix(name, "--") || s == words || kind != "" {
			set[name] = kind
			continue
		}
		for _, letter := range name[1:] {
			set["-"+string(letter)] = ""
		}
	}
	return set
}

// line is a command line, read.
type line struct {
	options  []string // as they are handed on
	given    []string // the names of the options, with dashes
	operands []string
	paths    []pathValue
	dashes   int // operands that stood before --; -1 if there was no --
}

// pathValue is an option whose value is a path: options[at] starts with prefix and goes on with the path.
type pathValue struct {
	at     int
	prefix string
}

func (l *line) has(names string) bool {
	for name := range strings.FieldsSeq(names) {
		for _, g := range l.given {
			if strings.TrimLeft(g, "-") == name {
				return true
			}
		}
	}
	return false
}

// optionReader reads a command line as its program will. Whatever the two could read differently is refused.
type optionReader struct {
	program string
	set     optionSet
	style   style
	digits  bool
	line
}

// countOption is -20.
var countOption = regexp.MustCompile(`^-[0-9]+$`)

func (r *optionReader) read(args []string) (*line, *diag.Error) {
	r.dashes = -1
	for len(args) > 0 {
		w := args[0]
		switch {
		case w == "--":
			r.dashes = len(r.operands)
			r.operands = append(r.operands, args[1:]...)
			return &r.line, nil
		case w == "-":
			return nil, diag.New(diag.CommandNotAllowed, "%s - would read standard input, and there is none", r.program).
				WithHint("name a file")
		case len(w) < 2 || w[0] != '-':
			r.operands = append(r.operands, w)
			args = args[1:]
			continue
		case r.digits && countOption.MatchString(w):
			r.options = append(r.options, w)
			args = args[1:]
			continue
		}
		n, err := r.option(w, args[1:])
		if err != nil {
			return nil, err
		}
		args = args[n:]
	}
	return &r.line, nil
}

// option reads one word of options, with its value if that is the next word, and gives the number of words.
func (r *optionReader) option(w string, rest []string) (int, *diag.Error) {
	if r.style == words {
		return r.word(w, rest)
	}
	if strings.HasPrefix(w, "--") {
		return r.long(w, rest)
	}
	return r.short(w, rest)
}

func (r *optionReader) word(w string, rest []string) (int, *diag.Error) {
	kind, known := r.set[w]
	switch {
	case !known:
		return 0, r.unknown(w)
	case kind == "":
		r.take(w, w)
		return 1, nil
	case len(rest) == 0:
		return 0, r.needsValue(w)
	}
	if err := r.check(w, kind, rest[0]); err != nil {
		return 0, err
	}
	r.take(w, w)
	r.value("", rest[0], kind)
	return 2, nil
}

func (r *optionReader) long(w string, rest []string) (int, *diag.Error) {
	name, value, attached := strings.Cut(w, "=")
	kind, known := r.set[name]
	onlyAttached := strings.HasPrefix(kind, "?") || strings.HasPrefix(kind, "=") || r.style == apart
	optional := kind == "" || strings.HasPrefix(kind, "?")
	kind = strings.TrimLeft(kind, "?=")
	switch {
	case !known:
		return 0, r.unknown(w)
	case attached && kind == "":
		return 0, diag.New(diag.CommandNotAllowed, "%s %s takes no value", r.program, name)
	case attached:
		if err := r.check(name, kind, value); err != nil {
			return 0, err
		}
		r.given = append(r.given, name)
		r.value(name+"=", value, kind)
		return 1, nil
	case optional:
		r.take(name, w)
		return 1, nil
	case onlyAttached:
		return 0, diag.New(diag.CommandNotAllowed, "%s %s needs its value attached", r.program, name).WithHint("write %s=VALUE", name)
	case len(rest) == 0:
		return 0, r.needsValue(name)
	}
	if err := r.next(name, kind, rest[0]); err != nil {
		return 0, err
	}
	r.given = append(r.given, name)
	r.value(name+"=", rest[0], kind)
	return 2, nil
}

func (r *optionReader) short(w string, rest []string) (int, *diag.Error) {
	for i, letter := range w {
		if i == 0 {
			continue
		}
		name := "-" + string(letter)
		kind, known := r.set[name]
		behind := w[i+len(string(letter)):]
		switch {
		case !known:
			return 0, r.unknownIn(name, w)
		case kind == "":
			r.given = append(r.given, name)
			continue
		case i > 1 && r.style == gitlike:
			return 0, diag.New(diag.CommandNotAllowed, "%s %s: an option with a value stands alone", r.program, w).
				WithHint("write its options one by one")
		}
		optional := strings.HasPrefix(kind, "?")
		kind = strings.TrimLeft(kind, "?=")
		r.given = append(r.given, name)
		switch {
		case behind != "" && r.style == apart:
			return 0, diag.New(diag.CommandNotAllowed, "%s %s needs its value as the next word", r.program, name)
		case behind != "":
			r.value(w[:len(w)-len(behind)], behind, kind)
			return 1, r.check(name, kind, behind)
		case optional:
			r.options = append(r.options, w)
			return 1, nil
		case len(rest) == 0:
			return 0, r.needsValue(name)
		}
		r.options = append(r.options, w)
		r.value("", rest[0], kind)
		return 2, r.next(name, kind, rest[0])
	}
	r.options = append(r.options, w)
	return 1, nil
}

func (r *optionReader) take(name, word string) {
	r.given = append(r.given, name)
	r.options = append(r.options, word)
}

// value hands on a value, behind prefix in the same word.
func (r *optionReader) value(prefix, value, kind string) {
	if kind == "p" {
		r.paths = append(r.paths, pathValue{len(r.options), prefix})
	}
	r.options = append(r.options, prefix+value)
}

// next checks a value that is the next word. Git takes some values only when they are attached, and would take such a
// word for an option.
func (r *optionReader) next(name, kind, value string) *diag.Error {
	if r.style == gitlike && strings.HasPrefix(value, "-") && !countOption.MatchString(value) {
		return diag.New(diag.CommandNotAllowed, "%s %s %s: it is in doubt whether that is a value", r.program, name, value).
			WithHint("write %s=%s", name, value)
	}
	return r.check(name, kind, value)
}

// number is a count, a size or an offset: with a sign, in hexadecimal, with a unit.
var number = regexp.MustCompile(`^[-+]?(0x[0-9a-fA-F]+|[0-9]+)([kKMGTb]B?|KiB|MiB|GiB|%)?$`)

func (r *optionReader) check(name, kind, value string) *diag.Error {
	switch kind {
	case "s", "p":
		if strings.ContainsRune(value, 0) {
			return diag.New(diag.CommandNotAllowed, "%s %s: a value with NUL", r.program, name)
		}
	case "n":
		if !number.MatchString(value) {
			return diag.New(diag.CommandNotAllowed, "%s %s needs a number, not %q", r.program, name, value)
		}
	default:
		for word := range strings.SplitSeq(kind, "|") {
			if value == word {
				return nil
			}
		}
		return diag.New(diag.CommandNotAllowed, "%s %s=%s is not permitted here", r.program, name, value).
			WithHint("permitted: %s", strings.ReplaceAll(kind, "|", ", "))
	}
	return nil
}

func (r *optionReader) needsValue(name string) *diag.Error {
	return diag.New(diag.CommandNotAllowed, "%s %s needs a value", r.program, name)
}

func (r *optionReader) unknown(w string) *diag.Error {
	name, _, _ := strings.Cut(w, "=")
	err := diag.New(diag.CommandNotAllowed, "%s %s is not permitted without approval%s", r.program, name, why(r.program, name))
	if strings.HasPrefix(name, "--") {
		for known := range r.set {
			if strings.HasPrefix(known, name) {
				return err.WithHint("options are written whole")
			}
		}
	}
	return err
}

func (r *optionReader) unknownIn(name, w string) *diag.Error {
	if w == name {
		return r.unknown(name)
	}
	return diag.New(diag.CommandNotAllowed, "%s %s (in %s) is not permitted without approval%s", r.program, name, w, why(r.program, name))
}

// why says what an option that is not permitted does, where that is known to be harmful.
func why(program, option string) string {
	program, _, _ = strings.Cut(program, " ") // all of git share a list
	for reason, options := range reasons[program] {
		for o := range strings.FieldsSeq(options) {
			if o == option {
				return ": it " + reason
			}
		}
	}
	return ""
}

// reasons says of some options why they are left out.
var reasons = map[string]map[string]string{
	"find": {
		"starts programs":               "-exec -execdir -ok -okdir",
		"removes files":                 "-delete",
		"writes files":                  "-fprint -fprint0 -fprintf -fls",
		"follows links out of the tree": "-L -H -follow",
		"reads names from a file":       "-files0-from",
	},
	"grep": {
		"follows links out of the tree": "-R --dereference-recursive",
		"reads patterns from a file":    "-f --file --exclude-from",
		"reads devices":                 "-D --devices",
	},
	"tree": {
		"writes files":                  "-o -R",
		"follows links out of the tree": "-l",
		"reads other files":             "-H -T --hintro --houtro --infofile --gitfile --fromfile --fromtabfile",
	},
	"tail": {"never ends": "-f -F --follow --retry --pid -s --sleep-interval"},
	"wc":   {"reads names from a file": "--files0-from"},
	"xxd":  {"writes files": "-r -revert -reverse"},
	"diff": {
		"reads names from a file": "--from-file --to-file -X --exclude-from",
		"starts a program":        "-l --paginate",
	},
	"file": {
		"writes files":                  "-C --compile",
		"reads other files":             "-m -f --magic-file --files-from",
		"follows links out of the tree": "-L --dereference",
		"reads devices":                 "-s --special-files",
		"unpacks files":                 "-z -Z --uncompress --uncompress-noreport",
	},
	"ls":   {"follows links out of the tree": "-L -H --dereference --dereference-command-line --dereference-command-line-symlink-to-dir"},
	"stat": {"follows links out of the tree": "-L --dereference"},
	"git": {
		"writes files":                          "--output -o",
		"starts programs":                       "--ext-diff --textconv --show-signature --help --paginate -p --exec-path --edit-description",
		"leaves the repository":                 "--no-index -C --git-dir --work-tree --namespace --recurse-submodules",
		"changes the settings":                  "-c --config-env",
		"reads other files":                     "-O -X --exclude-from --exclude-per-directory --pathspec-from-file --stdin",
		"changes branches":                      "-d -D -m -M -c -C -f -u -t --delete --move --copy --force --set-upstream-to --unset-upstream --track",
		"changes the output only for terminals": "--color-words",
	},
}
