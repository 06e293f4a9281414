package lookup

import (
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/internal/typed"
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

// Told returns a conversation as a row of a list, with what it is about, what it has cost and what was saved in it.
func Told(ctx context.Context, s Store, c *store.Summary) (report.Session, error) {
	out := Session(c)
	state, err := s.Load(ctx, c.Key, store.Newest)
	if err != nil {
		return out, fmt.Errorf("conversation %s: %w", c.ID, err)
	}
	if out.Title, err = title(ctx, s, state); err != nil {
		return out, fmt.Errorf("conversation %s: %w", c.ID, err)
	}
	money, err := Money(ctx, s, c)
	out.Spent, out.Saved = money.Spent, money.Net()
	return out, err
}

// Money returns what was booked for a conversation.
func Money(ctx context.Context, s store.Log, c *store.Summary) (report.LedgerRow, error) {
	totals, err := s.Spending(ctx, store.SpendQuery{Tenant: c.Tenant, Conversation: c.ID})
	var rows []report.LedgerRow
	for i := range totals {
		rows = report.Add(rows, bookedRow("", &totals[i]))
	}
	if err != nil || len(rows) == 0 {
		return report.LedgerRow{}, err
	}
	return rows[0], nil
}

// mostTitled is how many texts of users are looked at for a title: what a client sends before them is in their role, too.
const mostTitled = 10

// title returns the first words that the user typed in a conversation, on one line.
func title(ctx context.Context, s store.Blobs, state *store.State) (string, error) {
	looked := 0
	for i := range state.Chain {
		e := &state.Chain[i]
		if e.Role != decant.RoleUser || e.Kind != decant.KindText || e.Author != decant.AuthorUser {
			continue
		}
		if looked++; looked > mostTitled {
			break
		}
		text, err := s.Blobs(ctx, state.Key.Tenant, e.Text)
		if err != nil {
			return "", err
		}
		if words := typed.Words(state.Agent, string(text[0])); words != "" {
			return shorten(words, 60), nil
		}
	}
	return "", nil
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
