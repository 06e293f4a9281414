package engine

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/book"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/store"
)

// A Prepared is a request that is ready to be sent.
type Prepared struct {
	Body         []byte   // to send in place of the request's body
	Betas        []string // that Body needs beyond those that the client asks for
	Conversation string   // id of the conversation, empty when it is not known
	Report       Report
	Fault        error // what of Decant's own failed, nil when nothing did

	incoming *incoming      // what it was made from, nil: it could not be read
	out      *book.Outgoing // nil: nothing is known about the conversation
	ending   *ending        // what ends with the request, the same for all its forms
	passes   decant.Usage   // of summaries behind which the model has paused before it answered
	pauses   int            // how many these were
	recovers int            // how often it was made anew after a refusal
}

// Footprint returns about how many bytes a prepared request takes in memory until it is finished, besides its
// bodies: as it was read, and as it is sent.
func (p *Prepared) Footprint() int64 {
	if p.incoming == nil {
		return 0
	}
	return 2 * int64(match.Footprint(nil, len(p.incoming.prompt.Blocks)))
}

// Poor returns the checkpoint that is new and says less than its preset asks of a record, nil when there is
// none.
func (r *Report) Poor() *decant.Checkpoint {
	for i := range r.Decisions {
		if cp := r.Decisions[i].Checkpoint; cp != nil && cp.Poor {
			return cp
		}
	}
	return nil
}

// A Report says what was decided about a request.
type Report struct {
	Version   int64             // of the conversation whose decisions are in force; 0: it is not stored yet
	Relation  string            // how the request stands to the conversation
	Reason    policy.Reason     // why there was a pour, empty when there was none
	Route     string            // how it was carried out
	Decisions []decant.Decision // that are new
	Plan      *decant.Plan      // of the pour, or of the one that would have been made
	Planned   *Planned          // what would have been done about a request that was only observed; nil: it was not
	Before    int               // tokens of the request before the decisions that are new
	After     int               // and with them
	LeftOut   int               // tokens of the conversation that the view lacks, see policy.LeftOut
	Freed     int               // of them, by the decisions that are new; negative when these bring more back
	Window    int               // tokens that the model takes
	Messages  int               // of the request

	// Of a Thread's view: what a request with it needs besides, nil or empty for nothing.
	ContextManagement []byte   // value of the parameter of that name, in the API's own JSON
	Betas             []string // see Prepared.Betas

	Fault error // of a Thread's view: what of Decant's own failed, nil when nothing did
}

// View returns what is sent as a conversation, nil when the request could not be read. Its messages
// have the numbers of the transcript.
func (p *Prepared) View() *decant.Conversation {
	if p.out == nil {
		return nil
	}
	return p.out.View
}

// Transcript returns what was asked for as a conversation with nothing poured, nil when the request could not be read.
// Its messages have the numbers of the transcript.
func (p *Prepared) Transcript() *decant.Conversation {
	if p.out == nil {
		return nil
	}
	return p.out.Conv
}

// InForce returns the decisions under which the transcript is what is sent, oldest first. Nobody may change them.
func (p *Prepared) InForce() []decant.Decision {
	if p.out == nil {
		return nil
	}
	return slices.Concat(p.out.InForce, p.out.Made)
}

// Planned is what would have been done about a request that was only observed. It is planned on top of what
// was planned for the requests before, as if that had been done: so it shows what a conversation would have
// come to, pour for pour.
type Planned struct {
	Reason    policy.Reason // why there would have been a pour, empty when there would have been none
	Route     string
	Tokens    int // of the request that would have been sent, as metered
	Decisions int // that would have been made
	Risk      int // facts that were in the view before the pour and would not have been after it
}

// preparedOf returns what is sent, in a body.
func preparedOf(out *book.Outgoing, body []byte) *Prepared {
	m := out.Match
	out.Send()
	p := &Prepared{Body: body, Betas: out.NeededBetas(), Report: reportOf(out), out: out}
	switch {
	case out.Starts():
		p.Conversation = out.NewID()
	case m.Stored != nil:
		p.Conversation = m.Stored.Key.ID
		p.Report.Version = m.State.Version
	}
	return p
}

// reportOf returns what was decided about the request.
func reportOf(out *book.Outgoing) Report {
	in, o := out.Input, &out.Outcome
	r := Report{
		Relation: string(in.Match.Relation), Reason: o.Reason, Route: o.Route, Plan: o.Plan, Before: o.Before, After: o.After,
		Decisions: out.Decisions, LeftOut: out.Snapshot.Lacks, Window: in.Model.Window, Messages: len(in.Conv.Messages),
	}
	if len(out.Decisions) > 0 && !in.Count { // what is only counted is decided by the request itself
		r.Freed = r.LeftOut - policy.LeftOut(out.InForce)
	}
	return r
}

// key returns the key of the conversation, whose id is empty when it is not known.
func (p *Prepared) key() store.Key {
	return store.Key{Tenant: p.out.Start.Tenant, ID: p.Conversation}
}
