package main

import (
	"context"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/store"
)

type pourCmd struct {
	Focus  string         `placeholder:"TEXT" help:"Topic of the record, for the model that writes it, if any."`
	Window command.Amount `placeholder:"TOKENS" help:"Pour as for this window. Default: the gateway's setting, then the catalogue's."`
	Preset string         `placeholder:"NAME" help:"Policy: an embedded preset, or a YAML file. Default: the gateway's setting."`
	At     int64          `placeholder:"VERSION" help:"Only if the conversation is still at this version. --dry-run prints it."`
	changeFlags
}

// Run pours a conversation now: what is due, or what brings it down to the size that every pour aims at. With
// --dry-run it prints the command line that does exactly what was planned.
func (c *pourCmd) Run(s *process.Process) error {
	c.window, c.preset = c.Window.Tokens, c.Preset
	var version int64
	plan := func(e *engine.Engine, ctx context.Context, k store.Key) (*engine.Change, error) {
		change, err := e.Pour(ctx, k, c.Focus)
		if err != nil {
			return nil, err
		}
		version = change.Version
		if c.At != 0 && c.At != version {
			return nil, fmt.Errorf("%s is at version %d, not at %d: %w", c.Session, version, c.At, decant.ErrStale)
		}
		return change, nil
	}
	err := c.run(s, "pour", plan, "there is nothing worth leaving out now; --window pours as for a smaller window")
	if err != nil || !c.DryRun {
		return err
	}
	fmt.Fprintf(s.Err, "nothing was changed; to do exactly this, run\n  decant pour %s --at %d%s\n", c.Session, version, c.again())
	return nil
}

// again returns the flags that the same plan needs again.
func (c *pourCmd) again() (flags string) {
	if c.Window.Given {
		flags += fmt.Sprintf(" --window %d", c.Window.Tokens)
	}
	if c.Preset != "" {
		flags += " --preset " + c.Preset
	}
	if c.Focus != "" {
		flags += fmt.Sprintf(" --focus %q", c.Focus)
	}
	return flags
}

// pourSession pours a stored conversation as decant pour does, after its questions.
func pourSession(s *process.Process, db command.DBFlag, session string, dryRun bool) error {
	c := pourCmd{changeFlags: changeFlags{Session: session, DryRun: dryRun, DBFlag: db}}
	return c.Run(s)
}
