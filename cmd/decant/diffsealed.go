package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/team"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/store"
)

// child returns the session of a delegate that the second argument names; false: it names a checkpoint, or nothing.
func (c *diffCmd) child(ctx context.Context, db store.Store) (j store.Journal, of string, ok bool, err error) {
	if c.Checkpoint == "" || strings.HasPrefix(c.Checkpoint, "c:") {
		return j, "", false, nil
	}
	found, err := c.journals(ctx, db, c.Checkpoint)
	if err != nil || len(found) != 1 {
		return j, "", false, err
	}
	var sum agent.Summary
	if err := json.Unmarshal(found[0].Head, &sum); err != nil {
		return j, "", false, err
	}
	of = sum.Labels[team.LabelOf]
	return found[0], of, of != "", nil
}

// journals returns the sessions of agents that a name may mean.
func (c *diffCmd) journals(ctx context.Context, db store.Store, name string) ([]store.Journal, error) {
	tenant, err := c.Tenant.One(ctx, db)
	if err != nil {
		return nil, err
	}
	return db.Journals(ctx, store.JournalQuery{Tenant: tenant, Kind: "session", Name: name, Limit: 2})
}

// sealed returns what a delegate began with, as the model that delegated was sent it, and what the delegate was sent for its last answer. Both
// are made once more from what is stored, and are exact.
func (c *diffCmd) sealed(ctx context.Context, db store.Store, child store.Key, of string) (before, after side, err error) {
	snap, err := agent.FindMoment(ctx, db, db, store.Key{Tenant: child.Tenant, ID: of}, c.Session)
	if errors.Is(err, agent.ErrNoAnswer) {
		return before, after, exit.Input(fmt.Errorf("%s did not start with the snapshot %q: \"decant chat --team\" prints the right one when it delegates", child.ID, c.Session))
	}
	if err != nil {
		return before, after, err
	}
	now, err := agent.ReadMoment(ctx, db, db, child, agent.Last)
	if errors.Is(err, agent.ErrNoAnswer) {
		return before, after, exit.Input(fmt.Errorf("%s has not answered yet", child.ID))
	}
	if err != nil {
		return before, after, err
	}
	name := fmt.Sprintf("snapshot %.12s (m1 to m%d of %s)", snap.Hash, snap.Answer, of)
	return side{name, snap.View}, side{fmt.Sprintf("%s, as sent for m%d", child.ID, now.Answer+1), now.View}, nil
}
