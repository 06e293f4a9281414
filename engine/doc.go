// Package engine takes each request of a client to the conversation that it belongs to, and decides what is sent in its
// place.
//
// [Engine.Prepare] finds the conversation by the chain of its blocks, replays what was decided about it, and decides at
// four moments and no others: when a result arrives for the first time, when [policy.Due] says that a pour is due, when
// the provider refuses a request for its size, and when it refuses thinking that belongs to another history
// ([Engine.Recover]). What to change is package policy's; the engine finds a route that is legal in the conversation's
// state, commits what was decided before the bytes leave, by compare-and-set, so that any engine on the store sends
// the same bytes, and archives behind the answer what the provider said ([Engine.Finish]). Between pours the view of a
// conversation grows at its end only.
//
// A request is one value that moves through five stations. Each takes a value and returns the next:
//
//	incoming ──match──▶ match.Match ──replay──▶ plan.Draft ──decide──▶ plan.Draft ──render──▶ body ──commit──▶ Prepared
//
// follow.go puts the conversation in front of a request that names the answer which it goes on from. incoming.go matches
// and replays (internal/match, internal/plan), internal/plan decides, internal/book commits. prepare.go goes through the
// stations as often as others commit first, and budget.go holds back what the request may cost. When the answer is there:
// finish.go, learn.go (what it tells of the provider), and internal/book, where it waits, is archived and booked. When it
// was refused: recover.go. When a step of ours fails: fallback.go. When it is only observed: observe.go.
//
// [Engine.Undo], [Engine.Preview] and [Engine.Pin] plan changes of stored conversations with their price.
// [Engine.Thread] does all of it for programs without HTTP.
package engine
