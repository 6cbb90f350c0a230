package runner

// enforce sets the limits; there is nothing here to confine a program with.
func (c *Confinement) enforce() (words string, err error) {
	return "not confined: this system has nothing to confine a command with", c.limit()
}
