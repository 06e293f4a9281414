package lookup

import (
	"context"
	"fmt"

	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
)

// Search returns what a query finds in the conversations of each of some tenants.
func Search(ctx context.Context, s store.Searcher, tenants []string, q store.Query) (out []report.Hit, err error) {
	for _, q.Tenant = range tenants {
		hits, err := s.Search(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			out = append(out, report.Hit{
				Tenant: q.Tenant, Conversation: h.Conversation, Session: h.Session, Message: fmt.Sprintf("m%d", h.Entry.Message), Role: h.Entry.Role,
				Kind: h.Entry.Kind, Tool: h.Entry.Name, Snippet: h.Snippet, Match: h.Match, Time: h.Time,
			})
		}
	}
	return out, nil
}
