package runner

import (
	"encoding/json"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// Confinement is what a program may do. The zero value is everything.
type Confinement struct {
	Reads    []exact // directories that it may read, with everything below
	Runs     []exact // directories that it may read and run programs from
	Files    []exact // single files that it may read; a missing one is no mistake
	Writes   []exact // directories that it may write to
	ReadsAll bool    // it may read and run everything
	NoTCP    bool    // it may not make or accept connections

	CPU       uint64 // seconds
	FileSize  uint64 // bytes of a file that it writes
	OpenFiles uint64
	Memory    uint64 // bytes of address space
}

func (c *Confinement) none() bool {
	return !c.ReadsAll && len(c.Reads)+len(c.Runs)+len(c.Writes) == 0 && !c.NoTCP && c.CPU+c.FileSize+c.OpenFiles+c.Memory == 0
}

// confinedChild is a program that confined itself before it became the program.
type confinedChild struct{ said confinedStatus }

// confinedOrder is what the child is told.
type confinedOrder struct {
	Path    exact
	Args    []exact
	Confine Confinement
}

// confinedStatus is what it says before it becomes the program, and once more if it could not become it.
type confinedStatus struct {
	Words   string
	Failure string
	Missing bool
}

func (c *confinedChild) words() string {
	if c == nil {
		return ""
	}
	return c.said.Words
}

func (c *confinedChild) failure() string {
	if c == nil {
		return ""
	}
	return c.said.Failure
}

// startConfined starts cmd by way of a child of this binary, which confines itself and then becomes the program.
func startConfined(cmd *exec.Cmd, c Confinement) (*confinedChild, error) {
	text, err := json.Marshal(confinedOrder{exact(cmd.Path), exactly(cmd.Args), c})
	if err != nil {
		return nil, err
	}
	var pipes plumbing
	defer pipes.close()
	in, inOut := pipes.new()
	said, saidOut := pipes.new()
	if pipes.err != nil {
		return nil, pipes.err
	}
	cmd.Path, cmd.Args = self(), []string{programName, confinedArg}
	cmd.ExtraFiles = []*os.File{in, saidOut}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	in.Close()
	saidOut.Close()
	inOut.Write(text)
	inOut.Close()
	child := &confinedChild{}
	for answers := json.NewDecoder(said); answers.Decode(&child.said) == nil; { // until the pipe closes by exec or exit
	}
	return child, nil
}

// becomeConfined is the main of such a child.
func becomeConfined() int {
	unix.CloseOnExec(orderFD)
	unix.CloseOnExec(statusFD)
	status := json.NewEncoder(os.NewFile(statusFD, "status"))
	var o confinedOrder
	err := json.NewDecoder(os.NewFile(orderFD, "order")).Decode(&o)
	var words string
	if err == nil {
		words, err = o.Confine.enforce()
	}
	if err == nil {
		status.Encode(confinedStatus{Words: words})
		err = unix.Exec(string(o.Path), plainly(o.Args), os.Environ())
	}
	status.Encode(confinedStatus{Words: words, Failure: err.Error()})
	return 126
}

// limit sets the resource limits.
func (c *Confinement) limit() error {
	for resource, most := range map[int]uint64{
		unix.RLIMIT_CPU: c.CPU, unix.RLIMIT_FSIZE: c.FileSize, unix.RLIMIT_NOFILE: c.OpenFiles, unix.RLIMIT_AS: c.Memory,
	} {
		if most == 0 {
			continue
		}
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
}
