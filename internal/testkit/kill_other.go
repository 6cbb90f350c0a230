//go:build !(linux && amd64)

package testkit

import (
	"errors"
	"os/exec"
)

// CanKill says why KillAt does not work here, "" if it does.
func CanKill() string { return "killing at system calls needs Linux on amd64" }

// KillAt is for Linux on amd64 only.
func KillAt(*exec.Cmd, int) (calls int, killed bool, err error) {
	return 0, false, errors.New(CanKill())
}
