package main

type planCmd struct {
	Apply bool `help:"Do it, as \"decant pour\" does."`
	pourCmd
}

// Run shows what a pour would do now, and its price.
func (c *planCmd) Run(s *streams) error {
	c.DryRun = c.DryRun || !c.Apply
	return c.pourCmd.Run(s)
}
