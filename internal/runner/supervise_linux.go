package runner

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// programName is the name that our helpers have in the list of processes.
const programName = "git-clada"

// self is the binary that is running, whatever stands at its path by now.
func self() string { return "/proc/self/exe" }

// adopt makes orphans of what this process starts its own children, so that none gets lost.
func adopt() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// dieWithParent has the kernel end the program when the supervisor dies.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// awaitExit waits until a child is dead, without reaping it.
func awaitExit(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// descendants gives the processes below this one that are alive.
func descendants() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	children := map[int][]int{}
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		if parent, alive := parentOf(name); alive {
			pid, _ := strconv.Atoi(name)
			children[parent] = append(children[parent], pid)
		}
	}
	var all []int
	for next := children[os.Getpid()]; len(next) > 0; next = next[1:] {
		all = append(all, next[0])
		next = append(next, children[next[0]]...)
	}
	return all
}

// parentOf reads the parent of a process that is alive. The name in /proc/N/stat is in parentheses and may itself contain
// some.
func parentOf(pid string) (parent int, alive bool) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 2 {
		return 0, false
	}
	parent, err = strconv.Atoi(fields[1])
	return parent, err == nil && fields[0] != "Z"
}
