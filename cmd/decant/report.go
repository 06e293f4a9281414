package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/decantdev/decant/report"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/token"
)

type reportCmd struct {
	Since    age    `placeholder:"AGE" help:"What happened since: 30d, 12h. Default: everything."`
	Month    month  `placeholder:"MONTH" help:"One month: 2026-10; without a value the running one."`
	By       string `enum:",model,project,day,tenant" default:"" placeholder:"WHAT" help:"One table alone: by model, project or day; by tenant: of all tenants of the database."`
	Only     string `name:"conversation" placeholder:"ID" help:"One conversation alone, with what each of its decisions has saved and cost so far: its id, its session, the beginning of either, or \"last\"."`
	JSON     bool   `name:"json" help:"Print JSON."`
	Markdown bool   `help:"Print Markdown."`
	HTML     string `name:"html" placeholder:"FILE" help:"Write a page that needs no network."`
	allFlag
	catalogFlag
	dbFlag
}

// Run sums up what the database holds.
func (c *reportCmd) Run(s *streams) error {
	now := time.Now().UTC()
	p, err := c.period(now)
	if err != nil {
		return usageError{err}
	}
	catalog, err := c.models()
	if err != nil {
		return err
	}
	return c.with(func(ctx context.Context, db *sqlite.DB) error {
		l, err := c.ledger(ctx, db, catalog, p)
		if err != nil {
			return err
		}
		l.From, l.To = p.days(now)
		if c.HTML != "" {
			if err := s.output(c.HTML, l.WriteHTML); err != nil {
				return err
			}
		}
		return c.print(s.out, l)
	})
}

// period returns the time that the report is about.
func (c *reportCmd) period(now time.Time) (p period, err error) {
	switch {
	case c.Month.given && c.Since != 0:
		return p, errors.New("--since and --month exclude each other")
	case c.Only != "" && (c.Month.given || c.Since != 0):
		return p, errors.New("--conversation and --since or --month exclude each other: what a decision has saved counts from when it was made")
	case (c.By == "tenant" || c.AllTenants) && (c.Tenant.given || c.Only != ""):
		return p, errors.New("--by tenant and --all-tenants are about all tenants: they go neither with --tenant nor with --conversation")
	case c.Month.given:
		return c.Month.period(now), nil
	}
	return period{from: c.Since.since(now)}, nil
}

func (c *reportCmd) print(w io.Writer, l *report.Ledger) error {
	switch {
	case c.JSON:
		return writeJSON(w, l)
	case c.Markdown:
		return l.WriteMarkdown(w)
	}
	return l.WriteText(w)
}

// ledger reads what was kept and booked in a period, of one tenant, of all, or of one conversation alone.
func (c *reportCmd) ledger(ctx context.Context, db *sqlite.DB, catalog *token.Catalog, p period) (*report.Ledger, error) {
	a := account{Ledger: &report.Ledger{By: c.By}, period: p, catalog: catalog, each: c.Only != "", counted: map[string]bool{}}
	tenants, err := c.tenants(ctx, db, &allFlag{c.AllTenants || c.By == "tenant"})
	if err != nil {
		return nil, err
	}
	for _, tenant := range tenants {
		found, err := c.conversations(ctx, db, tenant, p)
		if err != nil {
			return nil, err
		}
		if err := a.tenant(ctx, db, tenant, found); err != nil {
			return nil, err
		}
	}
	if a.Conversations > 0 {
		a.AverageTokens /= a.Conversations
	}
	return a.Ledger, nil
}

// conversations returns those of a tenant that the report is about.
func (c *reportCmd) conversations(ctx context.Context, db *sqlite.DB, tenant string, p period) ([]store.Summary, error) {
	if c.Only == "" {
		return db.Conversations(ctx, store.Filter{Tenant: tenant, Since: p.from, Limit: mostReported})
	}
	one, err := c.find(ctx, db, c.Only)
	if err != nil {
		return nil, err
	}
	return []store.Summary{*one}, nil
}

// mostReported bounds the conversations that one report reads.
const mostReported = 100_000

// An account adds up a report.
type account struct {
	*report.Ledger
	period
	catalog *token.Catalog
	each    bool            // with each decision of the one conversation
	counted map[string]bool // decisions whose tokens are in Recovered
}

// tenant adds what one tenant has.
func (a *account) tenant(ctx context.Context, db *sqlite.DB, tenant string, found []store.Summary) error {
	q := store.SpendQuery{Tenant: tenant, Since: a.from, Until: a.to}
	if a.each {
		q.Conversation = found[0].ID
	}
	totals, err := db.Spending(ctx, q)
	if err != nil {
		return err
	}
	for i := range totals {
		a.book(&totals[i], tenant)
	}
	for i := range found {
		if err := a.conversation(ctx, db, &found[i]); err != nil {
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
// of its decisions.
func (a *account) conversation(ctx context.Context, db *sqlite.DB, c *store.Summary) error {
	requests, err := db.Requests(ctx, c.Key)
	if err != nil {
		return err
	}
	if !a.sent(requests) {
		return nil
	}
	a.Conversations++
	a.AverageTokens += c.Tokens
	totals, err := db.Spending(ctx, store.SpendQuery{Tenant: c.Tenant, Conversation: c.ID, Since: a.from, Until: a.to})
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
	state, err := db.Load(ctx, c.Key, store.Newest)
	if err != nil {
		return err
	}
	if err := a.savings(ctx, db, state); err != nil {
		return err
	}
	return a.forgotten(ctx, db, state, requests)
}

// sent reports whether one of the requests falls into the period, and notes the largest.
func (a *account) sent(requests []store.Request) (some bool) {
	for i := range requests {
		if a.holds(requests[i].Time) {
			some = true
			a.PeakTokens = max(a.PeakTokens, requests[i].Usage.Prompt())
			planned(&a.Observed, &requests[i])
		}
	}
	return some || a.always()
}
