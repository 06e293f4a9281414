package engine

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
)

// A Watcher is told what happens to conversations, while a request waits: its methods must return at once. They may be
// called by several goroutines.
type Watcher interface {
	// Poured is told of each pour that was committed, and of each that should have been made and was not as wanted.
	Poured(*PourEvent)

	// Warned is told once, of each day, month, tenant or conversation, that most of a budget is spent.
	Warned(budget.Warning)
}

// A PourEvent is a pour as people are told of it.
type PourEvent struct {
	Key     store.Key // of the conversation
	Session string    // of the client, empty when it names none
	Preset  *preset.Preset

	Reason                           policy.Reason // empty: there was none, and Err says why
	Route                            string
	Before, After, Threshold, Window int                // tokens of the request; from which a pour is due; that the model takes
	Decisions                        []decant.Decision  // that are new
	Checkpoint                       *decant.Checkpoint // among them, nil: there is none
	Lost                             int                // facts that should be kept, were in view before and are not after it
	Price                            decant.Price       // zero where it is not known

	// Err says why there was no pour, or why it has not the record that a model wrote. Nil: all is as it was wanted.
	Err error
}

// notice tells those who run the engine of a pour, of a record that says too little, and of one by a summariser that is
// not used. A poor record is better than none, but nobody should take it for a good one.
func notice(e *Engine, p *Prepared) {
	dr := p.out.Draft
	if cp := p.Report.Poor(); cp != nil && !dr.Count {
		e.log.Warn("a record says too little of what user and model named", "conversation", p.Conversation, "checkpoint", cp.Number,
			"from", cp.From, "to", cp.To, "score", cp.Score, "min_score", dr.Preset.Summary.MinScore)
	}
	if why := dr.Outcome.Uncompacted; why != nil {
		e.log.Warn("no summary of the provider's is used", "conversation", p.Conversation, "why", fmt.Sprintf("%.200s", why))
	}
	if why := dr.Outcome.Unused; why != nil {
		e.log.Warn("a summariser's record is not used", "conversation", p.Conversation, "why", fmt.Sprintf("%.200s", why))
	}
	if cp := foldOf(p); cp != nil && !dr.Count {
		e.log.Warn("messages were made one of text, because no milder form was left", "conversation", p.Conversation, "reason", string(dr.Outcome.Reason),
			"from", cp.From, "to", cp.To, "tokens", cp.Original, "tokens_now", cp.Compressed, "images_lost", cp.Lost)
	}
	if x := pouringOf(p); e.opts.Watcher != nil && (x.Reason != "" || x.Err != nil) && !dr.Count {
		e.opts.Watcher.Poured(x)
	}
}

// foldOf returns the fold that a prepared request has made of what fitted its window, or in which images are lost; nil
// when it has made no such one.
func foldOf(p *Prepared) *decant.Checkpoint {
	for i := range p.Report.Decisions {
		d := &p.Report.Decisions[i]
		if d.Reduction == decant.ReductionFold && (p.Report.Reason == policy.Refusal || d.Checkpoint.Lost > 0) {
			return d.Checkpoint
		}
	}
	return nil
}

// pouringOf returns what there is to tell of a request that was prepared.
func pouringOf(p *Prepared) *PourEvent {
	in, o := p.out.Input, &p.out.Outcome
	x := &PourEvent{
		Key: store.Key{Tenant: in.Start.Tenant, ID: p.Conversation}, Session: in.Start.Session, Preset: p.out.Preset,
		Reason: o.Reason, Route: o.Route, Before: o.Before, After: o.After, Threshold: p.out.Limits.Trigger, Window: in.Model.Window,
		Decisions: p.Report.Decisions, Checkpoint: decant.CheckpointIn(p.Report.Decisions), Err: o.Unused,
	}
	if p.Fault != nil && o.Reason == "" {
		x.Err = p.Fault
	}
	if o.Plan != nil {
		x.Lost, x.Price = len(o.Plan.Risk), o.Plan.Price
	}
	return x
}
