package lookup

import (
	"cmp"

	"github.com/decantdev/decant/internal/cause"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
)

// written adds why the requests of a conversation wrote to the cache what they wrote.
func (a *account) written(c *store.Summary, requests []store.Request) {
	var t cause.Table
	for i := range requests {
		r := &requests[i]
		if !a.period.holds(r.Time) {
			continue
		}
		parts := make([]cause.Part, 0, len(r.Writes))
		for _, w := range r.Writes {
			parts = append(parts, cause.Part{Kind: cause.Kind(w.Cause), Detail: w.Detail, Tokens: w.Tokens, Hour: w.Hour})
		}
		m, _ := a.catalog.Lookup(r.Model)
		t.Add(parts, m, cost.Terms{At: r.Time})
	}
	if len(t) == 0 {
		return
	}
	if a.Writes == nil {
		a.Writes = &report.Writes{}
	}
	a.Writes.Causes.Join(t)
	a.ProjectWrites = report.AddWrites(a.ProjectWrites, cmp.Or(c.Project, "(none)"), t)
}
