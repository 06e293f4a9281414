package engine

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/policy"
)

// maxRecovers is how often a request is made anew after the provider refused it, and maxRethought how often for its
// thinking: the client's own bytes in place of a pour, and each route of the ladder.
const (
	maxRecovers  = 2
	maxRethought = 5
)

// Recover returns another form of a prepared request that the provider has refused, for its size or
// because thinking in it is bound to another conversation. It returns false when the refusal is about
// something else, or when there is no other form: then it is the client's.
func (e *Engine) Recover(ctx context.Context, p *Prepared, status int, body []byte) (*Prepared, bool) {
	if !p.Recoverable() {
		return nil, false
	}
	refused := p.incoming.prompt.Dialect.ReadRefusal(status, body)
	f := demandOf(refused)
	if tried := p.tried(); tried != "" && status == http.StatusBadRequest && f.Reason != policy.Overflow {
		f = plan.Demand{Reason: policy.Refusal, Tried: tried} // whatever it is about: the client did not send that
	}
	f.Unedit = refused.Topic == dialect.Editing && p.clears() || refused.Topic == dialect.Compacting && (p.summarised() || p.ruled()) || refused.Topic == dialect.Editing && p.ruled()
	f.Topic = refused.Topic
	if f.Reason == "" && !f.Unedit || p.recovers >= limit(f.Reason) {
		return nil, false
	}
	f.Again = true
	if p.out == nil {
		return p.retry(ctx)
	}
	if f.Tried == plan.RouteFold {
		return nil, false // that was the form that is always legal
	}
	(&learner{e, p.out.Draft}).refused(f, refused)
	measure(&f, p, status == http.StatusRequestEntityTooLarge || refused.Images)
	next, err := p.incoming.prepare(ctx, f)
	if err == nil && next.Report.Reason == "" {
		err = next.Fault
	}
	if err != nil || next.Report.Reason == "" && (!f.Unedit || next.asksAgain(p, refused.Topic)) {
		e.logError(err)
		return nil, false
	}
	return p.follow(next), true
}

// Recoverable reports whether there may be another form of a prepared request, for which [Engine.Recover] is to be asked
// before anybody sees a refusal.
func (p *Prepared) Recoverable() bool {
	return p.incoming != nil && p.recovers < max(maxRecovers, maxRethought) && // nil: it could not be read
		p.incoming.e.opts.mode(p.incoming.req) == Manage && !p.incoming.req.Count
}

// limit returns how often a request is made anew after a refusal for a reason.
func limit(why policy.Reason) int {
	if why == policy.Refusal {
		return maxRethought
	}
	return maxRecovers
}

// tried returns the route of a prepared request that was made for a refusal of its thinking, empty for others and where
// it is as the client sent it.
func (p *Prepared) tried() string {
	if p.Report.Reason != policy.Refusal || p.Report.Route == "taken back" || p.Report.Route == "none" {
		return ""
	}
	return p.Report.Route
}

// clears reports whether the prepared request asks the provider to clear something.
func (p *Prepared) clears() bool {
	if p.out == nil {
		return false
	}
	c, _ := p.out.Clearing()
	return c != nil
}

// summarised reports whether the prepared request has a summary that the provider wrote for Decant.
func (p *Prepared) summarised() bool {
	return p.out != nil && dialect.Summarised(p.out.View)
}

// asksAgain reports whether the prepared request asks once more for what the provider has refused in another.
func (p *Prepared) asksAgain(refused *Prepared, topic dialect.Topic) bool {
	if topic == dialect.Editing && refused.clears() {
		return p.clears()
	}
	return p.summarised() || p.ruled() || p.clears()
}

// ruled reports whether the prepared request gives the provider rules for its prompt.
func (p *Prepared) ruled() bool { return p.out != nil && p.out.Rules().Any() }

// retry prepares once more, with more time, what went out as the client sent it because the
// store did not answer: the refusal is most likely about what was decided before.
func (p *Prepared) retry(ctx context.Context) (*Prepared, bool) {
	next, err := p.incoming.prepare(ctx, plan.Demand{Again: true})
	if err != nil || bytes.Equal(next.Body, p.Body) {
		p.incoming.e.logError(err)
		return nil, false
	}
	return p.follow(next), true
}

// follow makes next the successor of p, which was refused.
func (p *Prepared) follow(next *Prepared) *Prepared {
	e := p.incoming.e
	next.incoming, next.ending, next.recovers = p.incoming, p.ending, p.recovers+1
	e.leaves(next)
	return next
}

// measure completes what a refusal demands by what was refused. Of a request that is too heavy half the bytes are to leave: where many large
// images are the matter, most bytes are theirs.
func measure(f *plan.Demand, p *Prepared, heavy bool) {
	a := p.out
	if f.Reason == policy.Overflow && heavy {
		f.Bytes = len(p.Body) / 2
	}
	if n := a.Draft.Estimator.Messages(a.Draft.View.Messages); f.Factor > 0 && n > 0 {
		f.Factor = max(0, f.Factor-float64(a.Draft.Fixed)) / float64(n)
	}
}

// demandOf returns what a refusal demands of the next attempt. The factor is the size in tokens that the provider has
// counted, until it has been measured.
func demandOf(r dialect.Refusal) plan.Demand {
	switch r.Topic {
	case dialect.Size:
		f := plan.Demand{Reason: policy.Overflow, Factor: float64(r.Tokens), Window: r.Window, Bytes: r.Bytes}
		if r.Output > 0 { // the answer may be longer than what we reserve for it
			f.Window -= max(0, r.Output-policy.MostReserve)
		}
		return f
	case dialect.Thinking:
		return plan.Demand{Reason: policy.Refusal}
	}
	return plan.Demand{}
}

// mostPauses is how many summaries a model may write before it answers a request.
const mostPauses = 2

// Pauses reports whether the answer may be a summary behind which the model pauses, for which [Engine.Paused] is to be
// asked before anybody sees it. A streamed answer that may, begins with it, see [dialect.Pauser.Opens].
func (p *Prepared) Pauses() bool {
	if p.out == nil || p.out.Count {
		return false
	}
	n := p.out.Rules().Summary
	return n > 0 && p.out.MayPass(n-1)
}

// Paused returns what to send next where an answer is not the client's, but a summary behind which the model has
// paused: the conversation goes on from it, and where a budget is nearly spent the model is asked to come to an end
// (preset native.compaction.pause). What is decided is committed before it returns. It returns nil for any other
// answer; of one that broke off it is to be asked only where that was to be a summary. The caller goes on with what is
// returned as after Recover; what the summary has cost is booked with the answer to it.
//
// A summary that the model has not written, or that leaves the view too large, is not used: then the conversation is
// poured without it. An error is one of Prepare; then p is to be finished as one that was not answered.
func (e *Engine) Paused(ctx context.Context, p *Prepared, res Response) (*Prepared, error) {
	if !p.Pauses() || res.Status/100 != 2 {
		return nil, nil
	}
	s, paused := p.incoming.prompt.Dialect.(dialect.Pauser).Paused(res.Content) // no other dialect pauses
	if !paused && !res.Broken {
		return nil, nil
	}
	p.passes, p.pauses = p.passes.Add(res.Usage).Add(res.Extra), p.pauses+1
	f := plan.Demand{Again: true, Reason: policy.Necessary, Paid: p.passes, Summary: &s, Unpause: p.pauses >= mostPauses}
	if s.Text == "" {
		f.Summary, f.Unpause = nil, true
		e.log.Warn("the model has paused without a summary, so the conversation is poured without it", "conversation", p.Conversation, "stop", fmt.Sprintf("%.40q", res.Stop))
	}
	next, err := p.incoming.prepare(ctx, f)
	if err != nil {
		if next, err = p.incoming.fallBack(err); err != nil {
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
