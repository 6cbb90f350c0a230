package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/report"
	"github.com/git-clada/git-clada/internal/txn"
)

func contextCommand(e *edge) *cli.Command {
	return &cli.Command{
		Name: "context", Usage: "keep the list of files that you and a model work on", ArgsUsage: "[list|add|remove|prune|clear|show] [PATH...]",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "batches", Usage: "prune also drops what none of the last `N` batches changed"},
			&cli.StringFlag{Name: "lock-timeout", Usage: "wait `TIME` for another git clada (default 10s)"},
			jsonFlag(),
		},
		Action: command(e, runContext),
	}
}

func runContext(s *session) error {
	c, err := txn.OpenContext(s.repo)
	if err != nil {
		return err
	}
	verb, args := "list", s.c.Args().Slice()
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	takesPaths := verb == "add" || verb == "remove"
	if takesPaths != (len(args) > 0) {
		if takesPaths {
			return usagef("context %s needs a path", verb)
		}
		return usagef("context %s takes no argument %s", verb, args[0])
	}
	switch verb {
	case "list":
		return s.listContext(c)
	case "show":
		return s.showContext(c)
	case "add", "remove":
		return s.changeContext(c, verb, args)
	case "prune":
		return s.pruneContext(c)
	case "clear":
		gone := slices.Clone(c.Paths())
		for _, p := range gone {
			c.Remove(p)
		}
		return s.savedContext(c, gone)
	}
	return usagef("%s is not known: context takes list, add, remove, prune, clear or show", verb)
}

// contextSize gives the size of a file of the context, -1 if it is gone.
func (s *session) contextSize(name string) int64 {
	info, err := os.Lstat(filepath.Join(s.repo.Top, filepath.FromSlash(name)))
	if err != nil || info.IsDir() {
		return -1
	}
	return info.Size()
}

func (s *session) listContext(c *txn.Context) error {
	entries := []apply.ContextEntry{}
	total := int64(0)
	for _, name := range c.Paths() {
		size := max(s.contextSize(name), 0)
		entries = append(entries, apply.ContextEntry{Path: name, Size: size})
		total += size
	}
	if s.c.Bool("json") {
		return report.Encode(s.out, map[string]any{"version": 1, "files": entries, "bytes": total})
	}
	for _, e := range entries {
		mark := ""
		if s.contextSize(e.Path) < 0 {
			mark = "  (gone)"
		}
		s.printf("%9d  %s%s\n", e.Size, report.Line(e.Path), mark)
	}
	if len(entries) == 0 {
		s.say("The context is empty. git clada context add PATH puts a file into it.\n")
	} else {
		s.say("%9d  bytes in %s\n", total, files(len(entries)))
	}
	return nil
}

// contextPath makes an argument, which is relative to the current directory, relative to the top.
func (s *session) contextPath(arg string) (string, error) {
	full := arg
	if !filepath.IsAbs(full) {
		full = filepath.Join(s.dir, arg)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(full))
	if err == nil {
		full = filepath.Join(dir, filepath.Base(full))
	}
	rel, err := filepath.Rel(s.repo.Top, full)
	rel = filepath.ToSlash(rel)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") || rel == "." {
		return "", diag.New(diag.PathEscape, "%s is outside the working tree", arg).WithHint("name a file of this repository")
	}
	if strings.EqualFold(strings.SplitN(rel, "/", 2)[0], ".git") {
		return "", diag.New(diag.PathEscape, "%s is inside .git", arg).WithHint("name a file of the working tree")
	}
	return rel, nil
}

func (s *session) changeContext(c *txn.Context, verb string, args []string) error {
	var changed []string
	for _, arg := range args {
		name, err := s.contextPath(arg)
		if err != nil {
			return err
		}
		if verb == "remove" {
			if !c.Remove(name) {
				return diag.New(diag.FileNotFound, "%s is not in the context", name).WithHint("git clada context list shows what is")
			}
		} else {
			info, err := os.Lstat(filepath.Join(s.repo.Top, filepath.FromSlash(name)))
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return diag.New(diag.FileNotFound, "%s does not exist", name).WithHint("paths are relative to where you are")
			case err != nil:
				return diag.Wrap(err, diag.PermissionDenied, "%v", err)
			case info.IsDir():
				return diag.New(diag.IsDirectory, "%s is a directory", name).WithHint("name files, for example %s/*", name)
			}
			c.Add(name)
		}
		changed = append(changed, name)
	}
	return s.savedContext(c, changed)
}

// pruneContext drops what is gone, and with --batches what none of the last batches changed. It says which.
func (s *session) pruneContext(c *txn.Context) error {
	touched := map[string]bool{}
	n := s.c.Int("batches")
	if s.c.IsSet("batches") && n <= 0 {
		return usagef("--batches takes a positive number")
	}
	if n > 0 {
		all, err := s.batches()
		if err != nil {
			return err
		}
		for _, b := range all[:min(n, len(all))] {
			for _, f := range b.op.Files {
				touched[f.Path] = true
			}
		}
	}
	removed := []string{}
	for _, name := range slices.Clone(c.Paths()) {
		why := ""
		switch {
		case s.contextSize(name) < 0:
			why = "gone"
		case n > 0 && !touched[name]:
			why = fmt.Sprintf("not changed by the last %d batches", n)
			if n == 1 {
				why = "not changed by the last batch"
			}
		default:
			continue
		}
		c.Remove(name)
		removed = append(removed, name)
		if !s.c.Bool("json") {
			s.say("%s: %s\n", report.Line(name), why)
		}
	}
	return s.savedContext(c, removed)
}

// savedContext stores the list and says what is in it.
func (s *session) savedContext(c *txn.Context, changed []string) error {
	patience, err := s.duration("lock-timeout", "10s")
	if err != nil {
		return err
	}
	if err := c.Save(s.ctx, patience); err != nil {
		return err
	}
	if s.c.Bool("json") {
		return report.Encode(s.out, map[string]any{"version": 1, "changed": append([]string{}, changed...), "paths": append([]string{}, c.Paths()...)})
	}
	s.say("%s in the context\n", files(len(c.Paths())))
	return nil
}

// showContext prints the files of the context for pasting into a prompt.
func (s *session) showContext(c *txn.Context) error {
	total, shown := 0, 0
	for _, name := range c.Paths() {
		size := s.contextSize(name)
		if size < 0 || size > apply.DefaultMaxFileSize {
			fmt.Fprintf(s.err, "%s is left out: it is gone or too large\n", report.Line(name))
			continue
		}
		text, err := os.ReadFile(filepath.Join(s.repo.Top, filepath.FromSlash(name)))
		if err != nil || !utf8.Valid(text) || strings.ContainsRune(string(text[:min(len(text), 8000)]), 0) {
			fmt.Fprintf(s.err, "%s is left out: it is not text\n", report.Line(name))
			continue
		}
		fence := strings.Repeat("`", max(3, longestBackticks(string(text))+1))
		end := ""
		if len(text) > 0 && text[len(text)-1] != '\n' {
			end = "\n"
		}
		s.printf("%s\n%s%s\n%s%s%s\n\n", report.Line(name), fence, strings.TrimPrefix(path.Ext(name), "."), report.Block(string(text)), end, fence)
		total += len(text)
		shown++
	}
	fmt.Fprintf(s.err, "%s, %d bytes, about %d tokens\n", files(shown), total, total/4)
	return nil
}

// longestBackticks gives the longest run of backticks in a text.
func longestBackticks(s string) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
