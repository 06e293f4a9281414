package main

import (
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/process"
)

type holdCmd struct{ changeFlags }

// Run puts a conversation on hold: nothing more is left out until the hold ends or the window is full.
func (c *holdCmd) Run(s *process.Process) error {
	return c.run(s, "hold", (*engine.Engine).Pause, "it is on hold already")
}

type releaseCmd struct{ changeFlags }

// Run ends the hold of a conversation.
func (c *releaseCmd) Run(s *process.Process) error {
	return c.run(s, "release", (*engine.Engine).Release, "it is not on hold")
}
