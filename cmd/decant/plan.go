package main

import "github.com/decantdev/decant/internal/process"

type planCmd struct {
	Apply bool `help:"Do it, as \"decant pour\" does."`
	pourCmd
}

// Run shows what a pour would do now, and its price.
func (c *planCmd) Run(s *process.Process) error {
	c.DryRun = c.DryRun || !c.Apply
	return c.pourCmd.Run(s)
}
