package main

import (
	"context"
	"slices"
	"time"

	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

type sessionsCmd struct {
	Name    string `arg:"" optional:"" help:"Only conversations whose session or id begins with this."`
	Since   age    `placeholder:"AGE" help:"Only conversations that changed in the last 30d, 12h, ..."`
	Limit   int    `default:"50" help:"List at most this many, last changed first."`
	FullIDs bool   `name:"full-ids" help:"Print whole ids and sessions."`
	JSON    bool   `name:"json" help:"Print JSON."`
	allFlag
	dbFlag
}

// Run lists the conversations of the database.
func (c *sessionsCmd) Run(s *streams) error {
	return c.with(func(ctx context.Context, db *sqlite.DB) error {
		tenants, err := c.Tenant.chosen(ctx, db, &c.allFlag)
		if err != nil {
			return err
		}
		found, err := conversationsOf(ctx, db, tenants, store.Filter{Name: c.Name, Since: c.Since.since(time.Now()), Limit: c.Limit})
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

// conversationsOf returns the conversations of some tenants that a filter selects, last changed first.
func conversationsOf(ctx context.Context, db store.Directory, tenants []string, f store.Filter) (out []store.Summary, err error) {
	for _, f.Tenant = range tenants {
		found, err := db.Conversations(ctx, f)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	slices.SortStableFunc(out, func(a, b store.Summary) int { return b.Updated.Compare(a.Updated) })
	return out[:min(len(out), f.Limit)], nil
}

func sessionOf(c *store.Summary) report.Session {
	s := report.Session{
		Tenant: c.Tenant, ID: c.ID, Session: c.Session, Agent: c.Agent, Project: c.Project, Model: c.Model, Messages: c.Messages, Tokens: c.Tokens,
		Decisions: c.Decisions, Checkpoints: c.Checkpoints, Requests: c.Requests, Pinned: c.Pinned, Created: c.Created, Updated: c.Updated,
	}
	if c.Origin != nil {
		s.Parent = c.Origin.Parent
	}
	return s
}
