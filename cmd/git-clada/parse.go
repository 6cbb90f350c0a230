package main

import (
	"github.com/urfave/cli/v2"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/parse"
	"github.com/git-clada/git-clada/internal/report"
)

func parseCommand(e *edge) *cli.Command {
	return &cli.Command{
		Name: "parse", Usage: "show as JSON what is understood of a reply", ArgsUsage: "[FILE|-]",
		Flags: append(parseFlags(), jsonFlag()),
		Action: func(c *cli.Context) error {
			s, err := newSession(e, c)
			if err != nil {
				return err
			}
			o, err := s.parseSettings()
			if err != nil {
				return err
			}
			if c.NArg() > 1 {
				return usagef("parse takes one file")
			}
			reply, err := s.readReply()
			if err != nil {
				return err
			}
			b, list := parse.Parse(reply, o)
			if err := report.Parsed(s.out, b, list); err != nil {
				return err
			}
			if len(list.Problems) > 0 {
				return exit(exitFailed)
			}
			return nil
		},
	}
}

// parseFlags are the flags that say how a reply is read.
func parseFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "dialect", Usage: "read only blocks of `NAME` (default auto)"},
		&cli.StringFlag{Name: "fences", Usage: "`WHAT` to do with blocks in markdown fences: apply, ignore (default apply)"},
		&cli.StringFlag{Name: "match", Usage: "`HOW` text is compared: exact, whitespace (default exact)"},
		&cli.BoolFlag{Name: "strict", Usage: "make lenient readings errors"},
		&cli.BoolFlag{Name: "allow-empty-replace", Usage: "let an empty replacement delete"},
		&cli.BoolFlag{Name: "strict-dividers", Usage: "make several possible dividers an error"},
	}
}

func (s *session) parseSettings() (parse.Options, error) {
	var o parse.Options
	o.Dialect = s.text("dialect", "auto")
	if !parse.Known(o.Dialect) {
		return o, usagef("dialect: %q is not known; there are %v", o.Dialect, parse.Dialects())
	}
	fences, err := s.choice("fences", "apply", "apply", "ignore")
	if err != nil {
		return o, err
	}
	o.IgnoreFences = fences == "ignore"
	match, err := s.choice("match", "exact", "exact", "whitespace")
	if err != nil {
		return o, err
	}
	if match == "whitespace" {
		o.Match = batch.Whitespace
	}
	for name, to := range map[string]*bool{
		"strict": &o.Strict, "allow-empty-replace": &o.AllowEmptyReplace, "strict-dividers": &o.StrictDividers,
	} {
		if *to, err = s.on(name); err != nil {
			return o, err
		}
	}
	return o, nil
}
