package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
)

// planOf returns a change as it is printed.
func planOf(name string, c *engine.Change) *report.Plan {
	return &report.Plan{Name: name, Version: c.Version, Plan: c.Plan, Hold: c.Hold}
}

// changeFlags are the flags of commands that change a stored conversation after printing the price.
type changeFlags struct {
	Session string `arg:"" help:"Conversation: id or session, or the start of either, or \"last\"."`
	Yes     bool   `short:"y" help:"Do not ask for confirmation."`
	DryRun  bool   `help:"Show the plan and its price; change nothing."`
	JSON    bool   `name:"json" help:"Print the plan as JSON."`
	command.CatalogFlag
	command.DBFlag

	window int    // in place of the model's
	preset string // in place of the default
}

// run plans a change, prints it, and makes it if the user agrees. action is its name. run prints idle if there is
// nothing to change.
func (c *changeFlags) run(s *process.Process, action string, plan func(*engine.Engine, context.Context, store.Key) (*engine.Change, error), idle string) error {
	catalog, err := c.Models(s)
	if err != nil {
		return err
	}
	return c.With(s, func(ctx context.Context, db store.Store) error {
		e, err := c.Engine(s, db, catalog, c.window, c.preset)
		if err != nil {
			return err
		}
		conv, err := c.Find(ctx, db, c.Session)
		if err != nil {
			return err
		}
		change, err := plan(e, ctx, conv.Key)
		if errors.Is(err, decant.ErrNothing) {
			return exit.Input(fmt.Errorf("%s: %s", c.Session, idle))
		}
		if err != nil {
			return err
		}
		if err := c.print(s, change); err != nil || c.DryRun {
			return err
		}
		if err := c.agreed(s); err != nil {
			return err
		}
		if err := command.Apply(ctx, e, db, change, command.Changed(s, action, conv.Key, change)); err != nil {
			return err
		}
		fmt.Fprintln(s.Err, command.TakesEffect)
		return nil
	})
}

func (c *changeFlags) print(s *process.Process, change *engine.Change) error {
	p := planOf(c.Session, change)
	if c.JSON {
		return command.WriteJSON(s.Out, p)
	}
	return p.WriteText(s.Out)
}

// agreed returns nil when the change may be made.
func (c *changeFlags) agreed(s *process.Process) error { return agreed(s, c.Yes) }

// agreed returns nil if the change may be made: because of yes, or because somebody at a terminal agrees.
func agreed(s *process.Process, yes bool) error {
	switch {
	case yes:
		return nil
	case !s.Asks():
		return exit.Usage(errors.New("nothing was changed: confirm with --yes"))
	case !s.Confirm("Do it?"):
		return errors.New("nothing was changed")
	}
	return nil
}
