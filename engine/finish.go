package engine

import (
	"github.com/decantdev/decant/engine/internal/plan"
)

// Finish tells the engine how a prepared request was answered, so that it can be archived and that
// the next one is metered by what the provider reported. It returns at once; the archive is written
// behind it, when requests leave time for it or Options.ArchiveDelay has passed, in the order of the answers, and
// answers that waited for each other are written together. A request that comes before it is written is
// met by what is stored until then. Errors go to Options.Logger. While Options.Memory.Backlog is full nothing is
// archived.
//
// An answer is not part of the conversation before the client has sent it back. But what it answers is
// provisional no longer, unless the answer broke off; that a request was not answered is stored too, if
// what it ended with is.
func (e *Engine) Finish(p *Prepared, res Response) {
	if p.ticket == nil || p.ticket.Draft.Count {
		return
	}
	e.behind.flushes.answered(p, &res) // before the archive, which brings the ticket up to date
	rests(e, p, &res)
	if res.Status/100 == 2 && p.ticket.Trial == nil {
		e.behind.ahead.begin(p.ticket.Draft, p.Body, res.Content)
	}
	e.finish(p, res)
}

// finish archives how a request ended that was read.
func (e *Engine) finish(p *Prepared, res Response) {
	e.flights.Leave(p.flight)
	if res.Status/100 != 2 {
		e.till.purse.Release(p.held)
		if !p.ticket.Stored() && p.ticket.Announced == "" && p.passes.Context() == 0 {
			return
		}
	}
	f := finished{p, res, p.charged(res), e.opts.Now().UTC()}
	if f.res.Partial = nil; res.Broken {
		f.res.Usage.Output = 0 // the client may send back any part of it, or none
	}
	f.res.Organization = plan.AccountName(res.Organization)
	if f.answered() {
		p.remark(f.billed, f.terms())
	}
	(&verdict{e, p.ticket.Draft}).answered(f.res)
	own := *p
	own.ticket, f.Prepared = p.ticket.Copy(), &own // the archive brings it up to date, and the caller may still look at its own
	who := p.ticket.Draft.Start
	if !e.outbox.Add(who, f) {
		e.till.purse.Release(p.held)
	}
}

// rests lets a conversation that rests behind an answer be kept warm.
func rests(e *Engine, p *Prepared, res *Response) {
	if e.behind.warm == nil || res.Status/100 != 2 || res.Broken || res.Batch || p.ticket.Trial != nil || p.Conversation == "" {
		return
	}
	e.behind.warm.Answered(&plan.Rested{
		Key: p.key(), Draft: p.ticket.Draft, Marks: p.ticket.Sight.Prompt.Marks, Body: p.Body, Betas: p.Betas, Usage: p.charged(*res),
	})
}
