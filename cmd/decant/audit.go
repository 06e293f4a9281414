package main

import (
	"context"
	"time"

	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
)

type auditCmd struct {
	Since command.Age `placeholder:"AGE" help:"Only entries of the last 30d, 12h, ..."`
	Limit int         `default:"200" help:"Show at most this many entries, the newest; 0 shows all."`
	JSON  bool        `name:"json" help:"Print JSON."`
	command.DBFlag
}

// Run lists the audit log, of all tenants unless one is named.
func (c *auditCmd) Run(s *process.Process) error {
	return c.With(s, func(ctx context.Context, db store.Store) error {
		q := store.ActQuery{Since: c.Since.Since(time.Now()), Limit: c.Limit}
		if c.Tenant.Given {
			q.Tenant = &c.Tenant.Name
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
			return command.WriteJSON(s.Out, rows)
		}
		return report.WriteActs(s.Out, rows, time.Local)
	})
}
