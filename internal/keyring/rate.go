package keyring

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/decantdev/decant/store"
)

// A RateError says that a key has used up a limit for now.
type RateError struct {
	Limit int           // per minute
	Of    string        // "requests" or "tokens"
	Wait  time.Duration // until the key may be used again
}

// Error names the limit and when to come again.
func (e *RateError) Error() string {
	return fmt.Sprintf("this key may use %d %s a minute; try again in %d s", e.Limit, e.Of, e.Seconds())
}

// Seconds returns the time to wait in whole seconds, at least one.
func (e *RateError) Seconds() int { return max(1, int(math.Ceil(e.Wait.Seconds()))) }

// A meter holds what is left of a key's limits.
type meter struct {
	mu               sync.Mutex
	requests, tokens bucket
}

func newMeter(l store.Limits) *meter {
	return &meter{requests: bucket{limit: l.Requests}, tokens: bucket{limit: l.Tokens}}
}

// enter takes a request from the meter, or returns a *RateError. It is not known yet how many tokens the request will
// use: they are taken when it ends, and the next request waits for what was overdrawn.
func (m *meter) enter(now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range []struct {
		*bucket
		of   string
		need float64
	}{{&m.requests, "requests", 1}, {&m.tokens, "tokens", math.SmallestNonzeroFloat64}} {
		if wait := b.lacks(b.need, now); wait > 0 {
			return &RateError{Limit: b.limit, Of: b.of, Wait: wait}
		}
	}
	m.requests.take(1)
	return nil
}

func (m *meter) use(tokens int, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tokens.lacks(0, now)
	m.tokens.take(float64(tokens))
}

// A bucket fills evenly with its limit per minute, and holds no more than that. It begins full. A bucket without a
// limit always has enough.
type bucket struct {
	limit int
	spent float64 // of the limit; more than the limit is overdrawn
	at    time.Time
}

// lacks fills the bucket up to now and returns how long it takes until it holds n.
func (b *bucket) lacks(n float64, now time.Time) time.Duration {
	if b.limit == 0 {
		return 0
	}
	rate := float64(b.limit) / time.Minute.Seconds()
	if !b.at.IsZero() {
		b.spent = max(0, b.spent-rate*max(0, now.Sub(b.at).Seconds()))
	}
	b.at = now
	missing := n - (float64(b.limit) - b.spent)
	if missing <= 0 {
		return 0
	}
	return max(1, time.Duration(missing/rate*float64(time.Second)))
}

func (b *bucket) take(n float64) {
	if b.limit > 0 {
		b.spent += n
	}
}
