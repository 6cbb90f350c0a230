package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/git-clada/git-clada/internal/report"
	"github.com/git-clada/git-clada/internal/txn"
)

func recoverCommand(e *edge) *cli.Command {
	return &cli.Command{
		Name: "recover", Usage: "finish or take back an operation that was interrupted",
		Flags: append(lockFlags(), jsonFlag()),
		Action: command(e, func(s *session) error {
			if err := s.noArguments(); err != nil {
				return err
			}
			o, err := s.transaction("recover")
			if err != nil {
				return err
			}
			rec, err := txn.Recover(context.WithoutCancel(s.ctx), s.repo, o.LockFile, o.LockTimeout)
			if s.c.Bool("json") {
				return s.recoveryJSON(rec, err)
			}
			if err != nil {
				return err
			}
			switch {
			case rec == nil:
				s.say("Nothing was interrupted here.\n")
			case rec.Finished:
				s.say("%s was interrupted; it is finished now.\n", report.Line(rec.Command))
			default:
				s.say("%s was interrupted; everything is as it was before.\n", report.Line(rec.Command))
			}
			if rec != nil && rec.Running != "" && !rec.Finished {
				s.say("This command of a reply was running then; what it changed is left as it is:\n%s\n", shownText(rec.Running, "    "))
			}
			return nil
		}),
	}
}

func (s *session) recoveryJSON(rec *txn.Recovery, err error) error {
	doc := map[string]any{"version": 1, "success": err == nil}
	if err != nil {
		return s.failureJSON(doc, err)
	}
	if rec != nil {
		doc["recovered"] = rec
	}
	return report.Encode(s.out, doc)
}
