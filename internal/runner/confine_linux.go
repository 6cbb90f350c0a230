package runner

import (
	"fmt"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// enforce confines this process for good, as far as the kernel can, and says in words what is in force.
func (c *Confinement) enforce() (words string, err error) {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil || abi < 1 {
		return "not confined: this kernel has no Landlock", c.limit()
	}
	config := landlock.V8.BestEffort().DisableLoggingForOriginatingProcess()
	if err := config.RestrictPaths(c.rules()...); err != nil {
		return "", fmt.Errorf("confining the command failed: %w", err)
	}
	words = "Landlock: " + c.permits()
	if c.NoTCP {
		switch {
		case abi < 4:
			words += "; the network is open, since this kernel cannot close it"
		default:
			if err := config.RestrictNet(); err != nil {
				return "", fmt.Errorf("confining the command failed: %w", err)
			}
			words += ", no TCP"
		}
	}
	if len(c.Writes) == 0 && abi >= 6 {
		if err := config.RestrictScoped(); err != nil {
			return "", fmt.Errorf("confining the command failed: %w", err)
		}
	}
	return words, c.limit()
}

func (c *Confinement) permits() string {
	switch {
	case len(c.Writes) > 0:
		return "writes only to the tree, temporary and cache directories"
	case c.ReadsAll:
		return "writes nothing"
	}
	return "reads the tree and system directories, writes nothing"
}

// rules gives what stays permitted. Reading /dev/null and its like is part of everything.
func (c *Confinement) rules() []landlock.Rule {
	const readOnly = landlock.AccessFSSet(ll.AccessFSReadFile | ll.AccessFSReadDir)
	rules := []landlock.Rule{
		landlock.RWFiles("/dev/null", "/dev/zero", "/dev/full", "/dev/tty").IgnoreIfMissing(),
		landlock.ROFiles("/dev/random", "/dev/urandom").IgnoreIfMissing(),
	}
	if c.ReadsAll {
		rules = append(rules, landlock.RODirs("/"))
	}
	for _, dir := range c.Reads {
		rules = append(rules, landlock.PathAccess(readOnly, string(dir)).IgnoreIfMissing())
	}
	for _, dir := range c.Runs {
		rules = append(rules, landlock.RODirs(string(dir)).IgnoreIfMissing())
	}
	for _, file := range c.Files {
		rules = append(rules, landlock.ROFiles(string(file)).IgnoreIfMissing())
	}
	for _, dir := range c.Writes {
		rules = append(rules, landlock.RWDirs(string(dir)).WithRefer().IgnoreIfMissing())
	}
	return rules
}
