package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/store"
)

type keepCmd struct {
	Session string `arg:"" help:"Conversation: id or session, or the start of either, or \"last\"."`
	Off     bool   `help:"Allow gc to delete it again."`
	command.DBFlag
}

// Run protects a conversation from gc.
func (c *keepCmd) Run(s *process.Process) error {
	return c.With(s, func(ctx context.Context, db store.Store) error {
		conv, err := c.Find(ctx, db, c.Session)
		if err != nil {
			return err
		}
		e, err := c.Engine(s, db, nil, 0, "")
		if err != nil {
			return err
		}
		change, err := e.Keep(ctx, conv.Key, !c.Off)
		if err != nil {
			return err
		}
		action, effect := "keep", "done; gc keeps the conversation"
		if c.Off {
			action, effect = "keep --off", "done; gc may delete the conversation"
		}
		err = command.Apply(ctx, e, db, change, command.Act(s, action, conv.Tenant, conv.ID, ""))
		if errors.Is(err, decant.ErrStale) {
			return fmt.Errorf("%w: try again", err)
		}
		if err == nil {
			fmt.Fprintln(s.Err, effect)
		}
		return err
	})
}
