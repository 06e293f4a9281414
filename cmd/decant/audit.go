package main

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
)

type auditCmd struct {
	Since age  `placeholder:"AGE" help:"Only entries of the last 30d, 12h, ..."`
	Limit int  `default:"200" help:"Show at most this many entries, the newest; 0 shows all."`
	JSON  bool `name:"json" help:"Print JSON."`
	dbFlag
}

// Run lists the audit log, of all tenants unless one is named.
func (c *auditCmd) Run(s *process.Process) error {
	return c.with(s, func(ctx context.Context, db store.Store) error {
		q := store.ActQuery{Since: c.Since.since(time.Now()), Limit: c.Limit}
		if c.Tenant.given {
			q.Tenant = &c.Tenant.name
		}
		acts, err := db.Acts(ctx, q)
		if err != nil {
			return err
		}
		rows := make([]report.Act, len(acts))
		for i, a := range acts {
			rows[i] = report.Act(a)
		}
		if c.JSON {
			return writeJSON(s.Out, rows)
		}
		return report.WriteActs(s.Out, rows, time.Local)
	})
}

// act returns the record of an action by the user of this command.
func act(s *process.Process, action, tenant, target, detail string) store.Act {
	return store.Act{Time: time.Now(), Actor: actor(s), Action: action, Tenant: tenant, Target: target, Detail: detail}
}

// audited records something that was done.
func audited(ctx context.Context, db store.Auditor, a store.Act) error {
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
