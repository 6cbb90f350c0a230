package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// CanKill says why KillAt does not work here, "" if it does. A test calls it before it starts anything in parallel: it
// also starts the tracers.
func CanKill() string {
	tracers()
	return ""
}

// tracers gives the threads that trace, which do nothing else: all ptrace requests must come from the thread that started
// the tracee, and waiting for any child of a thread must not meet children that others have started on it.
var tracers = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	var ready sync.WaitGroup
	for range 16 {
		ready.Add(1)
		go func() {
			runtime.LockOSThread()
			ready.Done()
			for do := range work {
				do()
			}
		}()
	}
	ready.Wait()
	return work
})

// KillAt runs a command under ptrace, with all its descendants, and kills the whole tree when it enters its k-th system
// call that would change a file. It reports how many such calls were entered and whether the tree was killed; with k 0
// nothing is killed.
func KillAt(cmd *exec.Cmd, k int) (calls int, killed bool, err error) {
	type answer struct {
		calls  int
		killed bool
		err    error
	}
	done := make(chan answer, 1)
	tracers() <- func() {
		calls, killed, err := trace(cmd, k)
		done <- answer{calls, killed, err}
	}
	a := <-done
	return a.calls, a.killed, a.err
}

func trace(cmd *exec.Cmd, k int) (calls int, killed bool, err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return 0, false, err
	}
	root := cmd.Process.Pid
	defer cmd.Process.Release()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(root, &status, syscall.WALL, nil); err != nil {
		return 0, false, err
	}
	const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE |
		unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_EXITKILL
	if err := syscall.PtraceSetOptions(root, options); err != nil {
		return 0, false, err
	}
	inside := map[int]bool{} // tracees between the entry and the exit of a system call
	alive := map[int]bool{root: true}
	if err := syscall.PtraceSyscall(root, 0); err != nil {
		return 0, false, err
	}
	for len(alive) > 0 {
		pid, err := syscall.Wait4(-1, &status, syscall.WALL|syscall.WNOTHREAD, nil)
		if err == syscall.EINTR {
			continue
		}
		if err == syscall.ECHILD {
			break
		}
		if err != nil {
			return calls, killed, err
		}
		if status.Exited() || status.Signaled() {
			delete(alive, pid)
			continue
		}
		alive[pid] = true
		signal := 0
		switch stop := status.StopSignal(); {
		case stop == syscall.SIGTRAP|0x80:
			inside[pid] = !inside[pid]
			if inside[pid] && !killed && changesFile(pid) {
				calls++
				if calls == k {
					killed = true
					for p := range alive {
						syscall.Kill(p, syscall.SIGKILL)
					}
					continue
				}
			}
		case stop == syscall.SIGTRAP, stop == syscall.SIGSTOP:
			if status.TrapCause() == unix.PTRACE_EVENT_EXEC {
				inside[pid] = true // the exit of execve is still to come
			}
		default:
			signal = int(stop)
		}
		syscall.PtraceSyscall(pid, signal)
	}
	return calls, killed, nil
}

// changesFile reports whether the system call that a tracee is entering would change a file or directory.
func changesFile(pid int) bool {
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(pid, &regs); err != nil {
		return false
	}
	const writing = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC
	switch regs.Orig_rax {
	case unix.SYS_OPEN:
		return regs.Rsi&writing != 0
	case unix.SYS_OPENAT:
		return regs.Rdx&writing != 0
	case unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_WRITEV, unix.SYS_FTRUNCATE, unix.SYS_FCHMOD:
		return isFile(pid, int(regs.Rdi))
	case unix.SYS_CREAT, unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_LINK, unix.SYS_LINKAT, unix.SYS_SYMLINK,
		unix.SYS_SYMLINKAT, unix.SYS_UNLINK, unix.SYS_UNLINKAT, unix.SYS_MKDIR, unix.SYS_MKDIRAT, unix.SYS_RMDIR, unix.SYS_CHMOD,
		unix.SYS_FCHMODAT, unix.SYS_TRUNCATE, unix.SYS_UTIMENSAT:
		return true
	}
	return false
}

func isFile(pid, fd int) bool {
	target, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd))
	return err == nil && strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "/dev/")
}
