package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
)

// takesEffect says when a change to a conversation is seen.
const takesEffect = "done; it takes effect with the conversation's next request"

// apply makes a change to a conversation and records it.
func apply(ctx context.Context, e *engine.Engine, db store.Auditor, c *engine.Change, a store.Act) error {
	if err := e.Apply(ctx, c); err != nil {
		return err
	}
	return audited(ctx, db, a)
}

// planOf returns a change as it is printed.
func planOf(name string, c *engine.Change) *report.Plan {
	return &report.Plan{Name: name, Version: c.Version, Plan: c.Plan, Hold: c.Hold}
}

// changed returns the record of a change to a conversation.
func changed(s *process.Process, action string, k store.Key, c *engine.Change) store.Act {
	return act(s, action, k.Tenant, k.ID, fmt.Sprintf("at version %d", c.Version))
}

// changeFlags are the flags of commands that change a stored conversation after printing the price.
type changeFlags struct {
	Session string `arg:"" help:"Conversation: id or session, or the start of either, or \"last\"."`
	Yes     bool   `short:"y" help:"Do not ask for confirmation."`
	DryRun  bool   `help:"Show the plan and its price; change nothing."`
	JSON    bool   `name:"json" help:"Print the plan as JSON."`
	catalogFlag
	dbFlag

	window int    // in place of the model's
	preset string // in place of the default
}

// run plans a change, prints it, and makes it if the user agrees. action is its name. run prints idle if there is
// nothing to change.
func (c *changeFlags) run(s *process.Process, action string, plan func(*engine.Engine, context.Context, store.Key) (*engine.Change, error), idle string) error {
	catalog, err := c.models(s)
	if err != nil {
		return err
	}
	return c.with(s, func(ctx context.Context, db store.Store) error {
		e, err := c.engine(s, db, catalog, c.window, c.preset)
		if err != nil {
			return err
		}
		conv, err := c.find(ctx, db, c.Session)
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
		if err := apply(ctx, e, db, change, changed(s, action, conv.Key, change)); err != nil {
			return err
		}
		fmt.Fprintln(s.Err, takesEffect)
		return nil
	})
}

func (c *changeFlags) print(s *process.Process, change *engine.Change) error {
	p := planOf(c.Session, change)
	if c.JSON {
		return writeJSON(s.Out, p)
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
