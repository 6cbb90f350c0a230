package runner

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// supervise is the main of a supervisor: it takes an order, runs the program, ends everything that is left of it, and
// says how it went. If the lifeline breaks, the process that gave the order is dead, and everything is ended at once.
func supervise() int {
	runtime.LockOSThread() // the program's death signal is tied to the thread that started it
	lifeline, status := os.NewFile(orderFD, "order"), os.NewFile(statusFD, "status")
	for fd := orderFD; fd < orderFD+8; fd++ { // with what was inherited to be held open
		unix.CloseOnExec(fd)
	}
	in := bufio.NewReader(lifeline)
	line, err := in.ReadBytes('\n')
	var o order
	if err == nil {
		err = json.Unmarshal(line, &o)
	}
	if err != nil {
		return 1
	}
	adopt()
	s := supervisor{order: o, cancel: make(chan bool, 2)}
	go s.listen(in)
	e := s.run()
	if err := json.NewEncoder(status).Encode(e); err != nil {
		return 1
	}
	return 0
}

type supervisor struct {
	order
	cancel chan bool // true asks to end the program, false is a broken lifeline
	pid    int
}

// listen waits for a word on the lifeline, and then for its end.
func (s *supervisor) listen(in *bufio.Reader) {
	if _, err := in.ReadString('\n'); err == nil {
		s.cancel <- true
		io.Copy(io.Discard, in)
	}
	s.cancel <- false
}

func (s *supervisor) run() ending {
	cmd, confined, err := s.start()
	if err != nil {
		return ending{Failure: reason(err), Missing: errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound), Exit: -1}
	}
	start := time.Now()
	s.pid = cmd.Process.Pid
	exited := make(chan struct{})
	go func() {
		awaitExit(s.pid)
		close(exited)
	}()
	e := s.watch(exited)
	e.Duration = time.Since(start)
	left := map[int]bool{}
	for _, pid := range descendants() {
		left[pid] = true
	}
	delete(left, s.pid)
	// The program is dead but not reaped: its process group's number cannot belong to anybody else yet.
	syscall.Kill(-s.pid, syscall.SIGKILL)
	state, _ := cmd.Process.Wait()
	sweep(left)
	e.Leftover = len(left)
	e.describe(state)
	e.Confined = confined.words()
	if why := confined.failure(); why != "" {
		e.Failure, e.Exit = why, -1
	}
	return e
}

// start starts the program, by way of a confined child where it is to be confined.
func (s *supervisor) start() (*exec.Cmd, *confinedChild, error) {
	cmd := &exec.Cmd{
		Path: string(s.Path), Args: plainly(s.Args), Dir: string(s.Dir), Env: plainly(s.Env), Stdout: os.Stdout, Stderr: os.Stderr,
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
	if s.Confine.none() {
		return cmd, nil, cmd.Start()
	}
	child, err := startConfined(cmd, s.Confine)
	return cmd, child, err
}

// watch waits for the program to exit, and asks it to end when its time is over or nobody wants it any more.
func (s *supervisor) watch(exited <-chan struct{}) (e ending) {
	var timeout, grace <-chan time.Time
	if s.Timeout > 0 {
		timer := time.NewTimer(s.Timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	end := func() {
		if grace != nil {
			return
		}
		s.signalAll(syscall.SIGTERM)
		grace = time.After(s.Grace)
		timeout = nil
	}
	for {
		select {
		case <-exited:
			return e
		case <-timeout:
			e.TimedOut = true
			end()
		case asked := <-s.cancel:
			e.Interrupted = !e.TimedOut
			if !asked {
				return e
			}
			end()
		case <-grace:
			return e
		}
	}
}

// signalAll signals the program's group, and what has left the group.
func (s *supervisor) signalAll(sig syscall.Signal) {
	syscall.Kill(-s.pid, sig)
	for _, pid := range descendants() {
		syscall.Kill(pid, sig)
	}
}

// describe fills in how the program ended.
func (e *ending) describe(state *os.ProcessState) {
	e.Exit = -1
	if state == nil {
		return
	}
	ws, ok := state.Sys().(syscall.WaitStatus)
	switch {
	case ok && ws.Signaled():
		e.Signal = int(ws.Signal())
	case state.Exited() && !e.TimedOut && !e.Interrupted:
		e.Exit = state.ExitCode()
	}
}

// reason says why a program could not be started, without the name of the system call.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// sweep ends what the program left behind, adding to what is known of it. Those that move away from their group and those
// that fork while they are being ended are found again until none is left.
func sweep(left map[int]bool) {
	const patience = 5 * time.Second
	for start := time.Now(); time.Since(start) < patience; {
		for {
			pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
			if err == unix.ECHILD {
				return
			}
			if err != nil || pid <= 0 {
				break
			}
		}
		for _, pid := range descendants() {
			left[pid] = true
			syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(time.Millisecond)
	}
}

// signalName gives the name of a signal, such as SIGKILL.
func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return s.String()
}
