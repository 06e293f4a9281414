package chat

import (
	"context"
	"errors"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/store"
)

// errRewound means that what is stored is not what the session goes on from.
var errRewound = errors.New("nothing was said since you went back: say something first")

// stored returns the key of the session's conversation once everything that was said is stored; store.ErrNotFound means that nothing was.
func (c *Chat) stored(ctx context.Context) (store.Key, error) {
	if c.rewound {
		return store.Key{}, errRewound
	}
	k := c.Session().Conversation()
	if k.ID == "" {
		return k, store.ErrNotFound
	}
	return k, c.db.Engine().Flush(ctx)
}

// Compact pours now, with a record about what focus names; empty: about everything. It returns what it did. An error that wraps
// decant.ErrNothing means that there is nothing worth leaving out.
func (c *Chat) Compact(ctx context.Context, focus string) (*engine.Change, error) {
	return c.change(ctx, func(e *engine.Engine, k store.Key) (*engine.Change, error) { return e.Pour(ctx, k, focus) })
}

// Undo takes back the newest pour, and puts off further ones. An error that wraps decant.ErrNothing means that there is none.
func (c *Chat) Undo(ctx context.Context) (*engine.Change, error) {
	return c.change(ctx, func(e *engine.Engine, k store.Key) (*engine.Change, error) { return e.Undo(ctx, k) })
}

// change makes a change to the stored conversation.
func (c *Chat) change(ctx context.Context, plan func(*engine.Engine, store.Key) (*engine.Change, error)) (*engine.Change, error) {
	k, err := c.stored(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("nothing was said yet: %w", decant.ErrNothing)
	}
	if err != nil {
		return nil, err
	}
	e := c.db.Engine()
	change, err := plan(e, k)
	if err != nil {
		return nil, err
	}
	if err := e.Apply(ctx, change); err != nil {
		return nil, err
	}
	c.meter.Size = change.Plan.After.Fixed + change.Plan.After.Messages
	return change, nil
}

// view returns what the model is sent of the stored conversation.
func (c *Chat) view(ctx context.Context) (*decant.Conversation, error) {
	k, err := c.stored(ctx)
	if err != nil {
		return nil, err
	}
	t, err := archive.ReadTranscript(ctx, c.db.Store(), k, store.Newest)
	if err != nil {
		return nil, err
	}
	return t.View()
}
