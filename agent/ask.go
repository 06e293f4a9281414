package agent

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/provider"
)

// errNoRoom means that the budget has no room for a call and a final answer after it.
var errNoRoom = errors.New("no room for another call")

// wrapUpTokens is more than what is said to a model that must give its final answer takes.
func (a *Agent) wrapUpTokens() int { return len(a.opts.WrapUp)/2 + 50 }

// ask asks the model for the next answer and takes it into the history. last says which limit makes it the last one; empty: none.
func (r *run) ask(last Stop) (*provider.Answer, error) {
	if last != "" {
		r.wrapUp()
	}
	p, err := r.prepare(last != "")
	if err != nil {
		return nil, err
	}
	if p, err = r.hold(p, last); err != nil {
		return nil, err
	}
	return r.send(p)
}

// prepare asks the engine what to send.
func (r *run) prepare(final bool) (*engine.Prepared, error) {
	o := &r.agent.opts
	p, err := o.Engine.Prepare(r.ctx, &engine.Request{
		Tenant: o.Tenant, Session: r.root, Project: o.Project, Preset: o.Preset, Body: r.agent.body(r.Messages(), final),
	})
	if err != nil {
		return nil, err
	}
	if pour := poured(p); pour != nil {
		r.emit(Event{Kind: EventPour, Pour: pour})
	}
	return p, nil
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

// hold holds back what a prepared request may cost. A final answer for which there is no room gets a smaller prompt: what the
// newest calls have returned is left out of it. That was held back from the beginning.
func (r *run) hold(p *engine.Prepared, last Stop) (*engine.Prepared, error) {
	most := r.agent.opts.MaxTokens
	if last == "" {
		if r.meter.hold(sizeOf(p), most, r.agent.wrapUpTokens()) {
			return p, nil
		}
		r.drop(p)
		return nil, errNoRoom
	}
	if r.meter.holdFinal(sizeOf(p), most) {
		r.meter.begin()
		return p, nil
	}
	r.drop(p)
	if len(r.made) == 0 || r.meter.final == (amount{}) {
		return nil, ErrBudget
	}
	r.leaveOut()
	p, err := r.prepare(true)
	if err == nil {
		r.meter.begin()
	}
	return p, err
}

// drop tells the engine that a prepared request is not sent.
func (r *run) drop(p *engine.Prepared) { r.agent.opts.Engine.Finish(p, engine.Response{}) }

// wrapUp says to the model that its next answer is the final one.
func (r *run) wrapUp() {
	h := r.Messages()
	if m, ok := withBlock(h[len(h)-1], textBlock(r.agent.opts.WrapUp)); ok {
		r.replaceLast(m)
		return
	}
	r.add(said(r.agent.opts.WrapUp))
}

// leaveOut takes the results of the newest calls out of the last message.
func (r *run) leaveOut() {
	var blocks [][]byte
	for i := range r.made {
		blocks = append(blocks, resultBlock(r.made[i].ID, Result{Text: "Left out."}))
	}
	r.replaceLast(userMessage(append(blocks, textBlock(r.agent.opts.WrapUp))))
	r.mu.Lock()
	r.steered = append(r.told, r.steered...) // for the next run: what the user said is not lost
	r.mu.Unlock()
}

// send sends a prepared request, in another form once more where the provider refuses its form.
func (r *run) send(p *engine.Prepared) (*provider.Answer, error) {
	for {
		if f := r.agent.opts.Hooks.BeforeModel; f != nil {
			if err := f(r.ctx, p.Body); err != nil {
				r.drop(p)
				return nil, err
			}
		}
		a, err := r.agent.client.Speak(r.ctx, &provider.Turn{Body: p.Body, Betas: p.Betas}, r.hear)
		if err == nil {
			return a, r.took(p, a)
		}
		status, body := failed(err)
		if next, ok := r.agent.opts.Engine.Recover(context.WithoutCancel(r.ctx), p, status, body); ok && status != 0 && r.ctx.Err() == nil {
			p = next
			continue
		}
		r.broke(p, a, status)
		return nil, err
	}
}

// took takes an answer: into the engine, the meter and the history.
func (r *run) took(p *engine.Prepared, a *provider.Answer) error {
	r.agent.opts.Engine.Finish(p, engine.Response{Status: http.StatusOK, Usage: a.Usage, Content: a.Content, Stop: a.Stop})
	r.meter.book(a.Usage, sizeOf(p))
	r.message(a, sizeOf(p), p.Report.Window)
	if f := r.agent.opts.Hooks.AfterModel; f != nil {
		return f(r.ctx, a)
	}
	return nil
}

// broke takes what came of an answer that broke off, or was interrupted: what was heard stays in the history.
func (r *run) broke(p *engine.Prepared, a *provider.Answer, status int) {
	if a == nil || a.Text == "" && a.Usage == (decant.Usage{}) {
		r.agent.opts.Engine.Finish(p, engine.Response{Status: status})
		return
	}
	res := engine.Response{Status: http.StatusOK, Usage: a.Usage, Broken: true, Partial: []byte(a.Text), Came: len(a.Text)}
	billed := p.Billed(res)
	r.agent.opts.Engine.Finish(p, res)
	r.meter.book(billed, sizeOf(p))
	if len(a.Content) > 0 {
		r.message(a, sizeOf(p), p.Report.Window)
	}
}

// refusalBody returns a refusal as the Messages API writes it.
func refusalBody(f *provider.Failure) []byte {
	b := jsonspan.AppendQuote([]byte(`{"type":"error","error":{"type":`), f.Kind)
	b = jsonspan.AppendQuote(append(b, `,"message":`...), f.Message)
	return append(b, `}}`...)
}
