package main

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
)

// act returns the record of an action by the user of this command.
func act(action, tenant, target, detail string) store.Act {
	return store.Act{Time: time.Now(), Actor: actor(), Action: action, Tenant: tenant, Target: target, Detail: detail}
}

// audited records something that was done.
func audited(ctx context.Context, db store.Auditor, a store.Act) error {
	if err := db.Audit(ctx, a); err != nil {
		return fmt.Errorf("%s was done but could not be entered in the audit log: %w", a.Action, err)
	}
	return nil
}

// actor returns who runs this command, as the operating system says.
func actor() string {
	name := fmt.Sprintf("uid %d", os.Getuid())
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	if by := os.Getenv("SUDO_USER"); by != "" {
		name += " for " + by
	}
	return name
}

// takesEffect says when a change to a conversation is seen.
const takesEffect = "done; it takes effect with the conversation's next request"

// apply makes a change to a conversation and records it.
func apply(ctx context.Context, e *engine.Engine, db store.Auditor, c *engine.Change, a store.Act) error {
	if err := e.Apply(ctx, c); err != nil {
		return err
	}
	return audited(ctx, db, a)
}
