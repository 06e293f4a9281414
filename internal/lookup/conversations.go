package lookup

import (
	"context"
	"slices"

	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
)

// Conversations returns the conversations of some tenants that a filter selects, last changed first.
func Conversations(ctx context.Context, s store.Directory, tenants []string, f store.Filter) (out []store.Summary, err error) {
	for _, f.Tenant = range tenants {
		found, err := s.Conversations(ctx, f)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	slices.SortStableFunc(out, func(a, b store.Summary) int { return b.Updated.Compare(a.Updated) })
	return out[:min(len(out), f.Limit)], nil
}

// Session returns a conversation as a row of a list.
func Session(c *store.Summary) report.Session {
	s := report.Session{
		Tenant: c.Tenant, ID: c.ID, Session: c.Session, Agent: c.Agent, Project: c.Project, Model: c.Model, Messages: c.Messages, Tokens: c.Tokens,
		Decisions: c.Decisions, Checkpoints: c.Checkpoints, Requests: c.Requests, Pinned: c.Pinned, Created: c.Created, Updated: c.Updated,
	}
	if c.Origin != nil {
		s.Parent = c.Origin.Parent
	}
	return s
}

// Collection returns what was removed, or with dry would be, of the conversations that were known before.
func Collection(done *store.Collected, known []store.Summary, dry bool) *report.Collection {
	r := &report.Collection{DryRun: dry, Left: len(known), Pinned: done.Pinned, Shared: done.Shared, Blobs: done.Blobs, Bytes: done.Bytes, Memories: done.Memories, Journals: done.Journals}
	byKey := map[store.Key]*store.Summary{}
	for i := range known {
		byKey[known[i].Key] = &known[i]
	}
	for _, k := range done.Conversations {
		c := byKey[k]
		if c == nil { // it came while other conversations were removed
			c = &store.Summary{Conversation: store.Conversation{Key: k}}
			r.Left++
		}
		r.Removed = append(r.Removed, Session(c))
		r.Left--
	}
	return r
}
