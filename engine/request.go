package engine

import (
	"cmp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/preset"
)

// Mode is how much of its work an engine does.
type Mode string

// The modes.
const (
	Manage  Mode = "manage"  // decide and send views
	Observe Mode = "observe" // record and plan, change nothing
	Off     Mode = "off"     // neither
)

// A Request is one request of a client for an answer of a model.
type Request struct {
	Dialect dialect.Dialect // of the API that it is made to; nil: the Messages API

	Tenant  string   // whose it is; empty for a store that serves one user
	Session string   // the client's own id of the conversation; empty: the one that the body names, if it does
	Project string   // what it is about, when the client says
	Body    []byte   // as the client sent it; it must not change afterwards
	Betas   []string // that it asks for by headers (docs/reference/anthropic.md, "Betas")

	// Upstream is the base URL of the provider that it goes to: what was found out about an account there
	// is remembered for it.
	Upstream string

	// Budgets limit what may have been spent when this request comes, besides the engine's own.
	Budgets []budget.Budget

	Preset *preset.Preset // nil: the engine's
	Sealed int            // it is what was sent before, with more behind it, and poured only where the window has not so many tokens left; 0: as the preset says
	Mode   Mode           // empty: the engine's
	Pauses bool           // who sends it asks Engine.Paused about each answer before anybody sees it, so that the model may pause behind a summary
	Count  bool           // only the size is asked for: nothing is committed

	held      bool // a later one may go on from its answer, by the id of it
	thread    bool // a later one will
	elsewhere bool // it goes on from an answer that is not stored
}

// A Response is what the provider answered to a prepared request.
type Response struct {
	Status  int          // as in HTTP
	ID      string       // by which a later request may name the answer in place of the conversation up to it; empty: none may
	Usage   decant.Usage // of the pass that wrote the answer, as reported; zero when it was not
	Extra   decant.Usage // of other passes, which are billed as well, such as summaries by the provider
	Content []byte       // of the answer, a JSON list of blocks; nil when there was none
	Stop    string       // why the model stopped
	Broken  bool         // the answer ended before its end: it counts as none

	Partial []byte // what was said in an answer that broke off, as far as it was kept
	Came    int    // bytes of all that was said, kept or not, in further choices too; 0 where it came in one piece that is Content

	Organization string // whom the provider has answered, as its header names it; empty when it does not
	Editing      bool   // the answer says what context editing did
	Cleared      int    // results that it left out of the prompt
	Batch        bool   // it came with a batch, at the price of batches
	BookedAs     string // under this id, by which the same answer is booked once although Finish is told of it again, as after a restart; empty: by the request's own
}

// Billed returns the usage for which an answer to the request is booked: what was reported. Of one that broke off
// the provider may not have said yet what it took, but it is paid all the same, and who cuts each answer short must
// not get it for nothing: then the prompt counts as it was estimated, and what has come of the answer is counted.
func (p *Prepared) Billed(res Response) decant.Usage {
	return p.charged(res).Add(res.Extra).Add(p.passes)
}

// markers returns the cache markers of ours in the request, nil where none are for us to add.
func (p *Prepared) markers() *plan.AddedMarkers {
	if p.incoming == nil {
		return nil
	}
	return p.incoming.marks
}

// learnMarkers lets the engine know what cache markers of ours have brought.
func (p *Prepared) learnMarkers(u decant.Usage, at cost.Terms) {
	x := p.markers()
	if x == nil {
		return
	}
	in := p.out.Input
	p.incoming.e.autoCache.Learn(x, u, in.Fixed, func(u decant.Usage) float64 { return in.Price(u, at).USD() })
}

// charged is Billed for the pass that wrote the answer. Of an answer that broke off, or whose server says nothing of its
// usage, it is counted here.
func (p *Prepared) charged(res Response) decant.Usage {
	u := res.Usage
	reported, came := u.Prompt()+res.Extra.Prompt() > 0, len(res.Content) > len("[]") || res.Came > 0
	if res.Status/100 != 2 || !res.Broken && (reported || !came) {
		return u
	}
	if u.Prompt() == 0 {
		u.Input = cmp.Or(p.Report.After, len(p.Body)/bytesPerToken)
	}
	u.Output = max(u.Output, p.said(res))
	return u
}

// bytesPerToken is what is assumed of text that is not there to be counted. It is rather few.
const bytesPerToken = 3

// said returns how many tokens have come of an answer, as far as it is known.
func (p *Prepared) said(res Response) int {
	if !res.Broken {
		res.Partial = res.Content
	}
	lost := max(0, res.Came-len(res.Partial)) / bytesPerToken
	if p.out == nil {
		return lost + len(res.Partial)/bytesPerToken
	}
	return lost + p.out.Estimator.Count(string(res.Partial))
}
