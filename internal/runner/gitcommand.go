package runner

import (
	"path"
	"regexp"
	"strings"

	"github.com/git-clada/git-clada/internal/diag"
)

// readGit reads the command line of a git command that only reads. sub is the subcommand as it is in gitCommands.
func readGit(args []string) (sub string, c gitCommand, l *line, err *diag.Error) {
	for len(args) > 0 && args[0] == "--no-pager" {
		args = args[1:]
	}
	if len(args) == 0 {
		return "", c, nil, diag.New(diag.CommandNotAllowed, "git needs a command").WithHint(gitHint)
	}
	if strings.HasPrefix(args[0], "-") {
		name, _, _ := strings.Cut(args[0], "=")
		return "", c, nil, diag.New(diag.CommandNotAllowed, "git %s is not permitted without approval%s", name, why("git", name))
	}
	sub, args = args[0], args[1:]
	if sub == "stash" && len(args) > 0 {
		sub, args = "stash "+args[0], args[1:]
	}
	c, known := gitCommands[sub]
	if !known {
		return "", c, nil, diag.New(diag.CommandNotAllowed, "git %s is not run without approval", sub).WithHint(gitHint)
	}
	args, err = joinCommits(sub, args)
	if err != nil {
		return "", c, nil, err
	}
	r := &optionReader{program: "git " + sub, set: readOptions(c.options, gitlike), style: gitlike, digits: c.digits}
	if l, err = r.read(args); err != nil {
		return "", c, nil, err
	}
	return sub, c, l, checkGit(sub, c, l)
}

const gitHint = "git status, diff, log, show, branch, stash list, stash show and ls-files are run at once"

// joinCommits attaches the commits that some options of git branch take as the next word if there is one.
func joinCommits(sub string, args []string) ([]string, *diag.Error) {
	if sub != "branch" {
		return args, nil
	}
	var joined []string
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "--contains", "--no-contains", "--merged", "--no-merged":
			if i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				joined = append(joined, args[i]+"="+args[i+1])
				i++
				continue
			}
		}
		joined = append(joined, args[i])
	}
	return joined, nil
}

// signature is a format that has git start gpg.
var signature = regexp.MustCompile(`%[-+ ]?G|signature`)

func checkGit(sub string, c gitCommand, l *line) *diag.Error {
	for i, o := range l.options {
		formats := sub == "branch" && (strings.HasPrefix(o, "--format") || strings.HasPrefix(o, "--sort"))
		if strings.HasPrefix(o, "--pretty") || strings.HasPrefix(o, "--format") || formats {
			if signature.MatchString(o) {
				return diag.New(diag.CommandNotAllowed, "git %s with %%G or signature starts a program that checks signatures", sub)
			}
		}
		if strings.HasPrefix(o, "-L") {
			lines := strings.TrimPrefix(o, "-L")
			if lines == "" && i+1 < len(l.options) {
				lines = l.options[i+1]
			}
			if colon := strings.LastIndexByte(lines, ':'); colon >= 0 {
				if err := insideHistory(lines[colon+1:]); err != nil {
					return err
				}
			}
		}
	}
	switch {
	case c.operands == nothing && len(l.operands) > 0:
		return diag.New(diag.CommandNotAllowed, "git %s takes no operands here", sub)
	case c.operands == patterns && len(l.operands) > 0 && !l.has("l list"):
		return diag.New(diag.CommandNotAllowed, "git branch %s would make a branch", l.operands[0]).
			WithHint("git branch --list PATTERN lists branches")
	case c.operands == oneStash && (len(l.operands) > 1 || len(l.operands) == 1 && !stash.MatchString(l.operands[0])):
		return diag.New(diag.CommandNotAllowed, "git stash show takes one stash, such as stash@{0}")
	}
	return nil
}

var stash = regexp.MustCompile(`^([0-9]+|stash@\{[0-9]+\})$`)

// insideHistory checks a path that git looks up in a commit.
func insideHistory(p string) *diag.Error {
	clean := path.Clean(p)
	if path.IsAbs(p) || clean == ".." || strings.HasPrefix(clean, "../") {
		return diag.New(diag.PathEscape, "%s is outside the working tree", p).In(p)
	}
	return nil
}

// gitOperand checks an operand of git: a revision, a path, a pattern with its magic, or REVISION:PATH. What could be a
// path must be inside the tree, or git diff would compare any two files of the system. It gives the operand to hand on.
func gitOperand(o string, paths Paths) (string, *diag.Error) {
	inside, err := paths.Inside(o)
	if err != nil {
		return "", err
	}
	rev, p, isPath := strings.Cut(o, ":")
	switch {
	case strings.HasPrefix(o, ":/"):
	case rev == "" && isPath:
		_, err = paths.Inside(withoutMagic(p))
	case isPath:
		err = insideHistory(p)
	}
	return inside, err
}

// withoutMagic gives the path of a pattern such as :!path, :(exclude,icase)path or :0:path, of which the first colon has
// been taken.
func withoutMagic(p string) string {
	if long, ok := strings.CutPrefix(p, "("); ok {
		_, p, _ = strings.Cut(long, ")")
		return p
	}
	if len(p) > 1 && p[0] >= '0' && p[0] <= '3' && p[1] == ':' {
		return p[2:]
	}
	return strings.TrimLeft(p, "!^/:")
}
