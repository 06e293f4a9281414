package cost

import (
	"math"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// A Shadow follows what a client's own requests would have been billed for, had nobody changed them:
// requests that only grow, whose beginning the provider keeps as long as the client asks for. The zero
// value has seen no request.
type Shadow struct {
	Prompt int       // tokens of the request before
	At     time.Time // when it was made
}

// Next returns the usage of the next request, Output left out, and the shadow after it. life is how
// long the cache entries live that the request asks for, 0 when it asks for none; cold says that the
// model or the tools have changed, so that nothing of the cache can be used.
func (s Shadow) Next(prompt int, at time.Time, life time.Duration, cold bool) (decant.Usage, Shadow) {
	next := Shadow{prompt, at}
	if life == 0 {
		return decant.Usage{Input: prompt}, next
	}
	u := decant.Usage{CacheWrite: prompt}
	if !cold && !s.At.IsZero() && at.Sub(s.At) < life {
		u.CacheRead = min(s.Prompt, prompt)
		u.CacheWrite -= u.CacheRead
	}
	if life > shortLife {
		u.Write1h = u.CacheWrite
	}
	return u, next
}

// A Doubt is how little the model of the cache can be trusted for one conversation: 0 when what it
// predicts has come true, 1 when nothing is ever read from the cache.
type Doubt float64

// The constants of Doubt.
const (
	doubtWeight = 0.3 // of the newest observation
	doubtNoise  = 0.1 // share by which reports may fall short without meaning anything
)

// Observe compares how many tokens should have been read from the cache with how many were. More than
// predicted is no reason for doubt: it was cheaper than priced.
func (d Doubt) Observe(predicted, reported int) Doubt {
	if predicted <= 0 {
		return d
	}
	short := 1 - float64(reported)/float64(predicted)
	if short < doubtNoise {
		short = 0
	}
	out := Doubt((1-doubtWeight)*float64(d) + doubtWeight*short)
	if out < 0.01 {
		return 0
	}
	return out
}

// Read returns what a token costs to carry in one request when reading it costs read and writing it
// write: the dearer the less the cache can be trusted.
func (d Doubt) Read(read, write float64) float64 { return read + float64(d)*(write-read) }

// Billionths returns what u costs in billionths of a US dollar, and whether all of it has a known
// price. Any list price times any number of tokens is a whole number of them, so sums are exact.
func Billionths(m token.Model, u decant.Usage, t Terms) (int64, bool) {
	usd, ok := Of(m, u, t).Total()
	return int64(math.Round(usd * 1e9)), ok
}
