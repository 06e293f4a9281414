package main

import (
	"context"
	"time"

	"github.com/decantdev/decant/report"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

type sessionsCmd struct {
	Name    string `arg:"" optional:"" help:"Only those with this session, or whose id begins so."`
	Since   age    `placeholder:"AGE" help:"Only those that changed since: 30d, 12h."`
	Limit   int    `default:"50" help:"At most so many, last changed first."`
	FullIDs bool   `name:"full-ids" help:"Print whole ids and sessions."`
	JSON    bool   `name:"json" help:"Print JSON."`
	dbFlag
}

// Run lists the conversations of the database.
func (c *sessionsCmd) Run(s *streams) error {
	return c.with(func(ctx context.Context, db *sqlite.DB) error {
		f := store.Filter{Tenant: c.Tenant, Name: c.Name, Since: c.Since.since(time.Now()), Limit: c.Limit}
		found, err := db.Conversations(ctx, f)
		if err != nil {
			return err
		}
		rows := make([]report.Session, len(found))
		for i := range found {
			rows[i] = sessionOf(&found[i])
		}
		if c.JSON {
			return writeJSON(s.out, rows)
		}
		return report.WriteSessions(s.out, rows, time.Local, c.FullIDs)
	})
}

func sessionOf(c *store.Summary) report.Session {
	s := report.Session{
		ID: c.ID, Session: c.Session, Agent: c.Agent, Project: c.Project, Model: c.Model, Messages: c.Messages, Tokens: c.Tokens,
		Decisions: c.Decisions, Checkpoints: c.Checkpoints, Requests: c.Requests, Pinned: c.Pinned, Created: c.Created, Updated: c.Updated,
	}
	if c.Origin != nil {
		s.Parent = c.Origin.Parent
	}
	return s
}
