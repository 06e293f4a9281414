package main

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"time"

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
