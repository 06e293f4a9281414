package cost

import (
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// A KeepWarm decides online whether a request of one output token is sent over the prefix of a resting conversation,
// shortly before its cache entry expires, so that the next request reads it instead of writing it again. The zero
// value has seen nothing. Amounts are in US dollars.
//
// In one pause it spends at most what losing the entry would cost, as who rents skis until they could have
// been bought. That is at most twice what somebody pays who knows how long the pause lasts, unless the second
// limit ends it before. Over the conversation it spends no more than [KeepWarmShare] of what the requests
// have cost so far, and what it has saved. So at any moment
//
//	with = without + Spent - Saved <= without + KeepWarmShare * Paid <= (1 + KeepWarmShare) * without,
//
// whatever the user does.
type KeepWarm struct {
	Paid  float64 // for requests so far, as they would have cost without this
	Spent float64 // on keeping warm
	Saved float64 // by it
}

// KeepWarmShare is the part of what a conversation has cost that may be lost by keeping it warm.
const KeepWarmShare = 0.02

// Ping reports whether one more such request is sent in the present pause. sent is what those before it in this pause
// have cost, one what this one costs, and lost by how much the next request is dearer if the entry has expired.
func (k *KeepWarm) Ping(sent, one, lost float64) bool {
	return sent+one <= lost && k.Spent+one <= KeepWarmShare*k.Paid+k.Saved
}

// PingAhead is how long before an entry expires it is used once more.
const PingAhead = 30 * time.Second

// An Entry is what a request has left in the provider's cache, and what becomes of the next one if that is lost.
type Entry struct {
	Model token.Model
	At    time.Time    // decides which prices hold
	Usage decant.Usage // of the request
	Life  time.Duration
	Safe  int // tokens at its beginning that are kept longer

	// Poured says that the next request is poured if it finds nothing in the cache, which costs nothing extra then. Kept
	// warm, it is poured later and at a price, so that nothing is known to be lost with the entry.
	Poured bool
}

// Tokens returns how many tokens are in the cache.
func (e *Entry) Tokens() int { return e.Usage.CacheRead + e.Usage.CacheWrite }

// Ping returns what a request of one output token costs that uses the entry.
func (e *Entry) Ping() float64 {
	return e.Price(decant.Usage{CacheRead: e.Tokens(), Input: e.Usage.Input, Output: 1})
}

// Lost returns by how much the next request is dearer if so many tokens of the entry have expired.
func (e *Entry) Lost(tokens int) float64 {
	if e.Poured {
		return 0
	}
	return e.again(max(0, tokens-e.Safe))
}

// again returns by how much writing tokens is dearer than reading them.
func (e *Entry) again(tokens int) float64 {
	u := decant.Usage{CacheWrite: tokens}
	if e.Life >= LongLife {
		u.Write1h = tokens
	}
	return e.Price(u) - e.Price(decant.Usage{CacheRead: tokens})
}

// Price returns what usage of the entry's model costs, 0 where no price is known.
func (e *Entry) Price(u decant.Usage) float64 {
	usd, known := Of(e.Model, u, Terms{At: e.At}).Total()
	if !known {
		return 0
	}
	return usd
}
