package lookup

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// savings adds what the pours of a conversation in the period have come to, and if each asks for it what
// each single decision has.
func (a *account) savings(ctx context.Context, s Store, state *store.State) error {
	model := func(id string) token.Model {
		m, _ := a.catalog.Lookup(id)
		return m
	}
	saved, err := archive.ReadSavings(ctx, s, state, model)
	if err != nil {
		return err
	}
	for i := range saved.Pours {
		if p := &saved.Pours[i]; a.period.holds(p.Time) {
			a.Pours = append(a.Pours, report.Pour{
				Conversation: state.ID, Time: p.Time.UTC().Format(time.RFC3339), Decisions: p.Decisions, Freed: p.Freed, Again: p.Rewritten,
				Requests: p.Requests, Over: p.Over, Cost: p.Cost.USD(), Saved: p.Saved.USD(), Even: p.Even(), Undone: moment(p.Undone),
			})
		}
	}
	if a.each {
		a.Decisions = decisionsOf(state, &saved)
	}
	return nil
}

func decisionsOf(state *store.State, s *archive.Savings) *report.Decisions {
	out := &report.Decisions{Conversation: state.ID, Decisions: []report.Decision{}, Net: s.Net.USD(), Other: s.Other.USD()}
	for i := range s.Decisions {
		x := &s.Decisions[i]
		d := &x.Decision
		where := fmt.Sprintf("m%d", d.Target.Message)
		if cp := d.Checkpoint; cp != nil {
			where = fmt.Sprintf("m%d to m%d", cp.From, cp.To)
		}
		out.Decisions = append(out.Decisions, report.Decision{
			ID: d.ID, Where: where, Kind: string(d.Kind), Reason: cmp.Or(d.Reason, string(d.Reduction)), Handle: string(d.Handle), Before: d.Before, After: d.After,
			Sent: x.Sent, Over: x.Over, Requests: x.Requests, Saved: x.Saved.USD(), Cost: x.Cost.USD(), Even: x.Even(), Undone: moment(x.Undone),
		})
	}
	return out
}

// moment writes a time, empty when there is none.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
