package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-clada/git-clada/internal/diag"
)

// Interpreter is what runs code in a language.
type Interpreter struct {
	Program string   // its name
	Args    []string // before the file with the code
	Ending  string   // of the name of that file
}

// interpreters are those of the languages that a reply may write code in. The code comes in a file, so its length does
// not matter, but runs as with -c or -e: modules are looked for in the current directory, not beside the file.
var interpreters = map[string]Interpreter{
	"python": {"python3", []string{
		"-c", `import sys; exec(compile(open(sys.argv.pop(1), encoding="utf-8").read(), "<code>", "exec"))`,
	}, ".py"},
	"javascript": {"node", []string{"-e", `eval(require("fs").readFileSync(process.argv.splice(1, 1)[0], "utf8"))`}, ".js"},
	"bash":       {"bash", nil, ".sh"},
	"ruby":       {"ruby", []string{"-e", `eval(File.read(ARGV.shift), TOPLEVEL_BINDING, "<code>")`}, ".rb"},
}

// Entry gives the text that approves a command: for code, the language and the SHA-256 of its bytes, with the first line
// for people to know it by.
func (c *Command) Entry() string {
	if c.Language == "" {
		return c.Text
	}
	sum := sha256.Sum256([]byte(c.Text))
	first, _, _ := strings.Cut(strings.TrimLeft(c.Text, "\r\n"), "\n")
	return strings.TrimSpace("exec " + c.Language + " sha256:" + hex.EncodeToString(sum[:]) + " " + strings.TrimSpace(first))
}

// approved makes the program of a command that a person approved.
func (p *Policy) approved(c *Command, entry string) (*Verdict, *diag.Error) {
	if c.Refusal != nil && c.Refusal.Code == diag.MalformedStructure {
		return nil, c.Refusal
	}
	env := p.personsEnvironment()
	v := &Verdict{Class: Approved, Approval: entry, Argv: c.Words}
	v.Program = Program{Dir: p.dir(c.Dir), Env: env, Timeout: p.Timeout, MaxOutput: p.MaxOutput, Confine: p.sandbox(env)}
	switch {
	case c.Language != "":
		return v, p.code(c, v)
	case c.Words == nil:
		v.Shell, v.Argv = true, []string{"sh", "-c", c.Text}
	}
	v.Program.Args = v.Argv
	v.Program.Path = lookUp(v.Argv[0], v.Program.Dir, pathOf(env))
	return v, nil
}

// code makes the program that runs code. Where the file with it is to stand is for the caller to say: see WithCode.
func (p *Policy) code(c *Command, v *Verdict) *diag.Error {
	i, known := interpreters[c.Language]
	if !known {
		return diag.New(diag.InvalidArgument, "%s code cannot be run", c.Language).WithHint("possible: python, javascript, bash, ruby")
	}
	v.Argv = append([]string{i.Program}, i.Args...)
	v.Program.Args = v.Argv
	v.Program.Path = lookUp(i.Program, v.Program.Dir, pathOf(v.Program.Env))
	return nil
}

// WithCode writes code to a file in a directory and hands it to the verdict's interpreter.
func (v *Verdict) WithCode(c *Command, dir string) error {
	file := filepath.Join(dir, "code"+interpreters[c.Language].Ending)
	if err := os.WriteFile(file, []byte(c.Text), 0o600); err != nil {
		return err
	}
	v.Program.Args = append(append([]string{}, v.Program.Args...), file)
	return nil
}

// lookUp finds a program: by its path, from the directory where the command starts, or in the directories of PATH. What
// is not found keeps its name, and fails to start as missing.
func lookUp(name, dir string, path []string) string {
	if strings.Contains(name, "/") {
		if filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(dir, name)
	}
	for _, in := range path {
		file := filepath.Join(in, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return filepath.Join("/nonexistent", name)
}
