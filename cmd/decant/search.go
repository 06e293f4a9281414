package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

type searchCmd struct {
	Query   []string `arg:"" help:"Words or beginnings of words; all must occur. Text in double quotes must occur exactly."`
	Session string   `placeholder:"ID" help:"Search only this conversation and those it was forked from."`
	Limit   int      `default:"20" help:"Show at most this many."`
	JSON    bool     `name:"json" help:"Print JSON."`
	allFlag
	dbFlag
}

// Run searches the text of all stored conversations.
func (c *searchCmd) Run(s *streams) error {
	return c.with(func(ctx context.Context, db *sqlite.DB) error {
		queries, err := c.queries(ctx, db)
		if err != nil {
			return err
		}
		var found []report.Hit
		err = s.working("searching", func() error {
			for _, q := range queries {
				hits, err := db.Search(ctx, q)
				if err != nil {
					return err
				}
				found = append(found, hitsOf(q.Tenant, hits)...)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if c.JSON {
			return writeJSON(s.out, found)
		}
		return report.WriteHits(s.out, found, s.colour)
	})
}

// queries returns the query for each tenant.
func (c *searchCmd) queries(ctx context.Context, db *sqlite.DB) ([]store.Query, error) {
	tenants, err := c.Tenant.chosen(ctx, db, &c.allFlag)
	if err != nil {
		return nil, err
	}
	if c.AllTenants && c.Session != "" {
		return nil, usageError{errors.New("--session and --all-tenants exclude each other")}
	}
	q := store.Query{Text: strings.Join(c.Query, " "), Limit: c.Limit}
	if c.Session != "" {
		conv, err := c.find(ctx, db, c.Session)
		if err != nil {
			return nil, err
		}
		q.Conversation = conv.ID
	}
	out := make([]store.Query, len(tenants))
	for i, t := range tenants {
		out[i] = q
		out[i].Tenant = t
	}
	return out, nil
}

func hitsOf(tenant string, hits []store.Hit) []report.Hit {
	found := make([]report.Hit, len(hits))
	for i, h := range hits {
		found[i] = report.Hit{
			Tenant: tenant, Conversation: h.Conversation, Session: h.Session, Message: fmt.Sprintf("m%d", h.Entry.Message), Role: h.Entry.Role,
			Kind: h.Entry.Kind, Tool: h.Entry.Name, Snippet: h.Snippet, Match: h.Match, Time: h.Time,
		}
	}
	return found
}
