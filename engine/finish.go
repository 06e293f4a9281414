package engine

import (
	"sync"

	"github.com/decantdev/decant/engine/internal/book"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/internal/purse"
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
//
// A request is finished once, whichever of its forms is passed (see Recover and Paused): further calls do nothing.
func (e *Engine) Finish(p *Prepared, res Response) {
	if p.out == nil && p.ending != nil && p.ending.apart != nil {
		p.ending.once.Do(func() { e.bookApart(p, res) })
	}
	if p.out == nil || p.out.Count {
		return
	}
	p.ending.once.Do(func() {
		e.flusher.answered(p, &res) // before the archive, which brings what was sent up to date
		if e.warmer != nil && p.answeredWhole(&res) && !res.Batch {
			e.warmer.Answered(&plan.Rested{
				Key: p.key(), Draft: p.out.Draft, Marks: p.out.Snapshot.Marks(), Body: p.Body, Betas: p.Betas, Usage: p.charged(res),
			})
		}
		if res.Status/100 == 2 && p.out.Trial == nil {
			e.ahead.begin(p.out.Draft, p.Body, res.Content)
		}
		e.archive(p, res)
	})
}

// answeredWhole reports whether a request of a stored conversation, which is more than observed, was answered to its
// end.
func (p *Prepared) answeredWhole(res *Response) bool {
	return res.Status/100 == 2 && !res.Broken && p.out.Trial == nil && p.Conversation != ""
}

// An ending is what ends with a request, once, however many forms of it were prepared.
type ending struct {
	once   sync.Once
	flight *match.Flight      // nil: it holds nothing that is stored
	held   *purse.Reservation // what the request may cost at most, nil: no budget applies
	apart  *plan.Draft        // what it is priced as if its conversation could not be looked up, else nil
}

// archive has it archived how a request ended that was read.
func (e *Engine) archive(p *Prepared, res Response) {
	held := p.ending.held
	e.flights.Leave(p.ending.flight)
	if res.Status/100 != 2 {
		e.purse.Release(held)
		if !p.out.Stored() && p.out.Announced == "" && p.passes.Context() == 0 {
			return
		}
	}
	res.Organization = plan.AccountName(res.Organization)
	billed := p.charged(res)
	if res.Broken {
		res.Usage.Output = 0 // the client may send back any part of it, or none
	}
	if !p.incoming.req.held {
		res.ID = ""
	}
	f := book.Answered{
		Answer: book.Answer{
			Status: res.Status, ID: res.ID, Usage: res.Usage, Extra: res.Extra, Content: res.Content, Stop: res.Stop, Broken: res.Broken,
			Organization: res.Organization, Batch: res.Batch, BookedAs: res.BookedAs,
		},
		Out: p.out, Prompt: p.out.Prompt, Body: p.Body, Conversation: p.Conversation, Markers: p.markers(), Held: held, Passes: p.passes, Billed: billed, Time: e.opts.Now().UTC(),
	}
	if f.Answered() {
		p.learnMarkers(billed, f.Terms())
	}
	(&learner{e, p.out.Draft}).answered(res)
	f.Out = p.out.Copy() // the archive brings it up to date, and the caller may still look at its own
	if !e.queue.Add(p.out.Start, f) {
		e.purse.Release(held)
	}
	if p.incoming.req.thread { // the next request may come to another process
		e.queue.Hasten(p.out.Start)
	}
}
