package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Program is what to start, and within which bounds.
type Program struct {
	Path      string   // the executable, absolute
	Args      []string // Args[0] is the name as it was written
	Dir       string   // the working directory, absolute
	Env       []string
	Timeout   time.Duration // 0 is none
	Grace     time.Duration // between asking a program to end and ending it; 0 is 2 s
	MaxOutput int64         // bytes of both streams that are kept; 0 is DefaultMaxOutput
	Confine   Confinement
	Live      func(line string) // is told each line as it comes; nil for nobody
	Inherit   []*os.File        // files that the supervisor holds open until everything has ended
}

// Bounds of programs.
const (
	BuiltinTimeout   = 5 * time.Second  // of built-in commands
	DefaultTimeout   = 30 * time.Second // of approved ones
	DefaultMaxOutput = 10_000_000       // bytes
	defaultGrace     = 2 * time.Second
	drainTime        = 500 * time.Millisecond // for what is still in the pipes when everything has ended
)

// Outcome is what became of a program.
type Outcome struct {
	Output
	Exit        int    // the exit status, -1 if it did not exit by itself
	Signal      string // the signal that ended it, such as SIGSEGV; "" if it exited
	TimedOut    bool
	Interrupted bool   // the context was cancelled
	Missing     bool   // there is no such program
	Failure     string // why it could not be started; "" if it was
	Duration    time.Duration
	Leftover    int    // processes that were still alive when the program itself had ended
	Confined    string // which confinement was in force, in words
}

// OK reports whether the program ran and exited with status 0.
func (o *Outcome) OK() bool { return o.Failure == "" && !o.TimedOut && !o.Interrupted && o.Exit == 0 }

// order is what a supervisor is told; it comes as one line of JSON on its lifeline.
type order struct {
	Path, Dir exact
	Args, Env []exact
	Timeout   time.Duration
	Grace     time.Duration
	Confine   Confinement
}

// ending is what a supervisor says at the end.
type ending struct {
	Failure     string
	Missing     bool
	Exit        int
	Signal      int
	TimedOut    bool
	Interrupted bool
	Duration    time.Duration
	Leftover    int
	Confined    string
}

// supervisorArg makes this binary a supervisor when it is its only argument, confinedArg what a supervisor starts to
// confine itself and become the program.
const (
	supervisorArg = "__supervise"
	confinedArg   = "__confined"
)

// Descriptors of a supervisor and of a confined child.
const (
	orderFD  = 3 // where the order comes from; for a supervisor also the lifeline: it ends when we do
	statusFD = 4
)

// Helper makes the process a supervisor or a confined program if it was started as one, and gives its exit status. It
// is the first thing that main does.
func Helper(args []string) (status int, is bool) {
	if len(args) != 2 {
		return 0, false
	}
	switch args[1] {
	case supervisorArg:
		return supervise(), true
	case confinedArg:
		return becomeConfined(), true
	}
	return 0, false
}

// Run runs a program to its end. Cancelling ctx asks it to end, and ends it when the grace is over. Nothing that the
// program started is left when Run returns.
func Run(ctx context.Context, p Program) *Outcome {
	if p.Grace == 0 {
		p.Grace = defaultGrace
	}
	if p.MaxOutput == 0 {
		p.MaxOutput = DefaultMaxOutput
	}
	e, out, err := conduct(ctx, p)
	o := &Outcome{Output: out}
	if err != nil {
		o.Exit, o.Failure = -1, err.Error()
		return o
	}
	o.Exit, o.TimedOut, o.Interrupted, o.Missing = e.Exit, e.TimedOut, e.Interrupted, e.Missing
	o.Failure, o.Duration, o.Leftover, o.Confined = e.Failure, e.Duration, e.Leftover, e.Confined
	if e.Signal != 0 {
		o.Signal = signalName(syscall.Signal(e.Signal))
	}
	return o
}

// errLost says that the supervisor ended without a word: something killed it.
var errLost = errors.New("the process that supervised the command was killed")

// conduct starts a supervisor, gives it its order, reads what the program writes, and waits for the end.
func conduct(ctx context.Context, p Program) (*ending, Output, error) {
	text, err := json.Marshal(order{
		exact(p.Path), exact(p.Dir), exactly(p.Args), exactly(p.Env), p.Timeout, p.Grace, p.Confine,
	})
	if err != nil {
		return nil, Output{}, err
	}
	cmd := exec.Command(self(), supervisorArg)
	cmd.Args[0] = programName
	cmd.Env = []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal: nothing can ask there or write to it
	var pipes plumbing
	defer pipes.close()
	orderIn, orderOut := pipes.new()
	statusIn, statusOut := pipes.new()
	outIn, outOut := pipes.new()
	errIn, errOut := pipes.new()
	if pipes.err != nil {
		return nil, Output{}, pipes.err
	}
	cmd.Stdout, cmd.Stderr = outOut, errOut
	cmd.ExtraFiles = append([]*os.File{orderIn, statusOut}, p.Inherit...)
	if err := cmd.Start(); err != nil {
		return nil, Output{}, err
	}
	for _, theirs := range []*os.File{orderIn, statusOut, outOut, errOut} {
		theirs.Close()
	}
	keep := newCollector(p.MaxOutput, p.Live)
	var readers sync.WaitGroup
	readers.Go(func() { keep.read(stdout, outIn) })
	readers.Go(func() { keep.read(stderr, errIn) })
	stop := context.AfterFunc(ctx, func() { orderOut.Write([]byte(cancelWord)) })
	defer stop()
	orderOut.Write(append(text, '\n')) // if it is gone already, its status says so by being missing

	var e ending
	statusErr := json.NewDecoder(statusIn).Decode(&e)
	waitErr := cmd.Wait()
	deadline := time.Now().Add(drainTime)
	outIn.SetReadDeadline(deadline)
	errIn.SetReadDeadline(deadline)
	readers.Wait()
	if statusErr != nil {
		return nil, keep.done(), fmt.Errorf("%w (%v)", errLost, waitErr)
	}
	return &e, keep.done(), nil
}

// cancelWord on the lifeline asks a supervisor to end the program.
const cancelWord = "cancel\n"

// plumbing is pipes that are closed together.
type plumbing struct {
	ends []io.Closer
	err  error
}

func (p *plumbing) new() (r, w *os.File) {
	r, w, err := os.Pipe()
	if err != nil {
		p.err = err
		return nil, nil
	}
	p.ends = append(p.ends, r, w)
	return r, w
}

func (p *plumbing) close() {
	for _, end := range p.ends {
		end.Close()
	}
}
