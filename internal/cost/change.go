package cost

import (
	"math"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// A Change is what a rewrite of a conversation's history does to its prompt, in tokens.
type Change struct {
	Prompt int     // before the change
	Freed  int     // S: less in every later prompt
	Behind int     // L: the rest behind the first change, which is written again
	Cold   bool    // the cache has expired: everything is written again in any case
	Plain  bool    // nothing is cached: everything is paid in full in any case
	Hour   bool    // the conversation's cache entries live for an hour
	OwnUSD float64 // our own model calls
}

// Price returns what the change costs now and saves later with the model at a time, assuming that the
// cache is warm and that requests go on as before. It returns false when the model's prices are not
// known: the dollars are zero then and mean nothing, and BreakEven is by the usual proportions of
// prices.
//
// The rewrite costs L(w-r) once, the conversation is cheaper by what the prompt before and after it
// cost to read, S r in one price tier.
func (c Change) Price(m token.Model, at time.Time) (decant.Price, bool) {
	before, ok1 := tariff(&m, at, c.Prompt, c.Hour)
	after, ok2 := tariff(&m, at, c.Prompt-c.Freed, c.Hour)
	ok := ok1 && ok2
	if !ok {
		before, after = usual, usual
	}
	if c.Plain {
		before, after = before.plain(), after.plain()
	}
	p := decant.Price{Saved: c.Freed}
	var once float64
	if !c.Cold && !c.Plain {
		p.CacheLost = max(0, c.Behind)
		once = float64(p.CacheLost) * (after.write - after.read) / 1e6
	}
	save := (float64(c.Prompt)*before.read - float64(c.Prompt-c.Freed)*after.read) / 1e6
	if ok {
		p.CostUSD, p.SaveUSD = once+c.OwnUSD, save
		once = p.CostUSD
	}
	p.BreakEven = breakEven(once, save)
	return p, ok
}

// breakEven returns after how many requests a saving has paid for what was spent once, -1 for never.
func breakEven(once, save float64) int {
	if once <= 0 {
		return 0
	}
	n := math.Ceil(once/save - 1e-9)
	if save <= 0 || n > math.MaxInt32 {
		return -1
	}
	return int(n)
}

// rewrite is what a token costs to read from the cache, to write to it, and without it, per million.
type rewrite struct{ read, write, input float64 }

// plain returns what a token costs that is not cached.
func (r rewrite) plain() rewrite { return rewrite{r.input, r.input, r.input} }

// usual is the proportion of most price lists: reading a tenth of the input price, writing a quarter
// more than it.
var usual = rewrite{read: 0.10, write: 1.25, input: 1}

// tariff returns the prices for a prompt of the given size; where cache writes are free, what is not
// read is billed as input.
func tariff(m *token.Model, at time.Time, prompt int, hour bool) (rewrite, bool) {
	p, _, ok := m.PriceAt(at)
	if !ok {
		return rewrite{}, false
	}
	r := p.At(prompt)
	write := r.Write5m
	if hour && r.Write1h.Known {
		write = r.Write1h
	}
	if !write.Known || write.USD == 0 {
		write = r.Input
	}
	if !write.Known || !r.CacheRead.Known {
		return rewrite{}, false
	}
	return rewrite{r.CacheRead.USD, write.USD, r.Input.USD}, true
}
