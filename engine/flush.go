package engine

import (
	"context"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/internal/flush"
	"github.com/decantdev/decant/store"
)

// A Flusher saves what is worth remembering of a conversation before a pour takes it out of the view. It is told behind
// the answer to a request, and nobody waits for it but Close. One conversation is told of several times in a cycle: the
// Flusher sees to it that a cycle is flushed once.
type Flusher interface {
	Flush(ctx context.Context, o *flush.Request) error
}

// flushes tell a flusher of conversations.
type flushes struct {
	by         Flusher // nil: nobody is told
	background *background
	note       func(error)
}

// closed tells of a conversation that its program has closed, whose last request was p.
func (f *flushes) closed(p *Prepared) {
	if f.by != nil && p.Conversation != "" && p.out.Preset.Flush.On {
		f.tell(p, &Response{}, p.Report.After, false)
	}
}

// answered tells of an answered request if its conversation is about to be poured, or was poured for the request.
func (f *flushes) answered(p *Prepared, res *Response) {
	if f.by == nil || res.Status/100 != 2 || res.Broken || p.out.Trial != nil || p.Conversation == "" {
		return
	}
	dr := p.out.Draft
	form := dr.Preset.Flush.Settled()
	size := max(dr.Outcome.After, res.Usage.Context())
	poured := decant.CheckpointIn(dr.Made) != nil
	if form.On && (poured || size > dr.Limits.Trigger-form.Ahead) {
		f.tell(p, res, size, poured)
	}
}

// tell tells of a request behind it.
func (f *flushes) tell(p *Prepared, res *Response, size int, poured bool) {
	o, err := occasionOf(p, res, size, poured)
	if err != nil {
		f.note(err)
		return
	}
	f.background.do(func(ctx context.Context) error { return f.by.Flush(ctx, o) })
}

// occasionOf returns what a flusher is told of a request. One that was poured is told of as it would have been sent
// otherwise.
func occasionOf(p *Prepared, res *Response, size int, poured bool) (*flush.Request, error) {
	dr := p.out.Draft
	in := dr.Input
	o := &flush.Request{
		Conversation: store.Key{Tenant: in.Start.Tenant, ID: p.Conversation}, Project: in.Project, Cycle: in.Checkpoints(),
		Dialect: in.Prompt.Dialect, Upstream: in.Upstream, Model: in.Model, Preset: dr.Preset,
		Sent: p.Body, Betas: slices.Concat(in.Betas, p.Betas), Answer: res.Content, Tokens: size, View: dr.View,
	}
	if poured {
		whole := dr.Copy() // without what it has decided
		whole.Made, whole.View, whole.Params, whole.Betas, whole.Outcome = nil, whole.Before, nil, nil, plan.Outcome{}
		body, err := whole.Render()
		if err != nil {
			return nil, err
		}
		o.Sent, o.Betas, o.Answer, o.View = body, slices.Concat(in.Betas, whole.NeededBetas()), nil, whole.View
		o.Tokens, o.Cycle = dr.Outcome.Before, o.Cycle-1 // the pour's own is stored by now
	}
	o.Room = o.Tokens+flushRoom <= dr.Limits.Window
	return o, nil
}

// flushRoom is how many tokens a flush takes: its prompt and its answer, and what the estimate may be off.
const flushRoom = 8_000
