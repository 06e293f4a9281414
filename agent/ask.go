package agent

import (
	"bytes"
	"cmp"
	stdjson "encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/purse"
	"github.com/decantdev/decant/provider"
)

// errNoRoom means that the budget has no room for a call and a final answer after it.
var errNoRoom = errors.New("no room for another call")

// wrapUpTokens is more than what is said to a model that must give its final answer takes.
func (a *Agent) wrapUpTokens() int { return len(a.opts.WrapUp)/2 + 50 }

// asking is one request to the model, until its answer is in the history.
type asking struct {
	*run
	room   room               // for the answer
	told   bool               // the request has what the model is owed
	newest stdjson.RawMessage // the last message, as the engine was asked about it
}

// next begins another request.
func (r *run) next() *asking {
	r.asking = &asking{run: r}
	return r.asking
}

// ask asks the model for the next answer and takes it into the history. last says which limit makes it the last one; empty: none. Where
// nothing is sent, nothing is added to the history.
func (r *asking) ask(last Stop) (*provider.Answer, error) {
	p, h, err := r.ready(last)
	if err != nil {
		return nil, err
	}
	if p, err = r.hold(p, h, last); err != nil {
		return nil, err
	}
	r.open()
	if err := r.keep(h); err != nil {
		r.drop(p)
		return nil, err
	}
	r.owed = r.owed && !r.told
	return r.send(p)
}

// keep makes h the history, which differs from it in its last message at most.
func (r *asking) keep(h history) error {
	old := r.Messages()
	same := min(len(h), len(old))
	for same > 0 && !bytes.Equal(h[same-1], old[same-1]) {
		same--
	}
	if same == len(h) {
		return nil
	}
	return r.step(&step{Keep: &same, Messages: h[same:]})
}

// prepare asks the engine what to send of a history.
func (r *asking) prepare(h history, final bool) (*engine.Prepared, error) {
	p, err := r.patiently(r.request(h, final, r.spare()))
	if err != nil {
		return nil, err
	}
	r.newest = h[len(h)-1]
	r.mu.Lock()
	r.conversation = cmp.Or(p.Conversation, r.conversation)
	r.mu.Unlock()
	r.pour(p)
	return p, nil
}

// unnoticed is how long whoever watches a run may be left without a word. Nothing but a pour takes longer.
const unnoticed = 400 * time.Millisecond

// organizing is what is said then.
const organizing = "Organizing conversation..."

// patiently prepares a request, and tells whoever watches where that takes a while.
func (r *asking) patiently(q *engine.Request) (p *engine.Prepared, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		p, err = r.agent.opts.Engine.Prepare(r.ctx, q)
	}()
	slow := time.NewTimer(unnoticed)
	defer slow.Stop()
	select {
	case <-done:
	case <-slow.C:
		r.emit(Event{Kind: EventStatus, Text: organizing})
		<-done
	}
	return p, err
}

// request returns what the engine is asked about a history. sealed is how many tokens the window must keep if nothing else is a reason to
// pour; 0: the policy of the agent says when.
func (r *asking) request(h history, final bool, sealed int) *engine.Request {
	o := &r.agent.opts
	q := &engine.Request{
		Tenant: o.Tenant, Session: r.root, Project: o.Project, Preset: o.Preset, Sealed: sealed, Body: r.agent.body(h, final, r.thinks(h)),
		Pauses: !final,
	}
	if o.Budgets != nil {
		q.Budgets = o.Budgets(r.ctx)
	}
	if r.seal != nil && r.seal.apart {
		q.Project = "" // what is told of earlier conversations is told already
	}
	return q
}

// sizeOf returns the tokens of a prepared request. Where the engine could not count them, they are guessed from its bytes, too many
// rather than too few.
func sizeOf(p *engine.Prepared) int { return cmp.Or(p.Report.After, len(p.Body)/2) }

// poured returns what a pour did, nil when there was none.
func poured(p *engine.Prepared) *Pour {
	if p.Report.Reason == "" || len(p.Report.Decisions) == 0 {
		return nil
	}
	out := &Pour{Before: p.Report.Before, After: p.Report.After}
	if c := decant.CheckpointIn(p.Report.Decisions); c != nil {
		out.Covered, out.Record = c.Messages, c.Summary
	}
	return out
}

// hold holds back what a prepared request may cost. Where there is no room for as long an answer as the agent allows it gets less; a final
// answer for which there is no room gets a smaller prompt.
func (r *asking) hold(p *engine.Prepared, h history, last Stop) (*engine.Prepared, error) {
	if last != "" {
		p, ok, err := r.holdFinal(p, h)
		if ok || err != nil {
			return p, err
		}
		r.drop(p)
		return r.smaller(h, p)
	}
	for ; r.room.halved < scales; r.room.halved++ {
		if !r.meter.hold(r.need(p, h)) {
			continue
		}
		p, err := r.resized(p, h, false, r.agent.thinks(h, r.meter.spent.Turns, 0))
		if err != nil || r.meter.hold(r.need(p, h)) {
			return p, err
		}
		r.drop(p)
		return nil, errNoRoom
	}
	r.room.halved = scales - 1
	r.drop(p)
	return nil, r.noRoom(r.need(p, h))
}

// need returns what a prepared request for a further answer may take.
func (r *asking) need(p *engine.Prepared, h history) need {
	n := need{sizeOf(p), r.thinks(h).most, r.agent.finalTokens(r.room.halved), r.agent.wrapUpTokens()}
	if p.Pauses() {
		n.answer += summaryTokens
	}
	return n
}

// noRoom returns errNoRoom, and ErrBudget where the budget of a run has no room for even one call and the answer behind it.
func (r *asking) noRoom(n need) error {
	call, final := r.meter.amounts(n)
	if all := call.Plus(final); r.meter.spent.Turns == 0 && len(r.agent.opts.Tools) > 0 && r.meter.budget.share(all) > 1 {
		return r.meter.short("one call and the answer behind it", all)
	}
	return errNoRoom
}

// resized returns the request for an answer again where that may have less than a request was prepared for that said so much of thinking.
func (r *asking) resized(p *engine.Prepared, h history, final bool, said thought) (*engine.Prepared, error) {
	if r.thinks(h) == said {
		return p, nil
	}
	r.drop(p)
	return r.prepare(h, final)
}

// holdFinal holds back what the final answer to a prepared request may cost. Where there is no room for all that the agent allows it gets no
// thinking, and less. It returns false where there is no room for any.
func (r *asking) holdFinal(p *engine.Prepared, h history) (*engine.Prepared, bool, error) {
	said := r.thinks(h)
	for i := -1; i < scales; i++ {
		if i >= 0 {
			r.room = room{true, i}
		}
		if r.meter.holdFinal(sizeOf(p), r.thinks(h).most) {
			p, err := r.resized(p, h, true, said)
			r.meter.begin()
			return p, true, err
		}
	}
	return p, false, nil
}

// smaller prepares the request for a final answer with less of a history: without what the newest calls have returned or, where there is no room
// for that either, without these calls. Room for the latter was held back before they were asked for. was has the whole history.
func (r *asking) smaller(h history, was *engine.Prepared) (*engine.Prepared, error) {
	calls := answeredCalls(h)
	if len(calls) == 0 || r.meter.final == (purse.Amount{}) {
		return nil, r.meter.short("it", r.meter.worst(sizeOf(was), r.thinks(h).most))
	}
	r.room = room{plain: true}
	without := leftOut(h, calls, r.agent.opts.WrapUp)
	p, err := r.prepare(without, true)
	if err != nil {
		return nil, err
	}
	p, ok, err := r.holdFinal(p, without)
	if ok || err != nil {
		return p, err
	}
	if before := h[:len(h)-2]; len(before) > 0 && !bytes.Contains(h[len(h)-2], []byte(`"compaction"`)) {
		without = wrapped(before, r.agent.opts.WrapUp)
	}
	r.drop(p)
	p, err = r.prepare(without, true)
	r.meter.begin() // for which there is room, unless the estimate was wrong by more than is allowed for
	return p, err
}

// drop tells the engine that a prepared request is not sent.
func (r *run) drop(p *engine.Prepared) { r.agent.opts.Engine.Finish(p, engine.Response{}) }

// send sends a prepared request, in another form once more where the provider refuses its form, and goes on where the model pauses
// behind a summary.
func (r *asking) send(p *engine.Prepared) (*provider.Answer, error) {
	r.tellPour()
	for {
		if err := r.checkSeal(p); err != nil {
			r.drop(p)
			return nil, err
		}
		if f := r.agent.opts.Hooks.BeforeModel; f != nil {
			if err := f(r.ctx, p.Body); err != nil {
				r.drop(p)
				return nil, err
			}
		}
		a, err := r.agent.client.Speak(r.ctx, &provider.Turn{Body: p.Body, Betas: p.Betas, Backoff: r.agent.opts.Backoff}, r.hear)
		if err == nil {
			next, err := r.behind(p, a)
			if err != nil {
				return nil, err
			}
			if next == nil {
				return a, r.took(p, a)
			}
			p = next
			continue
		}
		status, body := failed(err)
		if body != nil {
			if next, ok := r.agent.opts.Engine.Recover(r.ctx, p, status, body); ok {
				p = next
				r.pour(p)
				r.tellPour()
				continue
			}
		}
		return nil, errors.Join(err, r.broke(p, a, status))
	}
}

// took takes an answer: into the engine, the meter and the history.
func (r *asking) took(p *engine.Prepared, a *provider.Answer) error {
	r.agent.opts.Engine.Finish(p, engine.Response{Status: http.StatusOK, Usage: a.Usage, Content: a.Content, Stop: a.Stop, Batch: a.Batch, BookedAs: a.Item})
	r.unseal()
	r.asked = r.snapshot(p, a)
	if err := r.message(p, a, r.meter.book(a, sizeOf(p))); err != nil {
		return err
	}
	if f := r.agent.opts.Hooks.AfterModel; f != nil {
		return f(r.ctx, a)
	}
	return nil
}

// broke takes what came of an answer that broke off, or was interrupted: what was heard stays in the history.
func (r *asking) broke(p *engine.Prepared, a *provider.Answer, status int) error {
	if a == nil || a.Text == "" && a.Usage == (decant.Usage{}) {
		r.agent.opts.Engine.Finish(p, engine.Response{Status: status})
		return nil
	}
	res := engine.Response{Status: http.StatusOK, Usage: a.Usage, Broken: true, Partial: []byte(a.Text), Came: len(a.Text)}
	billed := less(p.Billed(res), p.Paid()) // which is booked
	r.agent.opts.Engine.Finish(p, res)
	spent := r.meter.book(&provider.Answer{Usage: billed}, sizeOf(p))
	if len(a.Content) == 0 {
		return r.step(&step{Spent: spent})
	}
	return r.message(p, a, spent)
}

// refusalBody returns a refusal as the Messages API writes it.
func refusalBody(f *provider.Failure) []byte {
	b := jsonspan.AppendQuote([]byte(`{"type":"error","error":{"type":`), f.Kind)
	b = jsonspan.AppendQuote(append(b, `,"message":`...), f.Message)
	return append(b, `}}`...)
}
