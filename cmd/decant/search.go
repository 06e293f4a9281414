package main

import (
	"context"
	"errors"
	"strings"

	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/lookup"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
)

type searchCmd struct {
	Query   []string `arg:"" help:"Words or their beginnings; all must occur. Quoted text must occur exactly."`
	Session string   `placeholder:"ID" help:"Search only this conversation and those it was forked from."`
	Limit   int      `default:"20" help:"Show at most this many."`
	JSON    bool     `name:"json" help:"Print JSON."`
	command.AllFlag
	command.DBFlag
}

// Run searches the text of all stored conversations.
func (c *searchCmd) Run(s *process.Process) error {
	return c.With(s, func(ctx context.Context, db store.Store) error {
		tenants, q, err := c.query(ctx, db)
		if err != nil {
			return err
		}
		var found []report.Hit
		err = s.Working("searching", func() (err error) {
			found, err = lookup.Search(ctx, db, tenants, q)
			return err
		})
		if err != nil {
			return err
		}
		if c.JSON {
			return command.WriteJSON(s.Out, found)
		}
		return report.WriteHits(s.Out, found, s.Colour)
	})
}

// query returns what to search for, and of which tenants.
func (c *searchCmd) query(ctx context.Context, db store.Store) (tenants []string, q store.Query, err error) {
	if tenants, err = c.Tenant.Chosen(ctx, db, &c.AllFlag); err != nil {
		return nil, q, err
	}
	if c.AllTenants && c.Session != "" {
		return nil, q, exit.Usage(errors.New("--session and --all-tenants exclude each other"))
	}
	q = store.Query{Text: strings.Join(c.Query, " "), Limit: c.Limit}
	if c.Session != "" {
		conv, err := c.Find(ctx, db, c.Session)
		if err != nil {
			return nil, q, err
		}
		q.Conversation = conv.ID
	}
	return tenants, q, nil
}
