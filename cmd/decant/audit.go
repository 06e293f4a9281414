package main

import (
	"context"
	"time"

	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
)

type auditCmd struct {
	Since age  `placeholder:"AGE" help:"Only what was done in the last 30d, 12h, ..."`
	Limit int  `default:"200" help:"Show at most this many, the newest; 0 means all."`
	JSON  bool `name:"json" help:"Print JSON."`
	dbFlag
}

// Run lists the audit log, of all tenants unless one is named.
func (c *auditCmd) Run(s *streams) error {
	return c.with(func(ctx context.Context, db store.Store) error {
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
			return writeJSON(s.out, rows)
		}
		return report.WriteActs(s.out, rows, time.Local)
	})
}
