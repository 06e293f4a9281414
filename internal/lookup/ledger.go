package lookup

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// A Store is what this package needs of a store.
type Store interface {
	store.Loader
	store.Blobs
	store.Log
	store.Directory
}

// LedgerOptions say what a ledger is about.
type LedgerOptions struct {
	Period  Period
	Catalog *token.Catalog // prices
	By      string         // as in report.Ledger
	Each    bool           // also report each decision of the one conversation that is added
}

// A Ledger adds up what a store holds about a period: what was spent and left out, and what was read again.
type Ledger struct {
	account
	store Store
}

// NewLedger returns an empty ledger.
func NewLedger(s Store, o LedgerOptions) *Ledger {
	return &Ledger{store: s, account: account{Ledger: &report.Ledger{By: o.By}, period: o.Period, catalog: o.Catalog, each: o.Each, counted: map[string]bool{}}}
}

// Add adds what was booked for a tenant, and what the given conversations of the tenant show. With LedgerOptions.Each it
// adds what was booked for the one given conversation.
func (l *Ledger) Add(ctx context.Context, tenant string, found []store.Summary) error {
	return l.tenant(ctx, l.store, tenant, found)
}

// Report returns what was added up.
func (l *Ledger) Report() *report.Ledger {
	out := *l.account.Ledger
	if out.Conversations > 0 {
		out.AverageTokens /= out.Conversations
	}
	out.Days = slices.SortedFunc(slices.Values(out.Days), func(a, b report.LedgerRow) int { return cmp.Compare(a.Name, b.Name) })
	return &out
}

// An account adds up a report.
type account struct {
	*report.Ledger
	period  Period
	catalog *token.Catalog
	each    bool            // with each decision of the one conversation
	counted map[string]bool // decisions whose tokens are in Recovered
}

// tenant adds what was booked for one tenant.
func (a *account) tenant(ctx context.Context, s Store, tenant string, found []store.Summary) error {
	q := store.SpendQuery{Tenant: tenant, Since: a.period.From, Until: a.period.To}
	if a.each {
		q.Conversation = found[0].ID
	}
	totals, err := s.Spending(ctx, q)
	if err != nil {
		return err
	}
	for i := range totals {
		a.book(&totals[i], tenant)
	}
	subs := subAgents(found)
	for i := range found {
		if err := a.conversation(ctx, s, &found[i], subs[found[i].ID]); err != nil {
			return fmt.Errorf("conversation %s: %w", found[i].ID, err)
		}
	}
	return nil
}

// book adds what was booked for one day and model.
func (a *account) book(t *store.Total, tenant string) {
	l, row := a.Ledger, bookedRow("", t)
	l.Requests += t.Calls
	l.OwnCalls += t.Own
	l.Spent += t.Cost.USD()
	l.Bare += row.Bare
	l.Own += t.OwnCost.USD()
	l.Warm.Calls, l.Warm.USD = l.Warm.Calls+t.Warm, l.Warm.USD+t.WarmCost.USD()
	l.Rewritten += t.Rewrite.USD()
	l.Saved += row.Net()
	l.Over = l.Over.Add(row.Over)
	bookTrials(&l.Observed, &t.Trials)
	for _, to := range []struct {
		rows *[]report.LedgerRow
		name string
	}{{&l.Days, t.Day}, {&l.Models, t.Model}, {&l.Tenants, cmp.Or(tenant, "(none)")}} {
		row.Name = to.name
		*to.rows = report.Add(*to.rows, row)
	}
}

// bookedRow returns a total as a row.
func bookedRow(name string, t *store.Total) report.LedgerRow {
	o := &t.Over
	return report.LedgerRow{
		Name: name, Requests: t.Calls, Prompt: t.Usage.Prompt(), Without: t.Without.Prompt(),
		Spent: t.Cost.USD(), Bare: (t.Bare - o.Bare).USD(),
		Over: report.Oversized{Requests: o.Calls, Prompt: o.Sent, Without: o.Without, Spent: o.Cost.USD()},
	}
}

// conversation adds what one conversation shows, if something happened in it, and if each asks for it, each
// of its decisions. sub is its name if it is a sub-agent's.
func (a *account) conversation(ctx context.Context, s Store, c *store.Summary, sub string) error {
	requests, err := s.Requests(ctx, c.Key)
	if err != nil {
		return err
	}
	if !a.sent(requests) {
		return nil
	}
	a.Conversations++
	a.AddWrites(cmp.Or(c.Project, "(none)"), sub, written(requests, &a.period, a.catalog))
	a.Unmarked.Add(requests, a.period.holds, a.catalog)
	a.AverageTokens += c.Tokens
	totals, err := s.Spending(ctx, store.SpendQuery{Tenant: c.Tenant, Conversation: c.ID, Since: a.period.From, Until: a.period.To})
	if err != nil {
		return err
	}
	for i := range totals {
		a.Projects = report.Add(a.Projects, bookedRow(cmp.Or(c.Project, "(none)"), &totals[i]))
	}
	if c.Decisions == 0 && !a.each {
		return nil
	}
	if c.Decisions > 0 {
		a.Compacted++
	}
	state, err := s.Load(ctx, c.Key, store.Newest)
	if err != nil {
		return err
	}
	if err := a.savings(ctx, s, state); err != nil {
		return err
	}
	return a.forgotten(ctx, s, state, requests)
}

// sent reports whether one of the requests falls into the period, and notes the largest.
func (a *account) sent(requests []store.Request) (some bool) {
	for i := range requests {
		if a.period.holds(requests[i].Time) {
			some = true
			a.PeakTokens = max(a.PeakTokens, requests[i].Usage.Prompt())
			planned(&a.Observed, &requests[i])
		}
	}
	return some || a.period.always()
}
