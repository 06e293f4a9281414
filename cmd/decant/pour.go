package main

import (
	"context"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
)

type pourCmd struct {
	Focus  string `placeholder:"TEXT" help:"What the record is to be about, for the model that writes it, if there is one."`
	Window amount `placeholder:"TOKENS" help:"Pour as if the model had this window. Default: the gateway's setting, then the catalogue's."`
	Preset string `placeholder:"NAME" help:"Policy: an embedded preset, or a YAML file. Default: the gateway's setting."`
	changeFlags
}

// Run pours a conversation now: what is due, or what brings it down to the size that every pour aims at.
func (c *pourCmd) Run(s *streams) error {
	c.window, c.preset = c.Window.tokens, c.Preset
	plan := func(e *engine.Engine, ctx context.Context, k store.Key) (*engine.Change, error) {
		return e.Pour(ctx, k, c.Focus)
	}
	return c.run(s, "pour", plan, "there is nothing worth leaving out now; --window pours as for a smaller window")
}
