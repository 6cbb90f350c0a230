package runner

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const programName = "git-clada"

func self() string {
	exe, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return exe
}

// adopt does nothing: orphans cannot be adopted here. What leaves the program's process group may live on.
func adopt() {}

func dieWithParent(*syscall.SysProcAttr) {}

// awaitExit waits until a child is dead, without reaping it.
func awaitExit(pid int) {
	const interval = 10 * time.Millisecond
	for {
		if kinfo, err := unix.SysctlKinfoProc("kern.proc.pid", pid); err != nil || kinfo.Proc.P_stat == zombie {
			return
		}
		time.Sleep(interval)
	}
}

const zombie = 5 // SZOMB in sys/proc.h

func descendants() []int { return nil }
