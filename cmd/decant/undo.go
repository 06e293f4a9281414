package main

import (
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/process"
)

type undoCmd struct{ changeFlags }

// Run undoes the newest pour: what it left out is sent again, and nothing more is left out until the
// conversation is released or its window is full.
func (c *undoCmd) Run(s *process.Process) error {
	return c.run(s, "undo", (*engine.Engine).Undo, "there is nothing to take back: nothing was left out")
}
