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
// A request meets the files in this order: engine.go (Prepare) → patience.go (as often as others come first) → match.go
// (whose conversation it is, and what is in force there: a query and its draft) → decide.go (inherit.go, decide.go,
// clear.go for what comes in; budget.go, schedule.go and economy.go for whether a pour is due; pour.go and route.go for
// making it, on a copy for each route) → draft.go (render) → ticket.go, commit.go. When its answer is there: finish.go,
// commit.go again, ledger.go (what it cost). When it was refused: recover.go. When we fail: fallback.go.
//
// [Engine.Undo], [Engine.Preview] and [Engine.Pin] plan changes of stored conversations with their price.
// [Engine.Thread] does all of it for programs without HTTP.
package engine
