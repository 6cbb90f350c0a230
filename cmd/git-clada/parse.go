package main

import (
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/parse"
	"github.com/git-clada/git-clada/internal/report"
)

func parseCommand(e *edge) *cli.Command {
	return &cli.Command{
		Name: "parse", Usage: "show as JSON what is understood of a reply", ArgsUsage: "[FILE|-]",
		Flags: append(parseFlags(), jsonFlag(),
			&cli.StringFlag{Name: "to", Usage: "write the reply in the dialect `NAME` instead"}),
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
			if to := c.String("to"); to != "" {
				return s.convert(reply, o, to)
			}
			if o.Dialect == "sham" {
				return s.parseSham(reply, o)
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

// parseSham writes what the parser of the sham dialect says, member for member.
func (s *session) parseSham(reply []byte, o parse.Options) error {
	if _, list := parse.Parse(reply, o); len(list.Problems) > 0 {
		if code := list.Problems[0].Code; code == diag.InputTooLarge || code == diag.InvalidUTF8 {
			return list.Problems[0].Error
		}
	}
	doc := parse.ReadSham(reply, o)
	if err := report.Encode(s.out, doc.Document(o.Strict)); err != nil {
		return err
	}
	if len(doc.Errors) > 0 {
		return exit(exitFailed)
	}
	return nil
}

// convert writes a reply in another dialect. What cannot be said in it is named, and nothing is written.
func (s *session) convert(reply []byte, o parse.Options, to string) error {
	if !slices.Contains(parse.Dialects(), to) {
		return usagef("to: %q is not known; there are %v", to, parse.Dialects())
	}
	b, list := parse.Parse(reply, o)
	if len(list.Problems) > 0 {
		return list.Problems[0].Error
	}
	text, err := parse.Format(b, to)
	if err != nil {
		return err
	}
	s.printf("%s", text)
	return nil
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
	o.OnlyExact = s.text("match", "") == "exact"
	for name, to := range map[string]*bool{
		"strict": &o.Strict, "allow-empty-replace": &o.AllowEmptyReplace, "strict-dividers": &o.StrictDividers,
	} {
		if *to, err = s.on(name); err != nil {
			return o, err
		}
	}
	return o, nil
}
