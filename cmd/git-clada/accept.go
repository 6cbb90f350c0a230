package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/git-clada/git-clada/internal/history"
	"github.com/git-clada/git-clada/internal/report"
)

func itoa(n int) string { return strconv.Itoa(n) }

func acceptCommand(e *edge) *cli.Command {
	return &cli.Command{
		Name: "accept", Usage: "bring what the batches did to your branch, staged",
		Flags: append(lockFlags(), &cli.BoolFlag{Name: "commit", Usage: "and run git commit"}, jsonFlag()),
		Action: command(e, func(s *session) error {
			if err := s.noArguments(); err != nil {
				return err
			}
			o, err := s.transaction("accept")
			if err != nil {
				return err
			}
			c := history.CommitOptions{Commit: s.c.Bool("commit"), Env: s.env, Out: s.out, Err: s.err}
			c.Before = s.warnOfHooks
			if s.c.Bool("json") {
				c.Out = s.err
			} else if s.c.Bool("quiet") {
				c.Out = io.Discard
			}
			a, err := history.Accept(context.WithoutCancel(s.ctx), s.repo, o, c)
			if s.c.Bool("json") {
				return s.acceptedJSON(a, err)
			}
			if err != nil {
				return err
			}
			s.say("HEAD is on %s again; %s staged from %s.\n", report.Line(a.Base), files(len(a.Files)), batches(len(a.Batches)))
			for _, f := range a.Whole {
				s.say("Staged as it is, with your own changes on the same lines: %s\n", report.Line(f))
			}
			if a.Commit == "" {
				s.warnOfHooks(a.Files)
			}
			if a.Commit != "" {
				s.say("Committed %s.\n", a.Commit.Short())
			} else if len(a.Files) > 0 {
				s.say("  look:    git diff --cached\n  commit:  git commit\n  undo:    git clada undo\n")
			}
			return nil
		}),
	}
}

// warnOfHooks says which of the files that are about to be committed git itself runs, or reads as configuration.
func (s *session) warnOfHooks(changed []string) {
	run := s.repo.RunByGit()
	for _, file := range changed {
		for _, r := range run {
			if file == r || strings.HasPrefix(file, r+"/") {
				fmt.Fprintf(s.err, "warning: git runs %s, or reads it as configuration: look at it before you commit\n", report.Line(file))
				break
			}
		}
	}
}

func batches(n int) string {
	if n == 1 {
		return "1 batch"
	}
	return itoa(n) + " batches"
}

func (s *session) acceptedJSON(a *history.Accepted, err error) error {
	doc := map[string]any{"version": 1, "success": err == nil}
	if err != nil {
		return s.failureJSON(doc, err)
	}
	doc["base"], doc["branch"], doc["batches"] = a.Base, a.Branch, append([]string{}, a.Batches...)
	doc["files"] = append([]string{}, a.Files...)
	if len(a.Whole) > 0 {
		doc["whole"] = a.Whole
	}
	if a.Commit != "" {
		doc["commit"] = a.Commit
	}
	return report.Encode(s.out, doc)
}

func discardCommand(e *edge) *cli.Command {
	return &cli.Command{
		Name: "discard", Usage: "drop what the batches did and return to your branch",
		Flags: append(lockFlags(), jsonFlag()),
		Action: command(e, func(s *session) error {
			if err := s.noArguments(); err != nil {
				return err
			}
			o, err := s.transaction("discard")
			if err != nil {
				return err
			}
			a, err := history.Discard(context.WithoutCancel(s.ctx), s.repo, o)
			if s.c.Bool("json") {
				return s.acceptedJSON(a, err)
			}
			if err != nil {
				return err
			}
			s.say("Dropped %s; HEAD is on %s again, %s put back.\n", batches(len(a.Batches)), report.Line(a.Base), files(len(a.Files)))
			s.say("  undo:    git clada undo\n")
			return nil
		}),
	}
}
