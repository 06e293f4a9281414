package lookup

import (
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
)

// A Memory is an item with the tenant that it belongs to.
type Memory struct {
	Tenant string `json:"tenant,omitempty"`
	memory.Item
}

// Memories returns what is remembered of some tenants, as far as a query selects it, without its limit: last confirmed
// first, or best first if there are words to look for.
func Memories(ctx context.Context, s store.Memories, tenants []string, q store.MemoryQuery, words string) (out []Memory, err error) {
	q.Limit = every
	for _, q.Tenant = range tenants {
		items, err := s.Memories(ctx, q)
		if err != nil {
			return nil, err
		}
		if words != "" {
			items = memory.Rank(items, words)
		}
		for i := range items {
			out = append(out, Memory{q.Tenant, items[i]})
		}
	}
	return out, nil
}

// every is more than there are of anything.
const every = 1 << 31

// OneMemory returns the item of a tenant that a name means: its id, or the beginning of it, with or without the m: in front.
// If there is none, the error wraps store.ErrNotFound; if there are several, it is a *store.AmbiguousError.
func OneMemory(ctx context.Context, s store.Memories, tenant, name string) (*memory.Item, error) {
	const most = 20
	for _, begin := range []string{name, "m:" + name} {
		found, err := s.Memories(ctx, store.MemoryQuery{Tenant: tenant, Name: begin, Archived: true, Limit: most})
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(found, func(it memory.Item) bool { return it.ID == begin }); i >= 0 {
			return &found[i], nil
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			return &found[0], nil
		}
		e := &store.AmbiguousError{Name: name}
		for i := range found {
			e.Candidates = append(e.Candidates, found[i].ID)
		}
		return nil, e
	}
	return nil, fmt.Errorf("memory %q: %w", name, store.ErrNotFound)
}

// MemoryRow returns an item as a row of a list, with its confirmations.
func MemoryRow(m *Memory) report.Memory {
	out := report.Memory{
		Tenant: m.Tenant, ID: m.ID, Kind: string(m.Kind), State: string(m.State()), Scope: m.Scope.String(), Text: m.Text,
		Conversation: m.Source.Conversation, Messages: messages(m.Source), Times: m.Times, Created: m.Created, Confirmed: m.Confirmed,
		Escalated: m.Escalated, Archived: m.Archived, Restored: m.Restored, Became: m.Became, From: m.From,
	}
	for _, c := range m.Confirmations {
		out.Evidence = append(out.Evidence, report.Evidence{Conversation: c.Conversation, Messages: messages(c.Source), Text: c.Evidence, Time: c.Time})
	}
	return out
}

// messages names the messages of a source: "m3", "m3-m9".
func messages(s memory.Source) string {
	switch {
	case s.From == 0:
		return ""
	case s.To <= s.From:
		return fmt.Sprintf("m%d", s.From)
	}
	return fmt.Sprintf("m%d-m%d", s.From, s.To)
}
