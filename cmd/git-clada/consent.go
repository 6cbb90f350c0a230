package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/git-clada/git-clada/internal/apply"
	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/report"
	"github.com/git-clada/git-clada/internal/runner"
)

// askConsent asks a person about the commands of a batch that nobody has approved, or that do something else since the
// reply changed their inputs. It asks before anything is changed, and on the terminal alone: a reply on standard input
// cannot answer. Without a terminal nothing is asked, and the answer is no.
func (s *session) askConsent(p *programs, plan func() (*apply.Changeset, error)) error {
	tty, err := s.terminal()
	if err != nil {
		return nil
	}
	defer tty.Close()
	p.asking = true
	if _, err := plan(); err != nil {
		return err
	}
	if len(p.wanted) == 0 {
		return nil
	}
	d := &dialog{s: s, p: p, in: bufio.NewReader(tty), out: tty}
	if err := d.trust(); err != nil {
		return err
	}
	d.wanted = slices.DeleteFunc(p.wanted, func(w wanted) bool {
		return w.refusal != nil && len(w.inputs) == 0 && p.policy.Approvals.Approves(w.command.Entry())
	})
	return d.ask()
}

// dialog is a conversation on the terminal.
type dialog struct {
	s      *session
	p      *programs
	in     *bufio.Reader
	out    io.Writer
	wanted []wanted
}

func (d *dialog) say(format string, args ...any) { fmt.Fprintf(d.out, format, args...) }

// line reads an answer, or gives up when the person does.
func (d *dialog) line(prompt string) (string, error) {
	d.say("%s ", prompt)
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		text, err := d.in.ReadString('\n')
		got <- answer{text, err}
	}()
	select {
	case <-d.s.ctx.Done():
		return "", d.s.ctx.Err()
	case a := <-got:
		if a.err != nil {
			return "", nil // the terminal is gone: that is no yes
		}
		return strings.ToLower(strings.TrimSpace(a.text)), nil
	}
}

// trust asks about commands that the approvals file brought along, if the reply wants one of them.
func (d *dialog) trust() error {
	a := d.p.policy.Approvals
	if a.Trusted || !slices.ContainsFunc(d.p.wanted, func(w wanted) bool { return slices.Contains(a.Commands, w.command.Entry()) }) {
		return nil
	}
	d.say("%s approves commands that nobody has trusted in this clone:\n", runner.ApprovalsFile)
	for _, c := range a.New {
		d.say("%s\n", shownText(c, "    + "))
	}
	yes, err := d.yes("Trust this file as it is now? [y/N]")
	if err != nil || !yes {
		return err
	}
	return a.Trust(d.s.now())
}

func (d *dialog) yes(prompt string) (bool, error) {
	answer, err := d.line(prompt)
	return answer == "y" || answer == "yes", err
}

// ask lists everything that needs a person, and then asks one by one.
func (d *dialog) ask() error {
	if len(d.wanted) == 0 {
		return nil
	}
	d.say("This reply wants to run what needs your approval:\n")
	for _, w := range d.wanted {
		first, _, more := strings.Cut(w.command.Entry(), "\n")
		if more {
			first += " ..."
		}
		d.say("    task %d: %s\n", w.seq, report.Line(first))
	}
	answered := map[string]bool{}
	for i := range d.wanted {
		w := &d.wanted[i]
		key := w.command.Entry() + "\x00" + strings.Join(w.inputs, "\x00")
		if answered[key] {
			continue
		}
		answered[key] = true
		all, err := d.askOne(w)
		if err != nil || all {
			return err
		}
	}
	return nil
}

// askOne shows a command and asks about it. none says that the person wants to hear of no other.
func (d *dialog) askOne(w *wanted) (none bool, err error) {
	d.describe(w)
	if !runner.Printable(w.command.Text) {
		d.say("It contains invisible characters, so it is not run.\n")
		return false, nil
	}
	for {
		answer, err := d.line("Run it? [y]es, [a]lways, [n]o, no to all that follow [q], [?]")
		if err != nil {
			return true, err
		}
		switch answer {
		case "y", "yes":
			d.accept(w)
			return false, nil
		case "a", "always":
			d.accept(w)
			return false, d.always(w)
		case "", "n", "no":
			return false, nil
		case "q", "quit":
			return true, nil
		}
		d.say("    y  run it in this batch\n    a  run it, and whenever a reply asks for exactly this text: it is added to %s\n"+
			"    n  do not run it; the rest of the reply is carried out\n    q  do not run it, nor any that follow\n", runner.ApprovalsFile)
	}
}

func (d *dialog) accept(w *wanted) {
	entry := w.command.Entry()
	a := d.p.policy.Approvals
	if !a.Approves(entry) {
		a.Once = append(a.Once, entry)
	}
	d.p.consent[entry] = append(d.p.consent[entry], w.inputs...)
}

func (d *dialog) always(w *wanted) error {
	entry := w.command.Entry()
	if slices.Contains(d.p.policy.Approvals.Commands, entry) && d.p.policy.Approvals.Trusted {
		return nil
	}
	err := d.p.policy.Approvals.Add(entry, d.s.now())
	if refusal := fatal(err); refusal != nil && refusal.Code == diag.CommandNotAllowed {
		d.say("It is run this time only: %s.\n", refusal.Message)
		return nil
	}
	return err
}

// describe shows all that decides what a command does.
func (d *dialog) describe(w *wanted) {
	c := w.command
	where, how := "at the top", "directly, without a shell"
	if c.Dir != "" && c.Dir != "." {
		where = "in " + report.Line(c.Dir)
	}
	switch {
	case c.Language != "":
		how = "as " + c.Language + " code"
	case c.Words == nil:
		how = "by sh -c"
	}
	d.say("\ntask %d, %s, %s:\n%s\n", w.seq, where, how, shownText(c.Text, "    "))
	if w.refusal == nil {
		d.say("You approved this text. But this reply changes what it does: %s\n", report.Line(strings.Join(w.inputs, ", ")))
	} else if len(w.inputs) > 0 {
		d.say("This reply changes what it does: %s\n", report.Line(strings.Join(w.inputs, ", ")))
	}
	if d.p.policy.Sandbox != runner.Off {
		d.say("It is confined: clada.sandbox=%s.\n", d.p.policy.Sandbox)
	}
}

// shownText gives a text of several lines, with everything visible that a terminal would hide.
func shownText(text, indent string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = indent + report.Line(l)
	}
	return strings.Join(lines, "\n")
}
