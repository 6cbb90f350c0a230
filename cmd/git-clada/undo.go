package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/git-clada/git-clada/internal/history"
	"github.com/git-clada/git-clada/internal/repo"
	"github.com/git-clada/git-clada/internal/report"
	"github.com/git-clada/git-clada/internal/txn"
)

func undoCommand(e *edge) *cli.Command {
	return travelCommand(e, "undo", "take back the last operation", "Took back", history.Undo)
}

func redoCommand(e *edge) *cli.Command {
	return travelCommand(e, "redo", "bring back what undo took back last", "Brought back", history.Redo)
}

func travelCommand(e *edge, name, usage, done string, travel func(context.Context, *repo.Repo, txn.Options) (*history.Moved, error)) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, Flags: append(lockFlags(), jsonFlag()),
		Action: command(e, func(s *session) error {
			if err := s.noArguments(); err != nil {
				return err
			}
			o, err := s.transaction(name)
			if err != nil {
				return err
			}
			m, err := travel(context.WithoutCancel(s.ctx), s.repo, o)
			if s.c.Bool("json") {
				return s.movedJSON(m, err)
			}
			if err != nil {
				return err
			}
			s.say("%s: %s\n", done, operation(m.Op))
			s.say("HEAD is at %s; %s changed.\n", history.HeadText(m.Head), files(len(m.Files)))
			return nil
		}),
	}
}

// operation names an operation, for people.
func operation(op *txn.Op) string {
	text := op.Kind
	if op.Batch != "" {
		text += " of batch " + op.Batch
	}
	if op.Summary != "" {
		text += " (" + report.Line(op.Summary) + ")"
	}
	return text
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return itoa(n) + " files"
}

func (s *session) movedJSON(m *history.Moved, err error) error {
	doc := map[string]any{"version": 1, "success": err == nil}
	if err != nil {
		return s.failureJSON(doc, err)
	}
	doc["operation"], doc["batch"] = m.Op.Kind, m.Op.Batch
	doc["files"], doc["head"], doc["branch"] = append([]string{}, m.Files...), m.Head.OID, m.Branch
	return report.Encode(s.out, doc)
}

// failureJSON reports a refusal in a JSON document of a command and ends it.
func (s *session) failureJSON(doc map[string]any, err error) error {
	refusal := fatal(err)
	if refusal == nil {
		return err
	}
	doc["success"], doc["code"], doc["error"] = false, refusal.Code, refusal.Message
	if refusal.Hint != "" {
		doc["hint"] = refusal.Hint
	}
	if err := report.Encode(s.out, doc); err != nil {
		return err
	}
	if refusal.Code.Fatal() {
		return exit(exitCannot)
	}
	return exit(exitFailed)
}
