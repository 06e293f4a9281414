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
	ID      string // of the call; a second spend with the same id is ignored, so that nothing counts twice
	Time    time.Time
	Model   string
	Own     bool         // a call that Decant made itself
	Usage   decant.Usage // as reported
	Without decant.Usage // of the same request had Decant not changed it; zero for an own call
	Cost    Money        // of Usage
	Bare    Money        // of Without
	Rewrite Money        // part of Cost: cache written again because Decant changed the prefix
}

// A SpendQuery selects spends. The zero value selects all of the tenant "".
type SpendQuery struct {
	Tenant       string
	Conversation string    // empty: all
	Since        time.Time // inclusive; zero: any
	Until        time.Time // exclusive; zero: any
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
}

// Net returns what Decant saved; negative when it cost more than it saved.
func (t *Total) Net() Money { return t.Bare - t.Cost }
