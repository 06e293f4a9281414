package main

import "github.com/decantdev/decant/engine"

type releaseCmd struct{ changeFlags }

// Run ends the hold that an undo or a pause has put on a conversation.
func (c *releaseCmd) Run(s *streams) error {
	return c.run(s, "release", (*engine.Engine).Release, "it is not on hold")
}
