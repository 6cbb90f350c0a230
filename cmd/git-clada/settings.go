package main

import (
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/parse"
	"github.com/git-clada/git-clada/internal/report"
	"github.com/git-clada/git-clada/internal/runner"
	"github.com/git-clada/git-clada/internal/txn"
)

// applyFlags are those of apply and check.
func applyFlags() []cli.Flag {
	return append(append(parseFlags(), lockFlags()...),
		&cli.BoolFlag{Name: "atomic", Usage: "all or nothing: a failure puts every file back"},
		&cli.BoolFlag{Name: "allow-escape", Usage: "permit paths outside the working tree"},
		&cli.BoolFlag{Name: "allow-hook-edits", Usage: "permit changes to files that git runs"},
		&cli.BoolFlag{Name: "discard-ignored", Usage: "let rm remove for good what git ignores and is too large to be kept"},
		&cli.BoolFlag{Name: "no-run", Usage: "refuse every command"},
		&cli.StringFlag{Name: "root", Usage: "absolute paths below `PREFIX` mean the top"},
		&cli.BoolFlag{Name: "relative", Usage: "paths are relative to the current directory"},
		&cli.StringFlag{Name: "report", Usage: "report as `FORM`: text, xml, reply (default text)"},
		&cli.StringFlag{Name: "output-mode", Usage: "`MODE` of the text report: stream, buffer, silent (default stream)"},
		&cli.StringFlag{Name: "error-detail", Usage: "how much failures say (`LEVEL`): minimal, full, debug (default minimal)"},
		&cli.StringFlag{Name: "timeout", Usage: "`TIME` that an approved command may take (default 30s)"},
		&cli.StringFlag{Name: "total-timeout", Usage: "`TIME` that the whole batch may take"},
		&cli.StringFlag{Name: "sandbox", Usage: "confine approved commands (`LEVEL`): off, tree, strict (default off)"},
		&cli.StringFlag{Name: "max-output", Usage: "`SIZE` of a command's output that is kept (default 10MB)"},
		jsonFlag(),
	)
}

// settings are the flags of apply, resolved.
type settings struct {
	parse     parse.Options
	apply     apply.Options
	author    string
	message   string
	model     string
	form      string
	noGit     bool
	staged    bool
	relative  bool
	hookEdits bool
	mode      string // of the text report: stream, buffer, silent
	protect   []string
	context   *txn.Context
	timeout   time.Duration // of an approved command
	total     time.Duration // of the whole batch; 0 is none
	sandbox   runner.Sandbox
	live      *report.Printer // shows tasks while commands run; nil if nobody watches
}

func (s *session) applySettings() (*settings, error) {
	o := &settings{}
	var err error
	if o.parse, err = s.parseSettings(); err != nil {
		return nil, err
	}
	switches := map[string]*bool{
		"atomic": &o.apply.Atomic, "no-run": &o.apply.NoRun, "no-git": &o.noGit, "staged": &o.staged,
		"relative": &o.relative, "allow-hook-edits": &o.hookEdits, "discard-ignored": &o.apply.Discard, "allow-escape": new(bool),
	}
	for name, to := range switches {
		if *to, err = s.on(name); err != nil {
			return nil, err
		}
	}
	if *switches["allow-escape"] {
		return nil, usagef("--allow-escape is not supported yet: what leaves the tree could not be undone")
	}
	if o.form, err = s.choice("report", "text", "text", "xml", "reply"); err != nil {
		return nil, err
	}
	if _, err = s.choice("commit", "batch", "batch"); err != nil {
		return nil, err
	}
	if _, err = s.choice("error-detail", "minimal", "minimal", "full", "debug"); err != nil {
		return nil, err
	}
	if o.mode, err = s.choice("output-mode", "stream", "stream", "buffer", "silent"); err != nil {
		return nil, err
	}
	if o.timeout, err = s.duration("timeout", "30s"); err != nil {
		return nil, err
	}
	if o.total, err = s.duration("total-timeout", "0"); err != nil {
		return nil, err
	}
	sandbox, err := s.choice("sandbox", "off", "off", "tree", "strict")
	if err != nil {
		return nil, err
	}
	o.sandbox = runner.Sandbox(sandbox)
	if o.author, err = author(s.text("git-author", "clada")); err != nil {
		return nil, err
	}
	o.message, o.model = s.text("message", ""), s.text("model", "")
	if o.apply.MaxFileSize, err = s.size("max-file-size", apply.DefaultMaxFileSize); err != nil {
		return nil, err
	}
	if o.apply.MaxOutput, err = s.size("max-output", apply.DefaultMaxOutput); err != nil {
		return nil, err
	}
	s.treeSettings(o)
	known := append(parse.Actions(), batch.Names()...)
	for _, name := range o.apply.Actions {
		if !slices.Contains(known, name) {
			return nil, usagef("Invalid action in allowed-actions: '%s'. Valid actions: %s", name, strings.Join(known, ", "))
		}
	}
	if s.repo != nil {
		if o.context, err = txn.OpenContext(s.repo); err != nil {
			return nil, err
		}
		o.apply.Context = o.context
	}
	return o, nil
}

// treeSettings fills in what depends on the working tree.
func (s *session) treeSettings(o *settings) {
	o.apply.Umask, o.apply.Now = umask(), s.now()
	o.apply.Root = s.text("root", "")
	o.apply.TopDir = s.dir
	if s.repo == nil {
		return
	}
	o.apply.TopDir = s.repo.Top
	o.apply.FoldsCase = s.repo.Config.Bool("core.ignoreCase", false)
	if o.relative {
		o.apply.Dir = strings.TrimSuffix(s.repo.Prefix, "/")
	}
	if allowed := s.repo.Config.All("clada.allowActions"); len(allowed) > 0 {
		o.apply.Actions = strings.FieldsFunc(strings.Join(allowed, ","), func(r rune) bool { return r == ',' || r == ' ' })
	}
	rules := s.repo.IgnoreRules()
	o.apply.Ignored = func(p batch.Path) bool { return rules.Ignored(string(p)) }
	o.apply.Blob = func(prefix string) bool {
		if len(prefix) < 4 || strings.Trim(prefix, "0123456789abcdef") != "" {
			return false // not an object id: a reply may not have git look for anything else
		}
		oid, err := s.repo.Objects.Resolve(prefix + "^{blob}")
		return err == nil && oid != ""
	}
	o.protect = s.repo.Config.All("clada.protect")
	var run []string
	if !o.hookEdits {
		run = s.repo.RunByGit()
	}
	o.apply.Guard = guard(o.protect, run)
}

// guard refuses protected paths and files that git runs or reads as configuration.
func guard(protect, run []string) func(batch.Path) *diag.Error {
	return func(p batch.Path) *diag.Error {
		for _, pattern := range slices.Backward(protect) { // the last one that matches decides
			free := strings.HasPrefix(pattern, "!")
			if !apply.MatchGlob(strings.TrimPrefix(pattern, "!"), string(p)) {
				continue
			}
			if free {
				break
			}
			return diag.New(diag.PermissionDenied, "%s is protected (clada.protect=%s)", p, pattern).In(string(p)).With("protected")
		}
		for _, file := range run {
			if string(p) == file || strings.HasPrefix(string(p), file+"/") {
				return diag.New(diag.PermissionDenied, "git runs or reads %s as configuration", p).In(string(p)).
					WithHint("--allow-hook-edits lets a reply change it")
			}
		}
		return nil
	}
}

// author completes a name to NAME <EMAIL>.
func author(s string) (string, error) {
	if strings.ContainsAny(s, "\n\x00") || strings.TrimSpace(s) == "" {
		return "", usagef("git-author: %q is no name", s)
	}
	if strings.HasSuffix(s, ">") && strings.Contains(s, " <") {
		return s, nil
	}
	if strings.ContainsAny(s, "<>") {
		return "", usagef("git-author: write NAME or NAME <EMAIL>, not %q", s)
	}
	return s + " <clada@localhost>", nil
}

func umask() fs.FileMode { return txn.Umask() }
