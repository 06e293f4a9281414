package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/lookup"
	"github.com/decantdev/decant/store"
)

type pinCmd struct {
	Session string `arg:"" help:"Conversation: its id, its session, the beginning of either, or \"last\"."`
	Message string `arg:"" optional:"" help:"Message (m12) that the model must see verbatim. Without it, the conversation is protected from gc."`
	Off     bool   `help:"Remove the pin."`
	dbFlag
}

// Run pins a conversation or a message of it.
func (c *pinCmd) Run(s *streams) error {
	return c.with(func(ctx context.Context, db store.Store) error {
		conv, err := c.find(ctx, db, c.Session)
		if err != nil {
			return err
		}
		e, err := c.engine(db, nil, 0, "")
		if err != nil {
			return err
		}
		what, change, err := c.plan(ctx, e, db, conv.Key)
		if err != nil {
			return err
		}
		err = apply(ctx, e, db, change, act(c.action(), conv.Tenant, conv.ID, what))
		if errors.Is(err, decant.ErrStale) {
			return fmt.Errorf("%w: try again", err)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(s.err, c.effect())
		return err
	})
}

// plan returns what is pinned, and the change that pins it.
func (c *pinCmd) plan(ctx context.Context, e *engine.Engine, db store.Store, k store.Key) (what string, change *engine.Change, err error) {
	if c.Message == "" {
		change, err = e.Keep(ctx, k, !c.Off)
		return "the conversation", change, err
	}
	n, err := strconv.Atoi(strings.TrimPrefix(c.Message, "m"))
	if err != nil {
		return "", nil, usageError{fmt.Errorf("%q is not a message: write m12", c.Message)}
	}
	refs, err := lookup.Pinnable(ctx, db, k, n)
	if err != nil {
		return "", nil, err
	}
	change, err = e.Pin(ctx, k, refs, !c.Off)
	if errors.Is(err, decant.ErrNothing) {
		err = inputError{fmt.Errorf("%s has nothing to pin in m%d: \"decant show %s\" lists its messages", c.Session, n, c.Session)}
	}
	return fmt.Sprintf("m%d", n), change, err
}

// action is the command's name in the audit log.
func (c *pinCmd) action() string {
	if c.Off {
		return "pin --off"
	}
	return "pin"
}

// effect says what the change does from now on.
func (c *pinCmd) effect() string {
	switch {
	case c.Message != "":
		return takesEffect
	case c.Off:
		return "done; gc may remove the conversation"
	}
	return "done; gc keeps the conversation"
}
