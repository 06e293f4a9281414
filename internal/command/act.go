package command

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/store"
)

// TakesEffect says when a change to a conversation is seen.
const TakesEffect = "done; it takes effect with the conversation's next request"

// Apply makes a change to a conversation and records it.
func Apply(ctx context.Context, e *engine.Engine, db store.Auditor, c *engine.Change, a store.Act) error {
	if err := e.Apply(ctx, c); err != nil {
		return err
	}
	return Audited(ctx, db, a)
}

// Changed returns the record of a change to a conversation.
func Changed(s *process.Process, action string, k store.Key, c *engine.Change) store.Act {
	return Act(s, action, k.Tenant, k.ID, fmt.Sprintf("at version %d", c.Version))
}

// Act returns the record of an action by the user of this command.
func Act(s *process.Process, action, tenant, target, detail string) store.Act {
	return store.Act{Time: time.Now(), Actor: actor(s), Action: action, Tenant: tenant, Target: target, Detail: detail}
}

// Audited records something that was done.
func Audited(ctx context.Context, db store.Auditor, a store.Act) error {
	if err := db.Audit(ctx, a); err != nil {
		return fmt.Errorf("%s was done but could not be entered in the audit log: %w", a.Action, err)
	}
	return nil
}

// actor returns who runs this command, as the operating system says.
func actor(s *process.Process) string {
	name := fmt.Sprintf("uid %d", os.Getuid())
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	if by := s.Getenv("SUDO_USER"); by != "" {
		name += " for " + by
	}
	return name
}
