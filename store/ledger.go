package store

import (
	"time"

	"github.com/decantdev/decant"
)

// Money is an amount in billionths of a US dollar: any list price times any number of tokens is a
// whole number of them, so that parts add up to totals exactly.
type Money int64

// USD returns the amount in dollars.
func (m Money) USD() float64 { return float64(m) / 1e9 }

// A Spend is what one call to a model cost and would have cost.
type Spend struct {
	ID      string // id of the call; a second spend with it is ignored, so that nothing counts twice
	Time    time.Time
	Model   string
	Own     bool         // a call that Decant made itself
	Purpose string       // of an own call, in a word; empty: not known
	Usage   decant.Usage // as reported
	Without decant.Usage // usage of the same request if Decant had not changed it; zero for an own call
	Cost    Money        // of Usage
	Bare    Money        // of Without
	Rewrite Money        // part of Cost: for cache written again because Decant changed the prefix
	Over    bool         // without Decant the request would exceed the model's window and could not have been sent
	Trial   *Trial       // of a request that was only observed; else nil
	Writes  []Write      // as in the request of the same id, where they are kept
}

// A Trial is what a request that was only observed would have cost.
type Trial struct {
	Prompt int   // tokens that would have been sent
	Cost   Money // of the whole request
}

// A SpendQuery selects spends. The zero value selects all of the tenant "".
type SpendQuery struct {
	Tenant       string
	Conversation string    // empty: all
	Since        time.Time // inclusive; zero: any
	Until        time.Time // exclusive; zero: any
}

// A Sum is what was spent.
type Sum struct {
	Tokens int // of prompts and answers
	Cost   Money
}

// A Total is the sum of the spends of one day and model.
type Total struct {
	Day     string // "2026-11-20", in UTC
	Model   string
	Calls   int // the client's
	Own     int // Decant's
	Usage   decant.Usage
	Without decant.Usage
	Cost    Money
	OwnCost Money // part of Cost
	Bare    Money
	Rewrite Money // part of Cost
	Over    Excess
	Trials  Trials

	Warm     int   // part of Own: calls whose purpose is ForCache
	WarmCost Money // part of OwnCost
}

// ForCache is the purpose of calls that keep a provider's cache warm.
const ForCache = "cache"

// Trials are the part of a total for requests that were only observed.
type Trials struct {
	Calls  int
	Sent   int   // tokens of their prompts
	Prompt int   // tokens that would have been sent instead
	Cost   Money // part of the total's
	Would  Money // what they would have cost
}

// Net returns what would have been saved; negative when it would have cost more than it saved.
func (t *Trials) Net() Money { return t.Cost - t.Would }

// An Excess is the part of a total for requests that no client could have sent unchanged, because their prompts
// exceed the model's window. Nobody would have paid what these would have cost.
type Excess struct {
	Calls   int
	Sent    int   // tokens of the prompts that were sent instead
	Without int   // tokens of the unchanged prompts
	Cost    Money // part of the total's
	Bare    Money // part of the total's
}

// Net returns what Decant saved on requests that could have been sent without it; negative when it cost more
// than it saved.
func (t *Total) Net() Money { return t.Bare - t.Over.Bare - (t.Cost - t.Over.Cost) }
