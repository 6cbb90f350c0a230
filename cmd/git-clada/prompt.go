package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/git-clada/git-clada/internal/parse"
)

func promptCommand(e *edge) *cli.Command {
	return &cli.Command{
		Name: "prompt", Usage: "print instructions for a model's system prompt", ArgsUsage: "[DIALECT]",
		Flags: []cli.Flag{&cli.StringFlag{Name: "ops", Usage: "only operations of `LIST`, with commas between"}},
		Action: func(c *cli.Context) error {
			s, err := newSession(e, c)
			if err != nil {
				return err
			}
			dialect := "markers"
			if c.NArg() > 1 {
				return usagef("prompt takes one dialect")
			}
			if c.NArg() == 1 {
				dialect = c.Args().First()
			}
			if !slices.Contains(parse.Dialects(), dialect) {
				return usagef("%q is no dialect; there are %s", dialect, strings.Join(parse.Dialects(), ", "))
			}
			ops := strings.FieldsFunc(c.String("ops"), func(r rune) bool { return r == ',' || r == ' ' })
			text, err := parse.Prompt(dialect, ops)
			if err != nil {
				return usagef("%s", strings.SplitN(err.Error(), " [", 2)[0])
			}
			s.printf("%s", text)
			return nil
		},
	}
}
