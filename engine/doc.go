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
// The stations of a request are files and packages, in this order: prepare.go (an arrival is tried as often as others
// commit first) → match.go (whose conversation it is) → internal/draft (what was decided about it, replayed) →
// internal/decide (what comes in, and whether a pour is due) → internal/pour (the pour, on a copy for each route) →
// internal/ticket (what is sent) → commit.go → till.go (what it may cost is held back). When its answer is there:
// finish.go, verdict.go (what it says of the provider), internal/outbox (where it waits), archive.go, ledger.go (what it
// cost). When it was refused: recover.go. When a step of ours fails: fallback.go. When it is only observed: observe.go.
//
// [Engine.Undo], [Engine.Preview] and [Engine.Pin] plan changes of stored conversations with their price.
// [Engine.Thread] does all of it for programs without HTTP.
package engine
