package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/git-clada/git-clada/docs"
	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/report"
)

// edge is everything outside that a command may touch.
type edge struct {
	in       io.Reader
	out, err io.Writer
	env      []string
	now      func() time.Time
}

// Exit statuses.
const (
	exitFailed      = 1
	exitCannot      = 128
	exitUsage       = 129
	exitInterrupted = 130
)

// exit ends a command with a status; everything has been said already.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// usageError is a mistake in the arguments.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// run runs the program and gives its exit status.
func run(ctx context.Context, args []string, e edge) int {
	app := newApp(&e)
	ordered, err := permute(app, args)
	if err == nil {
		err = app.RunContext(ctx, ordered)
	}
	return e.status(ctx, err)
}

// status says what went wrong, if anything, and gives the exit status for it.
func (e *edge) status(ctx context.Context, err error) int {
	var code exit
	var usage usageError
	var refusal *diag.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage):
		fmt.Fprintf(e.err, "error: %s\nhint: git clada -h lists the commands, git clada COMMAND -h its options\n", report.Line(usage.text))
		return exitUsage
	case ctx.Err() != nil && diag.CodeOf(err) != diag.Interrupted:
		fmt.Fprintln(e.err, "error: interrupted; nothing was changed")
		return exitInterrupted
	case errors.As(err, &refusal):
		report.Failure(e.err, refusal, report.Style{Color: e.colorOn(e.err)})
		if refusal.Code.Fatal() {
			return exitCannot
		}
		return exitFailed
	}
	fmt.Fprintf(e.err, "error: %s\n", report.Block(err.Error()))
	return exitCannot
}

// variable gives a variable of the environment.
func (e *edge) variable(name string) (string, bool) {
	for _, kv := range slices.Backward(e.env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// colorOn reports whether to write colours to w: only to a terminal, and not where NO_COLOR is set.
func (e *edge) colorOn(w io.Writer) bool {
	if v, set := e.variable("NO_COLOR"); set && v != "" {
		return false
	}
	if v, _ := e.variable("TERM"); v == "dumb" {
		return false
	}
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// showPage replaces the help of the command-line library by the manual pages.
func showPage(w io.Writer, _ string, data any) {
	page := "git-clada"
	if c, ok := data.(*cli.Command); ok {
		page += "-" + c.Name
	}
	fmt.Fprint(w, docs.Help(page))
}

func newApp(e *edge) *cli.App {
	cli.HelpPrinter = showPage
	app := &cli.App{
		Name: "git clada", HelpName: "git clada", Usage: "carry out a language model's reply in a git repository",
		Version: toolVersion, HideVersion: true, HideHelp: true, Writer: e.out, ErrWriter: e.err,
		UseShortOptionHandling: true, DisableSliceFlagSeparator: true,
		Flags: append(commonFlags(), helpFlag()),
		Commands: []*cli.Command{
			applyCommand(e), checkCommand(e), parseCommand(e), statusCommand(e), logCommand(e), showCommand(e),
			undoCommand(e), redoCommand(e), acceptCommand(e), discardCommand(e), recoverCommand(e), allowCommand(e), contextCommand(e), promptCommand(e), versionCommand(e),
			completeCommand(e),
		},
		OnUsageError:   func(_ *cli.Context, err error, _ bool) error { return usageError{err.Error()} },
		ExitErrHandler: func(*cli.Context, error) {},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usagef("%s is not a git clada command", c.Args().First())
			}
			fmt.Fprint(e.out, docs.Help("git-clada"))
			return exit(exitUsage)
		},
	}
	for _, c := range app.Commands {
		c.Flags = append(c.Flags, commonFlags()...)
		c.Flags = append(c.Flags, helpFlag())
		c.HideHelp = true
		c.UseShortOptionHandling = true
		c.OnUsageError = app.OnUsageError
	}
	return app
}

func helpFlag() cli.Flag {
	return &cli.BoolFlag{Name: "help", Aliases: []string{"h"}, Usage: "say what the command does"}
}

// commonFlags are understood by every command, before and behind its name.
func commonFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "C", Usage: "work as if started in `DIR`"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "say only what went wrong"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "say more"},
		&cli.BoolFlag{Name: "no-color", Usage: "write no colours"},
	}
}

// permute puts options before arguments, since the command-line library stops at the first argument. What follows --
// is an argument in any case. Options before the command's name stay with it.
func permute(app *cli.App, args []string) ([]string, error) {
	if len(args) == 0 {
		return args, nil
	}
	head := []string{args[0]}
	rest := args[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") && rest[0] != "-" && rest[0] != "--" {
		n := 1
		if takesValue(app.Flags, rest[0]) && len(rest) > 1 {
			n = 2
		}
		head = append(head, rest[:n]...)
		rest = rest[n:]
	}
	if len(rest) == 0 {
		return head, nil
	}
	command := app.Command(rest[0])
	if command == nil {
		return append(head, rest...), nil
	}
	var options, arguments []string
	for i := 1; i < len(rest); i++ {
		a := rest[i]
		if a == "--" {
			arguments = append(arguments, rest[i+1:]...)
			break
		}
		if len(a) < 2 || a[0] != '-' {
			arguments = append(arguments, a)
			continue
		}
		options = append(options, a)
		if takesValue(command.Flags, a) {
			if i+1 == len(rest) {
				return nil, usagef("option %s needs a value", a)
			}
			i++
			options = append(options, rest[i])
		}
	}
	// Options before the name hold for the command too, so that -C works in both places.
	ordered := append([]string{args[0], rest[0]}, head[1:]...)
	ordered = append(append(ordered, options...), "--")
	return append(ordered, arguments...), nil
}

// takesValue reports whether an option, as it stands, takes the next word as its value.
func takesValue(flags []cli.Flag, option string) bool {
	if strings.Contains(option, "=") {
		return false
	}
	name := strings.TrimLeft(option, "-")
	for _, f := range flags {
		if _, isBool := f.(*cli.BoolFlag); !isBool && slices.Contains(f.Names(), name) {
			return true
		}
	}
	return false
}
