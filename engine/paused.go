package engine

import (
	"context"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/policy"
)

// mostPauses is how many summaries a model may write before it answers a request.
const mostPauses = 2

// Pauses reports whether the answer may be a summary behind which the model pauses, for which [Engine.Paused] is to be asked
// before anybody sees it. A streamed answer that may, begins with it, see [dialect.Pauser.Opens].
func (p *Prepared) Pauses() bool {
	if p.out == nil || p.out.Count {
		return false
	}
	n := p.out.Rules().Summary
	return n > 0 && p.out.MayPass(n-1)
}

// Paused returns what to send next where an answer is not the client's, but a summary behind which the model has paused: the
// conversation goes on from it, and where a budget is nearly spent the model is asked to come to an end (preset
// native.compaction.pause). What is decided is committed before it returns. It returns nil for any other answer; of one that broke off it
// is to be asked only where that was to be a summary. The caller
// goes on with what is returned as after Recover; what the summary has cost is booked with the answer to it.
//
// A summary that the model has not written, or that leaves the view too large, is not used: then the conversation is poured
// without it. An error is one of Prepare; then p is to be finished as one that was not answered.
func (e *Engine) Paused(ctx context.Context, p *Prepared, res Response) (*Prepared, error) {
	if !p.Pauses() || res.Status/100 != 2 {
		return nil, nil
	}
	s, paused := p.arrival.prompt.Dialect.(dialect.Pauser).Paused(res.Content) // no other dialect pauses
	if !paused && !res.Broken {
		return nil, nil
	}
	p.passes, p.pauses = p.passes.Add(res.Usage).Add(res.Extra), p.pauses+1
	f := plan.Demand{Again: true, Reason: policy.Necessary, Paid: p.passes, Summary: &s, Unpause: p.pauses >= mostPauses}
	if s.Text == "" {
		f.Summary, f.Unpause = nil, true
		e.opts.Logger.Warn("the model has paused without a summary, so the conversation is poured without it", "conversation", p.Conversation, "stop", fmt.Sprintf("%.40q", res.Stop))
	}
	next, err := p.arrival.prepare(ctx, f)
	if err != nil {
		if next, err = p.arrival.fallBack(err); err != nil {
			return nil, err
		}
	}
	next.passes, next.pauses = p.passes, p.pauses
	return p.succeed(next), nil
}

// Paid returns the usage of summaries behind which the model has paused on the way to p. Billed counts it as well.
func (p *Prepared) Paid() decant.Usage { return p.passes }

// succeed makes next the successor of p.
func (p *Prepared) succeed(next *Prepared) *Prepared {
	recovers := p.recovers
	next = p.follow(next)
	next.recovers = recovers
	return next
}
