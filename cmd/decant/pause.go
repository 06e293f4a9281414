package main

import "github.com/decantdev/decant/engine"

type pauseCmd struct{ changeFlags }

// Run puts a conversation on hold, until it is released or its window is full.
func (c *pauseCmd) Run(s *streams) error {
	return c.run(s, "pause", (*engine.Engine).Pause, "it is on hold already")
}
