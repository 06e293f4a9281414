package main

import (
	"fmt"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/internal/chat"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/internal/triage"
	"github.com/decantdev/decant/internal/triage/investigate"
	"github.com/decantdev/decant/provider"
)

// keptBatches returns the folder in which the stand-in keeps its batches, so that the next process finds them; empty: nowhere.
func (f *triageFlags) keptBatches() string {
	if !f.Sandbox || f.DB == "" {
		return ""
	}
	return f.DB + ".sandbox"
}

// inBatches says with whom a run is done in batches.
func (r *triageRoom) inBatches(o *chat.Options, with investigate.Options, b *triage.Batch) (out triage.BatchOptions, err error) {
	maker, ok := o.Client.(provider.Batcher)
	if !ok || o.Account == nil {
		return out, usageError{fmt.Errorf("%w: want a key of Anthropic's (ANTHROPIC_API_KEY), or --sandbox", owncalls.ErrNoBatches)}
	}
	out = triage.BatchOptions{Batcher: maker, Engine: r.db.Engine(), Price: func(u decant.Usage) float64 { return batchPrice(o, r.model, u) }}
	out.Investigator = func(c provider.Speaker, p *triage.Batch) *investigate.Investigator {
		with.Client, with.Budget, with.Thinking = c, p.PerError, p.Thinking
		with.Allowance = agent.NewAllowance(agent.Budget{Tokens: p.PerRun})
		return investigate.New(with)
	}
	out.Caller, err = owncalls.NewCaller(owncalls.Options{Account: o.Account, Ledger: r.db.Store(), Catalog: o.Catalog})
	return out, err
}

// batchPrice returns what usage costs in a batch, in dollars.
func batchPrice(o *chat.Options, model string, u decant.Usage) float64 {
	m, _ := o.Catalog.Lookup(model)
	usd, _ := cost.Of(m, u, cost.Terms{At: time.Now(), Batch: m.Batch > 0}).Total()
	return usd
}
