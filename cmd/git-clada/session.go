package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/parse"
	"github.com/git-clada/git-clada/internal/repo"
	"github.com/git-clada/git-clada/internal/report"
	"github.com/git-clada/git-clada/internal/txn"
)

// session is one command at work.
type session struct {
	*edge
	c    *cli.Context
	ctx  context.Context
	dir  string
	repo *repo.Repo // nil before open
}

// newSession prepares a command. The directory is that of -C, else where the process stands.
func newSession(e *edge, c *cli.Context) (*session, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if to := c.String("C"); to != "" {
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		if info, err := os.Stat(to); err != nil || !info.IsDir() {
			return nil, usagef("-C: %s is not a directory", to)
		}
		dir = to
	}
	return &session{edge: e, c: c, ctx: c.Context, dir: dir}, nil
}

// command makes the action of a command that works in a repository.
func command(e *edge, do func(*session) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		s, err := newSession(e, c)
		if err != nil {
			return err
		}
		if err := s.open(); err != nil {
			return err
		}
		defer s.repo.Close()
		return do(s)
	}
}

func (s *session) open() (err error) {
	s.repo, err = repo.Open(s.ctx, s.dir, s.env)
	return err
}

func (s *session) style() report.Style {
	st := report.Style{Color: s.colorOn(s.out) && !s.c.Bool("no-color"), Quiet: s.c.Bool("quiet")}
	switch s.text("error-detail", "minimal") {
	case "full":
		st.Detail = report.Full
	case "debug":
		st.Detail = report.Debug
	}
	if s.c.Bool("verbose") && st.Detail == report.Minimal {
		st.Detail = report.Full
	}
	return st
}

func (s *session) printf(format string, args ...any) { fmt.Fprintf(s.out, format, args...) }

// say writes to people: nothing with --quiet.
func (s *session) say(format string, args ...any) {
	if !s.c.Bool("quiet") {
		s.printf(format, args...)
	}
}

// noArguments refuses arguments that a command does not take.
func (s *session) noArguments() error {
	if s.c.NArg() > 0 {
		return usagef("git clada %s takes no argument %s", s.c.Command.Name, s.c.Args().First())
	}
	return nil
}

// text gives a setting: the flag, else the environment (GIT_CLADA_NAME), else the configuration (clada.name), else def.
func (s *session) text(flag, def string) string {
	if s.c.IsSet(flag) {
		return s.c.String(flag)
	}
	if v, ok := s.variable("GIT_CLADA_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))); ok && v != "" {
		return v
	}
	if s.repo != nil {
		if v, ok := s.repo.Config.Value("clada." + camel(flag)); ok {
			return v
		}
	}
	return def
}

// on is text for a switch.
func (s *session) on(flag string) (bool, error) {
	if s.c.IsSet(flag) {
		return s.c.Bool(flag), nil
	}
	v := s.text(flag, "false")
	switch strings.ToLower(v) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0", "":
		return false, nil
	}
	return false, usagef("%s: %q is neither true nor false", flag, v)
}

// choice is text with one of several values.
func (s *session) choice(flag, def string, values ...string) (string, error) {
	v := s.text(flag, def)
	for _, allowed := range values {
		if v == allowed {
			return v, nil
		}
	}
	return "", usagef("%s: %q is not one of %s", flag, v, strings.Join(values, ", "))
}

// duration is text for a time span, such as 10s. A plain number counts seconds.
func (s *session) duration(flag, def string) (time.Duration, error) {
	v := s.text(flag, def)
	if n, err := strconv.Atoi(v); err == nil && n >= 0 {
		return time.Duration(n) * time.Second, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		return 0, usagef("%s: %q is no time span, such as 10s", flag, v)
	}
	return d, nil
}

// size is text for a number of bytes, with an optional k, M or G.
func (s *session) size(key string, def int64) (int64, error) {
	v := s.text(key, "")
	if v == "" {
		return def, nil
	}
	units := map[byte]int64{'k': 1e3, 'K': 1e3, 'M': 1e6, 'm': 1e6, 'G': 1e9, 'g': 1e9}
	number := strings.TrimSuffix(v, "B")
	factor := int64(1)
	if f, ok := units[number[max(len(number)-1, 0)]]; ok {
		factor, number = f, number[:len(number)-1]
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 {
		return 0, usagef("%s: %q is no size, such as 10MB", key, v)
	}
	return n * factor, nil
}

// camel turns lock-timeout into lockTimeout.
func camel(flag string) string {
	parts := strings.Split(flag, "-")
	for i := 1; i < len(parts); i++ {
		parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
	}
	return strings.Join(parts, "")
}

// transaction gives the options of an operation.
func (s *session) transaction(kind string) (txn.Options, error) {
	patience, err := s.duration("lock-timeout", "10s")
	return txn.Options{
		Kind: kind, Command: "git clada " + kind, Now: s.now(), LockFile: s.text("lock-file", ""), LockTimeout: patience,
	}, err
}

func lockFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "lock-file", Usage: "use `FILE` as the lock"},
		&cli.StringFlag{Name: "lock-timeout", Usage: "wait `TIME` for another git clada (default 10s)"},
	}
}

func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "report as JSON, and nothing else"}
}

// readReply reads the reply from the files given, or from standard input. Several files are one reply each in turn.
func (s *session) readReply() ([]byte, error) {
	if s.c.NArg() == 0 {
		return s.readFrom("-")
	}
	var all []byte
	for _, name := range s.c.Args().Slice() {
		text, err := s.readFrom(name)
		if err != nil {
			return nil, err
		}
		if len(all) > 0 && all[len(all)-1] != '\n' {
			all = append(all, '\n')
		}
		all = append(all, text...)
	}
	return all, nil
}

func (s *session) readFrom(name string) ([]byte, error) {
	in := s.in
	if name == "-" {
		if f, ok := in.(*os.File); ok && isTerminal(f) && !s.c.Bool("quiet") {
			fmt.Fprintln(s.err, "reading the reply from the terminal; end it with Ctrl-D")
		}
	} else {
		if !filepath.IsAbs(name) {
			name = filepath.Join(s.dir, name)
		}
		f, err := os.Open(name)
		if err != nil {
			return nil, usagef("%v", err)
		}
		defer f.Close()
		return s.readAll(f)
	}
	return s.readAll(in)
}

// readAll reads a reply, or gives up when the person does: a read from a terminal or pipe cannot be interrupted itself.
func (s *session) readAll(in io.Reader) ([]byte, error) {
	type answer struct {
		text []byte
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		text, err := io.ReadAll(io.LimitReader(in, parse.MaxReply+1))
		done <- answer{text, err}
	}()
	select {
	case <-s.ctx.Done():
		return nil, s.ctx.Err()
	case a := <-done:
		if a.err != nil {
			return nil, diag.Wrap(a.err, diag.InvalidArgument, "reading the reply: %v", a.err)
		}
		return a.text, nil
	}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
