package notebookcmd

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/apps/notebook"
	"github.com/decantdev/decant/apps/notebook/internal/scan"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/humanize"
	"github.com/decantdev/decant/internal/lookup"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
)

type reportCmd struct {
	Session  string        `arg:"" optional:"" help:"Sum up this session instead of a month: its file, its id or the beginning of it, or last."`
	Month    command.Month `placeholder:"MONTH" help:"The month: 2026-10. Without a value, the current one. Default: the month of yesterday."`
	All      bool          `help:"Sessions of all projects."`
	Markdown bool          `help:"Print Markdown."`
	HTML     string        `name:"html" placeholder:"FILE" help:"Write an HTML page. It needs no network."`
	command.CatalogFlag
	flags
}

// Run sums up a month or a session.
func (c *reportCmd) Run(s *process.Process) error {
	if c.Session != "" {
		return c.card(s)
	}
	now := time.Now().UTC()
	if !c.Month.Given { // on the 1st, the whole month before
		yesterday := now.AddDate(0, 0, -1)
		c.Month.First = time.Date(yesterday.Year(), yesterday.Month(), 1, 0, 0, 0, 0, time.UTC)
	}
	p := c.Month.Period(now)
	return c.bookIn(s, func(ctx context.Context, b *notebook.Book, db store.Store, tenant string) error {
		ss, err := c.sessions(ctx, s, b, p.From)
		if err != nil {
			return err
		}
		v := scan.MonthValues{Month: p.From, Sessions: ss}
		if err := c.records(ctx, s, &v, db, tenant, p); err != nil {
			return err
		}
		if err := c.ledger(ctx, s, &v, db, tenant, p); err != nil {
			return err
		}
		return c.print(s, scan.NewMonth(v))
	})
}

// sessions reads the sessions that changed since a time, oldest first.
func (c *reportCmd) sessions(ctx context.Context, s *process.Process, b *notebook.Book, since time.Time) (out []scan.Session, err error) {
	own := func(dir string) bool { return c.All || b.Owns(ctx, dir) }
	found, err := recordedSessions(s, own, since)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	err = s.Working("reading "+report.Count(len(found), "session"), func() error {
		out = readSessions(s, found)
		return nil
	})
	slices.SortStableFunc(out, func(a, b scan.Session) int { return a.Start.Compare(b.Start) })
	return out, err
}

func (c *reportCmd) print(s *process.Process, r *scan.Month) error {
	if c.HTML != "" {
		if err := s.Output(c.HTML, r.WriteHTML); err != nil {
			return err
		}
	}
	switch {
	case c.JSON:
		return command.WriteJSON(s.Out, r)
	case c.Markdown:
		return r.WriteMarkdown(s.Out)
	}
	return r.WriteText(s.Out)
}

// mostReported is how many conversations one report reads at most.
const mostReported = 100_000

// ledger adds what the gateway's requests cost in the month.
func (c *reportCmd) ledger(ctx context.Context, s *process.Process, v *scan.MonthValues, db store.Store, tenant string, p lookup.Period) error {
	catalog, err := c.Models(s)
	if err != nil {
		return err
	}
	found, err := db.Conversations(ctx, store.Filter{Tenant: tenant, Since: p.From, Limit: mostReported})
	if err != nil {
		return err
	}
	read := lookup.NewLedger(db, lookup.LedgerOptions{Period: p, Catalog: catalog})
	if err := read.Add(ctx, tenant, found); err != nil {
		return err
	}
	if l := read.Report(); l.Requests > 0 {
		v.Ledger = &scan.MonthLedger{
			Conversations: l.Conversations, Compacted: l.Compacted, Requests: l.Requests, Recovered: l.Recovered,
			Without: l.Bare, Spent: l.Spent, Saved: l.Saved,
			ReadAgain: l.ReadAgain, ReadAgainTokens: l.ReadAgainTokens, Rewritten: l.Rewritten,
		}
	}
	return nil
}

// records adds the notebook's rules and what changed in the month; with --all those of all notebooks.
func (c *reportCmd) records(ctx context.Context, s *process.Process, v *scan.MonthValues, db store.Store, tenant string, p lookup.Period) error {
	q := store.MemoryQuery{Tenant: tenant, Archived: true}
	if !c.All {
		here, err := notebook.ScopeOf(s.Path(c.Dir))
		if err != nil {
			return err
		}
		q.Scopes = []memory.Scope{here}
	}
	items, err := db.Memories(ctx, q)
	if err == nil {
		err = fromMemory(v, items, p)
	}
	return err
}

// fromMemory adds the active rules and counts what changed in the month.
func fromMemory(v *scan.MonthValues, items []memory.Item, p lookup.Period) error {
	in := func(t time.Time) bool { return !t.Before(p.From) && t.Before(p.To) }
	for i := range items {
		it, err := notebook.RecordOf(items[i])
		if err != nil {
			return err
		}
		if it.Kind != memory.KindObservation && it.Kind != memory.KindRule && it.Kind != memory.KindTask {
			continue
		}
		if v.Records == nil {
			v.Records = &scan.MonthRecords{}
		}
		switch {
		case it.Kind == memory.KindRule && it.Item.State() == memory.Active && it.Suspended.IsZero():
			v.Rules = append(v.Rules, scan.MonthRule{ID: it.ID, Text: it.Text, Since: it.Created})
		case it.Kind == memory.KindObservation && in(it.Escalated):
			v.Records.Escalated++
		case it.Kind == memory.KindObservation && in(it.Archived):
			v.Records.Archived++
		case it.Kind == memory.KindTask && in(it.Archived):
			v.Records.TasksArchived++
		}
	}
	return nil
}

// card prints the measures of one recorded session.
func (c *reportCmd) card(s *process.Process) error {
	f, err := recordedSession(s, c.Session)
	if err != nil {
		return err
	}
	one, err := readSession(s, &f)
	if err != nil {
		return err
	}
	if c.JSON {
		return command.WriteJSON(s.Out, one)
	}
	return s.Say(card(&one))
}

// card returns the measures of a session, a line each.
func card(one *scan.Session) string {
	var b strings.Builder
	line := func(name, value string) { fmt.Fprintf(&b, "%-21s%s\n", name+":", value) }
	line("Session ID", cmp.Or(one.ID, filepath.Base(one.File)))
	b.WriteString(strings.Repeat("─", 29) + "\n")
	line("Start", one.Start.Local().Format("2006-01-02 15:04"))
	line("Time at work", (time.Duration(one.Active) * time.Second).String())
	line("Requests", humanize.Thousands(one.Requests))
	line("Average tokens", humanize.Thousands(one.Average))
	line("Peak tokens", humanize.Thousands(one.Peak))
	done := 0
	for i := range one.Tasks {
		if one.Tasks[i].Done {
			done++
		}
	}
	line("Tasks completed", humanize.Thousands(done))
	if len(one.Compactions) == 0 {
		line("Compaction trigger", "none")
	}
	for i, c := range one.Compactions {
		fmt.Fprintf(&b, "\nCompaction %d, before message %d, by the client\n", i+1, c.Message)
		if c.Before > 0 && c.After > 0 {
			freed := c.Before - c.After
			sizes := fmt.Sprintf("%s → %s", humanize.Thousands(c.Before), humanize.Thousands(c.After))
			line("Tokens recovered", humanize.Thousands(freed)+" ("+sizes+")")
			line("Compression ratio", fmt.Sprintf("%.0f%% reduction", 100*float64(freed)/float64(c.Before)))
		}
		if c.Took > 0 {
			line("Time to compact", fmt.Sprintf("%d s", c.Took))
		}
	}
	if one.File != "" {
		b.WriteString("\n")
		line("Original transcript", one.File)
	}
	return b.String()
}
