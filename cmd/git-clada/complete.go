package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// completeCommand lists what may be typed next, one word a line, for the completion scripts of the shells. Its
// arguments are the words typed so far behind "git clada".
func completeCommand(e *edge) *cli.Command {
	return &cli.Command{
		Name: "complete", Usage: "list what may be typed next", Hidden: true, SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			words := c.Args().Slice()
			if len(words) > 0 && words[0] == "--" {
				words = words[1:]
			}
			for _, command := range c.App.Commands {
				switch {
				case command.Hidden:
				case len(words) <= 1:
					fmt.Fprintln(e.out, command.Name)
				case command.Name == words[0]:
					printFlags(e, command)
				}
			}
			return nil
		},
	}
}

func printFlags(e *edge, c *cli.Command) {
	var names []string
	for _, f := range c.Flags {
		for _, name := range f.Names() {
			if len(name) > 1 {
				names = append(names, "--"+name)
			}
		}
	}
	slices.Sort(names)
	fmt.Fprintln(e.out, strings.Join(names, "\n"))
}
