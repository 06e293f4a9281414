package main

import "github.com/decantdev/decant/engine"

type holdCmd struct {
	changeFlags
	Off bool `help:"End the hold."`
}

// Run puts a conversation on hold: nothing more is left out until the hold ends or the window is full.
func (c *holdCmd) Run(s *streams) error {
	if c.Off {
		return c.run(s, "hold --off", (*engine.Engine).Release, "it is not on hold")
	}
	return c.run(s, "hold", (*engine.Engine).Pause, "it is on hold already")
}
