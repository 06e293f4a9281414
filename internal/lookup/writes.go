package lookup

import (
	"github.com/decantdev/decant/internal/cause"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// written says why requests in a period wrote to the cache what they wrote.
func written(requests []store.Request, p *Period, catalog *token.Catalog) (t cause.Table) {
	for i := range requests {
		r := &requests[i]
		if !p.holds(r.Time) {
			continue
		}
		parts := make([]cause.Part, 0, len(r.Writes))
		for _, w := range r.Writes {
			parts = append(parts, cause.Part{Kind: cause.Kind(w.Cause), Detail: w.Detail, Tokens: w.Tokens, Hour: w.Hour})
		}
		m, _ := catalog.Lookup(r.Model)
		t.Add(parts, m, cost.Terms{At: r.Time})
	}
	return t
}
