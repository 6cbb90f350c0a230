package apply

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// fileCommand is a command that is carried out by us as a file op, as GNU coreutils would do it.
type fileCommand struct {
	short string            // the short options it takes
	long  map[string]string // the long ones: the short option that does the same, "" for one without effect here
	run   func(p *planner, r *Result, c command) *diag.Error
}

// command is a command line, read.
type command struct {
	name     string
	options  string // short options in the order in which they were given
	operands []string
	dir      string
}

var fileCommands = map[string]fileCommand{
	"rm": {"rRfvd", map[string]string{
		"recursive": "r", "force": "f", "verbose": "v", "dir": "d", "one-file-system": "", "preserve-root": "", "preserve-root=all": "",
		"interactive=never": "",
	}, (*planner).runRm},
	"mv": {"fnvuT", map[string]string{
		"force": "f", "no-clobber": "n", "verbose": "v", "update": "u", "no-target-directory": "T",
	}, (*planner).runMv},
	"cp": {"rRapfnvuTdPx", map[string]string{
		"recursive": "r", "archive": "a", "force": "f", "no-clobber": "n", "verbose": "v", "update": "u", "no-target-directory": "T",
		"no-dereference": "P", "one-file-system": "x", "preserve": "p", "preserve=mode": "p", "preserve=all": "p", "preserve=timestamps": "",
		"preserve=links": "d", "no-preserve=mode": "", "no-preserve=timestamps": "", "no-preserve=ownership": "",
	}, (*planner).runCp},
	"mkdir": {"pv", map[string]string{"parents": "p", "verbose": "v"}, (*planner).runMkdir},
	"touch": {"amc", map[string]string{"no-create": "c"}, (*planner).runTouch},
}

// readOptions sorts words into options and operands. Options are recognised anywhere before --, as GNU tools do it, and
// long ones only as a whole.
func (c *command) readOptions(words []string, fc fileCommand) *diag.Error {
	for i, w := range words {
		if w == "--" {
			c.operands = append(c.operands, words[i+1:]...)
			break
		}
		if len(w) < 2 || w[0] != '-' {
			c.operands = append(c.operands, w)
			continue
		}
		if long, ok := strings.CutPrefix(w, "--"); ok {
			short, known := fc.long[long]
			if !known {
				return c.noOption(w, fc)
			}
			c.options += short
			continue
		}
		for _, o := range w[1:] {
			if !strings.ContainsRune(fc.short, o) {
				return c.noOption(w, fc)
			}
		}
		c.options += w[1:]
	}
	if len(c.operands) == 0 {
		return diag.New(diag.InvalidArgument, "%s needs a path", c.name)
	}
	return nil
}

func (c *command) noOption(w string, fc fileCommand) *diag.Error {
	err := diag.New(diag.CommandNotAllowed, "%s takes no option %s here", c.name, w)
	if strings.HasPrefix(w, "--interactive") || !strings.HasPrefix(w, "--") && strings.ContainsAny(w, "iI") {
		return err.WithHint("nobody can be asked: leave it out")
	}
	return err.WithHint("options that are understood: -%s --%s", strings.Join(strings.Split(fc.short, ""), " -"),
		strings.Join(slices.Sorted(maps.Keys(fc.long)), " --"))
}

func (c command) has(options string) bool { return strings.ContainsAny(c.options, options) }

func (p *planner) runRm(r *Result, c command) *diag.Error {
	r.Op = "remove"
	op := batch.Remove{Recursive: c.has("rR"), Force: c.has("f"), EmptyDir: c.has("d")}
	for _, raw := range c.operands {
		if base := path.Base(raw); base == "." || base == ".." {
			return denied(batch.Path(raw), "rm refuses %s", raw)
		}
		if err := p.remove(r, raw, c.dir, op); err != nil {
			return err
		}
	}
	return nil
}

// targets pairs the sources of mv and cp with their destinations.
func (p *planner) targets(c command) ([][2]string, *diag.Error) {
	if len(c.operands) < 2 {
		return nil, diag.New(diag.InvalidArgument, "%s needs a source and a destination", c.name)
	}
	sources, last := c.operands[:len(c.operands)-1], c.operands[len(c.operands)-1]
	if c.has("T") && len(sources) > 1 {
		return nil, diag.New(diag.InvalidArgument, "%s -T takes one source and one destination", c.name).WithHint("leave out -T")
	}
	at, n, err := p.look(last, c.dir)
	if err != nil {
		return nil, err
	}
	if n != nil && n.Kind == Symlink && strings.HasSuffix(last, "/") {
		return nil, throughLink(at, at)
	}
	isDir := n != nil && n.Kind == Dir
	if !isDir && len(sources) > 1 {
		return nil, diag.New(diag.NotDirectory, "%s is not a directory", last).In(last)
	}
	if !isDir && strings.HasSuffix(last, "/") {
		if _, from, _ := p.look(sources[0], c.dir); from == nil || from.Kind != Dir {
			return nil, diag.New(diag.NotDirectory, "%s is not a directory", last).In(last)
		}
	}
	if !isDir {
		if up, err := p.tree.lstat(parent(at)); err == nil && up == nil {
			return nil, notFound(parent(at)).WithHint("make the directory first: mkdir -p %s", parent(at))
		}
	}
	pairs := make([][2]string, len(sources))
	taken := map[string]bool{}
	for i, s := range sources {
		pairs[i] = [2]string{s, last}
		if isDir && !c.has("T") {
			pairs[i][1] = path.Join(last, path.Base(s))
			if taken[pairs[i][1]] {
				return nil, diag.New(diag.FileExists, "%s would overwrite %s, which it has just made", c.name, pairs[i][1]).In(pairs[i][1]).
					WithHint("give the sources different names")
			}
			taken[pairs[i][1]] = true
		}
	}
	return pairs, nil
}

// spared reports whether an option keeps the destination as it is: -n if anything is there (-f behind it takes that back),
// -u if it is not older than the source.
func (p *planner) spared(c command, from, to string) (bool, *diag.Error) {
	noClobber := strings.LastIndexByte(c.options, 'n') > strings.LastIndexByte(c.options, 'f') || c.name == "cp" && c.has("n")
	if !noClobber && !c.has("u") {
		return false, nil
	}
	fromPath, source, err := p.look(from, c.dir)
	if err != nil {
		return false, err
	}
	if source == nil {
		return false, p.missing(fromPath)
	}
	at, n, err := p.look(to, c.dir)
	if err != nil || n == nil {
		return false, err
	}
	switch {
	case (source.Kind == Dir) != (n.Kind == Dir), fromPath == at, source.Kind != Dir && strings.HasSuffix(from, "/"):
		return false, nil // refused for that, whatever the options
	case source.Kind == Dir && c.name == "cp":
		return false, diag.New(diag.CommandNotAllowed, "cp -n and -u do not go into the directory %s", at).In(string(at)).
			WithHint("copy the files that are missing one by one")
	case noClobber:
		return true, nil
	}
	return n.Kind != Dir && !p.timeOf(source).After(p.timeOf(n)), nil
}

func (p *planner) runMv(r *Result, c command) *diag.Error {
	r.Op = "move"
	pairs, err := p.targets(c)
	if err != nil {
		return err
	}
	for _, pair := range pairs {
		if spared, err := p.spared(c, pair[0], pair[1]); err != nil {
			return err
		} else if spared {
			continue
		}
		if err := p.move(r, pair[0], pair[1], c.dir, true); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) runCp(r *Result, c command) *diag.Error {
	r.Op = "copy"
	pairs, err := p.targets(c)
	if err != nil {
		return err
	}
	op := batch.Copy{Overwrite: true, Recursive: c.has("rRa"), KeepLinks: c.has("rRadP"), KeepMode: !c.has("pa")}
	for _, pair := range pairs {
		if spared, err := p.spared(c, pair[0], pair[1]); err != nil {
			return err
		} else if spared {
			continue
		}
		if err := p.copy(r, pair[0], pair[1], c.dir, op); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) runMkdir(r *Result, c command) *diag.Error {
	r.Op = "mkdir"
	for _, raw := range c.operands {
		if err := p.mkdir(r, raw, c.dir, c.has("p")); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) runTouch(r *Result, c command) *diag.Error {
	r.Op = "touch"
	for _, raw := range c.operands {
		if err := p.touch(r, raw, c.dir, c.has("c")); err != nil {
			return err
		}
	}
	return nil
}
