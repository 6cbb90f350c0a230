package main

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/report"
	"github.com/git-clada/git-clada/internal/runner"
	"github.com/git-clada/git-clada/internal/txn"
)

func allowCommand(e *edge) *cli.Command {
	return &cli.Command{
		Name: "allow", Usage: "say which commands a reply may run", ArgsUsage: "[list|add|remove|deny|trust] [-- COMMAND|-]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "lock-timeout", Usage: "wait `TIME` for another git clada (default 10s)"},
			jsonFlag(),
		},
		Action: command(e, runAllow),
	}
}

func runAllow(s *session) error {
	verb, args := "list", s.c.Args().Slice()
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	change := map[string]func(*runner.Approvals, string) error{
		"add":    s.approve,
		"remove": s.disapprove,
		"deny":   func(a *runner.Approvals, text string) error { return a.Deny(text, s.now()) },
	}[verb]
	if change == nil && verb != "list" && verb != "trust" {
		return usagef("%s is not known: allow takes list, add, remove, deny or trust", verb)
	}
	text, err := s.commandText(verb, args, change != nil)
	if err != nil {
		return err
	}
	if verb == "list" {
		a, err := s.approvals()
		if err != nil {
			return err
		}
		return s.listAllowed(a)
	}
	if _, inside := s.variable("CLADA_RUN"); inside {
		return diag.New(diag.CommandNotAllowed, "a command that a reply runs cannot approve commands").
			WithHint("approve it yourself, in a shell of your own")
	}
	patience, err := s.duration("lock-timeout", "10s")
	if err != nil {
		return err
	}
	release, err := txn.Hold(s.ctx, s.repo, patience) // while a batch runs, approvals stand still
	if err != nil {
		return err
	}
	defer release()
	a, err := s.approvals()
	if err != nil {
		return err
	}
	if change == nil {
		return s.trustAll(a)
	}
	if err := change(a, text); err != nil {
		return err
	}
	return s.allowed(a, verb, text)
}

func (s *session) approvals() (*runner.Approvals, error) {
	return runner.OpenApprovals(s.repo.Top, filepath.Join(s.repo.Common, "clada"))
}

// commandText gives the text that add, remove and deny are about: the arguments joined with blanks, or standard input.
func (s *session) commandText(verb string, args []string, wanted bool) (string, error) {
	if !wanted {
		if len(args) > 0 {
			return "", usagef("allow %s takes no argument %s", verb, args[0])
		}
		return "", nil
	}
	text := strings.Join(args, " ")
	if len(args) == 1 && args[0] == "-" {
		all, err := io.ReadAll(s.in)
		if err != nil {
			return "", diag.Wrap(err, diag.InvalidArgument, "reading the command: %v", err)
		}
		text = string(all)
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return "", usagef("allow %s needs a command: git clada allow %s -- 'npm test'", verb, verb)
	}
	if !runner.Printable(text) && verb == "add" {
		return "", diag.New(diag.InvalidArgument, "the command contains invisible characters: %s", report.Block(text)).
			WithHint("nobody could tell what was approved")
	}
	return text, nil
}

func (s *session) approve(a *runner.Approvals, text string) error { return a.Add(text, s.now()) }

func (s *session) disapprove(a *runner.Approvals, text string) error {
	found, err := a.Remove(text, s.now())
	if err == nil && !found {
		err = diag.New(diag.InvalidArgument, "it is not in the list: %s", report.Block(text)).WithHint("git clada allow list shows what is")
	}
	return err
}

func (s *session) allowed(a *runner.Approvals, verb, text string) error {
	if s.c.Bool("json") {
		return s.encodeAllowed(a)
	}
	said := map[string]string{
		"add": "A reply may run this here, exactly so:", "remove": "No longer approved nor denied:", "deny": "Never run, whoever approves it:",
	}[verb]
	s.say("%s\n%s\n", said, shownText(text, "    "))
	if verb == "add" {
		s.say("It is in %s; others who get that file trust it with git clada allow trust.\n", runner.ApprovalsFile)
	}
	return nil
}

func (s *session) trustAll(a *runner.Approvals) error {
	news := slices.Clone(a.New)
	if err := a.Trust(s.now()); err != nil {
		return err
	}
	if s.c.Bool("json") {
		return s.encodeAllowed(a)
	}
	if len(news) == 0 {
		s.say("%s approves nothing that was not trusted here already.\n", runner.ApprovalsFile)
		return nil
	}
	s.say("Trusted in this clone from now on:\n")
	for _, c := range news {
		s.say("%s\n", shownText(c, "    "))
	}
	return nil
}

func (s *session) listAllowed(a *runner.Approvals) error {
	if s.c.Bool("json") {
		return s.encodeAllowed(a)
	}
	if len(a.Commands)+len(a.Blocked) == 0 {
		s.say("No command is approved. git clada allow add -- 'npm test' approves one.\n")
		return nil
	}
	for _, c := range a.Commands {
		mark := "✓ "
		switch {
		case a.Blocks(c):
			continue
		case !a.Trusted:
			mark = "? "
		}
		s.printf("%s%s\n", mark, strings.TrimPrefix(shownText(c, "  "), "  "))
	}
	for _, c := range a.Blocked {
		s.printf("✗ %s\n", strings.TrimPrefix(shownText(c, "  "), "  "))
	}
	if !a.Trusted && len(a.Commands) > 0 {
		s.say("\nNothing of this is approved here until you trust the file as it is: git clada allow trust\n")
	}
	return nil
}

func (s *session) encodeAllowed(a *runner.Approvals) error {
	return report.Encode(s.out, map[string]any{
		"version": 1, "commands": orEmpty(a.Commands), "added": a.Added, "blocked": orEmpty(a.Blocked), "trusted": a.Trusted, "new": orEmpty(a.New),
	})
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
