package policy

import (
	"cmp"
	"time"
)

// A Reason is the cause of a pour.
type Reason string

// The reasons. The provider causes overflow and refusal; the schedule decides the rest before a request
// is sent.
const (
	Necessary Reason = "necessary" // the window demands it
	Free      Reason = "free"      // the provider's cache is cold: the rewrite costs nothing extra
	Paid      Reason = "paid"      // carrying what could go has cost as much as the rewrite will
	Routine   Reason = "routine"   // the preset clears by rule what has become old
	Overflow  Reason = "overflow"  // the provider refused the request for its size
	Refusal   Reason = "refusal"   // the provider says that thinking belongs to another conversation
)

// A Situation is the input of the decision to pour.
type Situation struct {
	Limits

	Tokens   int // of the request, as metered
	Bytes    int // of the body as it would be sent
	MaxBytes int // largest body that the API takes

	Hold       bool // pour only at the hard limit
	Suppressed bool // recent pours freed too little, and nothing has changed since
	Routine    bool // something has become old that the preset clears by rule, see ClearRoutine

	Economy Economy
}

// Economy is what the schedule knows about money. The zero value never pours early. All prices are per
// token, in one currency.
type Economy struct {
	Early    bool          // early pours are permitted, and legal now
	Idle     time.Duration // since the last request
	Lifetime time.Duration // of the provider's cache entries, as the request's markers ask for
	Switched bool          // the model or the tools have just changed, and did not before, so the cache is useless

	Freed    int     // S: tokens that a pour of cheap reductions would free
	Behind   int     // L: tokens after the first change that would remain
	Whole    int     // tokens of the request, counted as Freed is; 0: counted as Tokens is
	Spent    float64 // what carrying S has cost so far
	Write    float64 // w
	Read     float64 // r
	Excess   Excess  // what a pour with a checkpoint would bring
	Rethink  float64 // what it costs to think again what the model forgets behind a change
	Least    int     // tokens of the request that a pour for money must leave; 0: any number
	Patience float64 // how many times the price of the rewrite Spent must reach; 0: once
}

// The least shares of a request that a pour must free: a pour that loses nothing, and any other pour.
const (
	worthCold = 0.02
	worth     = 0.05
)

// worthOf returns the least share of a request that a pour for a reason must free.
func worthOf(why Reason) float64 {
	switch why {
	case Free:
		return worthCold
	case Routine: // the preset says what is enough
		return 0
	}
	return worth
}

// Cold reports whether nothing of the previous request can be read from the cache.
func (e *Economy) Cold() bool { return e.Switched || e.Lifetime > 0 && e.Idle > e.Lifetime }

// Due returns why a pour is due, empty when it is not. It is a pure function; the reasons are those
// of the schedule, in their order:
//
// Necessary: the trigger or the API's limit of bytes is exceeded. On hold, or when pours have freed too
// little, only the hard limit counts.
//
// Routine: the preset says so, whatever it costs.
//
// Free: the cache is cold, so everything is written again whether the view changes or not. Then a smaller
// gain is enough, and only half as many rounds are kept (see EarlyPour): what would be poured at a price a
// few requests later goes now for nothing.
//
// Paid: a ski-rental rule. Carrying S tokens costs S·r with each request, removing them costs
// L·(w-r) once; they go when what carrying them has cost so far reaches the price of removing them.
// A model that forgets the thinking behind a change has to think it again: that is a part of the price, at a cold
// moment too.
// With a patience p of at least 1 and a fixed S and L this costs at most 1 + p times what the best choice in
// hindsight costs, plus one request of carrying. docs/ECONOMICS.md has the proof, and says why p is more
// than 1.
func Due(s Situation) Reason {
	limit := s.Trigger
	if s.Hold || s.Suppressed {
		limit = s.Hard()
	}
	switch e := &s.Economy; {
	case s.Tokens > limit, s.Bytes > s.MaxBytes:
		return Necessary
	case s.Hold || s.Suppressed:
		return ""
	case s.Routine:
		return Routine
	case !e.Early:
		return ""
	case e.Cold() && (s.covers() || s.thins(worthCold, s.little()/10) && float64(e.Freed)*e.Write >= e.Rethink):
		return Free
	case s.covers():
		return Paid
	case e.Excess.Left > 0 && e.cached(): // outlines in front of a checkpoint save less than they cost
		return ""
	case !s.thins(worth, s.little()):
		return ""
	case e.Spent > 0 && e.Spent >= e.worth(e.Behind):
		return Paid
	}
	return ""
}

// worth returns what carrying something must have cost before it goes at the price of a rewrite of so many tokens.
func (e *Economy) worth(rewritten int) float64 {
	return cmp.Or(e.Patience, 1) * (float64(rewritten)*(e.Write-e.Read) + e.Rethink)
}

// covers reports whether a pour with a checkpoint pays, and leaves enough.
func (s *Situation) covers() bool { return s.Economy.Covers() && s.leaves(s.Economy.Excess.Freed) }

// thins reports whether a pour without one frees enough, and leaves enough.
func (s *Situation) thins(share, least float64) bool {
	return s.frees(share, least) && s.leaves(s.Economy.Freed)
}

// leaves reports whether a pour that frees so many tokens leaves as many as a pour for money must. In a small window
// that is what any pour aims at.
func (s *Situation) leaves(freed int) bool {
	return s.Tokens-freed >= min(s.Economy.Least, s.Target)
}

// frees reports whether an early pour would free a share of the request, and so many tokens.
func (s *Situation) frees(share, least float64) bool {
	e := &s.Economy
	return e.Freed > 0 && float64(e.Freed) >= max(share*float64(max(s.Tokens, e.Whole)), least)
}

// little returns the size, in tokens, below which an early pour is never worth it: a hundredth of the window,
// 2,000 at most.
func (l Limits) little() float64 { return float64(min(2000, l.Window/100)) }

// Hard returns the size above which a request leaves almost no room for an answer.
func (l Limits) Hard() int { return l.Window - l.Reserve/4 }
