package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/lookup"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/store"
)

type pinCmd struct {
	Session string `arg:"" help:"Conversation: id or session, or the start of either, or \"last\"."`
	Message string `arg:"" help:"Message to keep word for word: m12."`
	Off     bool   `help:"Remove the pin."`
	command.DBFlag
}

// Run pins a message of a conversation.
func (c *pinCmd) Run(s *process.Process) error {
	n, err := strconv.Atoi(strings.TrimPrefix(c.Message, "m"))
	if err != nil {
		return exit.Usage(fmt.Errorf("%q is not a message: write m12", c.Message))
	}
	return c.With(s, func(ctx context.Context, db store.Store) error {
		conv, err := c.Find(ctx, db, c.Session)
		if err != nil {
			return err
		}
		e, err := c.Engine(s, db, nil, 0, "")
		if err != nil {
			return err
		}
		change, err := c.plan(ctx, e, db, conv.Key, n)
		if err != nil {
			return err
		}
		action := "pin"
		if c.Off {
			action = "pin --off"
		}
		err = command.Apply(ctx, e, db, change, command.Act(s, action, conv.Tenant, conv.ID, fmt.Sprintf("m%d", n)))
		if errors.Is(err, decant.ErrStale) {
			return fmt.Errorf("%w: try again", err)
		}
		if err == nil {
			fmt.Fprintln(s.Err, command.TakesEffect)
		}
		return err
	})
}

// plan returns the change that pins a message, or removes the pin.
func (c *pinCmd) plan(ctx context.Context, e *engine.Engine, db store.Store, k store.Key, n int) (*engine.Change, error) {
	refs, err := lookup.Pinnable(ctx, db, k, n)
	if err != nil {
		return nil, err
	}
	change, err := e.Pin(ctx, k, refs, !c.Off)
	if errors.Is(err, decant.ErrNothing) {
		err = exit.Input(fmt.Errorf("%s has nothing to pin in m%d: \"decant show %s\" lists its messages", c.Session, n, c.Session))
	}
	return change, err
}
