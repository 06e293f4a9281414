package main

import (
	"context"
	"errors"
	"time"

	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/lookup"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
)

type sessionsCmd struct {
	Name    string      `arg:"" optional:"" help:"Only conversations whose session or id begins with this."`
	Since   command.Age `placeholder:"AGE" help:"Only conversations that changed in the last 30d, 12h, ..."`
	Limit   int         `default:"50" help:"List at most this many, most recently changed first."`
	FullIDs bool        `name:"full-ids" help:"Print ids in full, with agents and their sessions."`
	JSON    bool        `name:"json" help:"Print JSON."`
	command.AllFlag
	command.DBFlag
}

// Run lists the conversations of the database.
func (c *sessionsCmd) Run(s *process.Process) error {
	return c.With(s, func(ctx context.Context, db store.Store) error {
		tenants, err := c.Tenant.Chosen(ctx, db, &c.AllFlag)
		if err != nil {
			return err
		}
		found, err := lookup.Conversations(ctx, db, tenants, store.Filter{Name: c.Name, Since: c.Since.Since(time.Now()), Limit: c.Limit})
		if err != nil {
			return err
		}
		rows, unread := []report.Session{}, error(nil)
		for i := range found {
			row, err := lookup.Told(ctx, db, &found[i])
			if errors.Is(err, store.ErrNotFound) {
				continue // it was forgotten since
			}
			rows, unread = append(rows, row), errors.Join(unread, err)
		}
		if c.JSON {
			return errors.Join(unread, command.WriteJSON(s.Out, rows))
		}
		return errors.Join(unread, report.WriteSessions(s.Out, rows, time.Local, c.FullIDs))
	})
}
