package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/decantdev/decant/report"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

type searchCmd struct {
	Query   []string `arg:"" help:"Words that must all occur; what stands in double quotes occurs as it is."`
	Session string   `placeholder:"ID" help:"Only in this conversation and those that it was forked from."`
	Limit   int      `default:"20" help:"At most so many."`
	JSON    bool     `name:"json" help:"Print JSON."`
	dbFlag
}

// Run searches the text of everything that is kept.
func (c *searchCmd) Run(s *streams) error {
	return c.with(func(ctx context.Context, db *sqlite.DB) error {
		q := store.Query{Tenant: c.Tenant, Text: strings.Join(c.Query, " "), Limit: c.Limit}
		if c.Session != "" {
			conv, err := c.find(ctx, db, c.Session)
			if err != nil {
				return err
			}
			q.Conversation = conv.ID
		}
		var hits []store.Hit
		err := s.working("searching", func() (err error) {
			hits, err = db.Search(ctx, q)
			return err
		})
		if err != nil {
			return err
		}
		return c.print(s, hits)
	})
}

func (c *searchCmd) print(s *streams, hits []store.Hit) error {
	found := make([]report.Hit, len(hits))
	for i, h := range hits {
		found[i] = report.Hit{
			Conversation: h.Conversation, Session: h.Session, Message: fmt.Sprintf("m%d", h.Entry.Message), Role: h.Entry.Role,
			Kind: h.Entry.Kind, Tool: h.Entry.Name, Snippet: h.Snippet, Match: h.Match, Time: h.Time,
		}
	}
	if c.JSON {
		return writeJSON(s.out, found)
	}
	return report.WriteHits(s.out, found, s.colour)
}
