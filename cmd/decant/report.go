package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/tool"
	"github.com/decantdev/decant/report"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/token"
)

type reportCmd struct {
	Since    age    `placeholder:"AGE" help:"What happened since: 30d, 12h. Default: everything."`
	Month    bool   `help:"This month so far."`
	Only     string `name:"conversation" placeholder:"ID" help:"One conversation alone, with what each of its decisions has saved and cost so far: its id, the beginning of that, its session, or \"last\"."`
	JSON     bool   `name:"json" help:"Print JSON."`
	Markdown bool   `help:"Print Markdown."`
	HTML     string `name:"html" placeholder:"FILE" help:"Write a page that needs no network."`
	catalogFlag
	dbFlag
}

// Run sums up what the database holds.
func (c *reportCmd) Run(s *streams) error {
	now := time.Now().UTC()
	since := c.Since.since(now)
	if c.Month {
		if c.Since != 0 {
			return usageError{errors.New("--since and --month exclude each other")}
		}
		since = time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	}
	if c.Only != "" && !since.IsZero() {
		return usageError{errors.New("--conversation and --since or --month exclude each other: what a decision has saved counts from when it was made")}
	}
	catalog, err := c.models()
	if err != nil {
		return err
	}
	return c.with(func(ctx context.Context, db *sqlite.DB) error {
		l, err := c.ledger(ctx, db, catalog, since, now)
		if err != nil {
			return err
		}
		if c.HTML != "" {
			if err := s.output(c.HTML, l.WriteHTML); err != nil {
				return err
			}
		}
		return c.print(s.out, l)
	})
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

// ledger reads the conversations of a tenant that changed since a moment, and what was booked since, or
// one conversation alone.
func (c *reportCmd) ledger(ctx context.Context, db *sqlite.DB, catalog *token.Catalog, since, now time.Time) (*report.Ledger, error) {
	l := &report.Ledger{To: now.Format(time.DateOnly)}
	if !since.IsZero() {
		l.From = since.Format(time.DateOnly)
	}
	found, err := c.conversations(ctx, db, since)
	if err != nil {
		return nil, err
	}
	q := store.SpendQuery{Tenant: c.Tenant, Since: since}
	if c.Only != "" {
		q.Conversation = found[0].ID
	}
	totals, err := db.Spending(ctx, q)
	if err != nil {
		return nil, err
	}
	for i := range totals {
		book(l, &totals[i])
	}
	sum := 0
	for i := range found {
		sum += found[i].Tokens
		if err := review(ctx, db, l, &found[i], catalog, since, c.Only != ""); err != nil {
			return nil, fmt.Errorf("conversation %s: %w", found[i].ID, err)
		}
	}
	if l.Conversations = len(found); l.Conversations > 0 {
		l.AverageTokens = sum / l.Conversations
	}
	return l, nil
}

// conversations returns those that the report is about.
func (c *reportCmd) conversations(ctx context.Context, db *sqlite.DB, since time.Time) ([]store.Summary, error) {
	if c.Only == "" {
		return db.Conversations(ctx, store.Filter{Tenant: c.Tenant, Since: since, Limit: mostReported})
	}
	one, err := c.find(ctx, db, c.Only)
	if err != nil {
		return nil, err
	}
	return []store.Summary{*one}, nil
}

// mostReported bounds the conversations that one report reads.
const mostReported = 100_000

// book adds what was booked for one day and model.
func book(l *report.Ledger, t *store.Total) {
	l.Requests += t.Calls
	l.OwnCalls += t.Own
	l.Spent += t.Cost.USD()
	l.Bare += t.Bare.USD()
	l.Own += t.OwnCost.USD()
	l.Rewritten += t.Rewrite.USD()
	row := report.LedgerRow{Name: t.Day, Requests: t.Calls, Prompt: t.Usage.Prompt(), Without: t.Without.Prompt(), Spent: t.Cost.USD(), Bare: t.Bare.USD()}
	l.Days = report.Add(l.Days, row)
	row.Name = t.Model
	l.Models = report.Add(l.Models, row)
}

// review adds what one conversation shows, and if each asks for it, each of its decisions.
func review(ctx context.Context, db *sqlite.DB, l *report.Ledger, c *store.Summary, catalog *token.Catalog, since time.Time, each bool) error {
	requests, err := db.Requests(ctx, c.Key)
	if err != nil {
		return err
	}
	for i := range requests {
		if !requests[i].Time.Before(since) {
			l.PeakTokens = max(l.PeakTokens, requests[i].Usage.Prompt())
		}
	}
	totals, err := db.Spending(ctx, store.SpendQuery{Tenant: c.Tenant, Conversation: c.ID, Since: since})
	if err != nil {
		return err
	}
	project := c.Project
	if project == "" {
		project = "(none)"
	}
	for i := range totals {
		t := &totals[i]
		l.Projects = report.Add(l.Projects, report.LedgerRow{
			Name: project, Requests: t.Calls, Prompt: t.Usage.Prompt(), Without: t.Without.Prompt(), Spent: t.Cost.USD(), Bare: t.Bare.USD(),
		})
	}
	if c.Decisions == 0 && !each {
		return nil
	}
	if c.Decisions > 0 {
		l.Compacted++
	}
	state, err := db.Load(ctx, c.Key, store.Newest)
	if err != nil {
		return err
	}
	if err := savings(ctx, db, l, state, catalog, since, each); err != nil {
		return err
	}
	return forgotten(ctx, db, l, state, requests)
}

// forgotten adds what was left out of a conversation, and what was read again after it had been.
func forgotten(ctx context.Context, db *sqlite.DB, l *report.Ledger, state *store.State, requests []store.Request) error {
	reads, err := readsOf(ctx, db, state)
	if err != nil {
		return err
	}
	gone := map[string]int{} // by file, the entries that there were when it was left out
	for _, d := range state.Live() {
		if d.Checkpoint != nil {
			l.Recovered += d.Checkpoint.Original - d.Checkpoint.Compressed
			continue
		}
		l.Recovered += d.Before - d.After
		if file := reads.file(d.Target.CallID); file != "" && d.Reduction != "terminal" && d.Reduction != "superseded" {
			if at := lengthAt(requests, d.Created); gone[file] == 0 || at < gone[file] {
				gone[file] = at
			}
		}
	}
	for _, r := range reads {
		if at, ok := gone[r.file]; ok && r.at > at {
			l.ReadAgain++
			l.ReadAgainTokens += r.tokens
			delete(gone, r.file) // the copy that it brought is in view now
		}
	}
	return nil
}

// lengthAt returns how many entries the first request at or after a moment held.
func lengthAt(requests []store.Request, t time.Time) int {
	for i := range requests {
		if !requests[i].Time.Before(t) {
			return requests[i].Length
		}
	}
	return 1 << 30
}

// A reading is a read of a file in a conversation.
type reading struct {
	call, file string
	at         int // position of its result
	tokens     int
}

type readings []reading

// file returns the file that a call has read, empty when it has read none.
func (rs readings) file(call string) string {
	for i := range rs {
		if rs[i].call == call {
			return rs[i].file
		}
	}
	return ""
}

// readsOf returns the reads of single files in a conversation, in order.
func readsOf(ctx context.Context, db *sqlite.DB, state *store.State) (out readings, err error) {
	uses := map[string]string{} // file by call
	for i := range state.Chain {
		e := &state.Chain[i]
		switch e.Kind {
		case decant.KindUse:
			if e.Text.IsZero() {
				continue
			}
			blobs, err := db.Blobs(ctx, state.Tenant, e.Text)
			if err != nil {
				return nil, err
			}
			if c := tool.Parse(e.Name, string(blobs[0])); c.Effect == tool.Read && len(c.Files) == 1 {
				uses[e.CallID] = c.Files[0].Key
			}
		case decant.KindResult:
			if file := uses[e.CallID]; file != "" {
				out = append(out, reading{e.CallID, file, e.Position, e.Tokens})
			}
		}
	}
	return out, nil
}
