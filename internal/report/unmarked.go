package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// Unmarked is what requests have sent again in full although it had been sent within the life of a cache entry: no cache marker
// stood behind it. Marked, it would have been read.
type Unmarked struct {
	Requests int     `json:"requests"`
	Tokens   int     `json:"tokens"`
	USD      float64 `json:"usd"` // that reading them would have saved, less what writing would have cost
}

// Add adds what the requests of one conversation in a period have sent again, at the prices of their models. Only requests count
// that go on with the one before, within five minutes, for a model whose provider asks for markers.
func (w *Unmarked) Add(requests []store.Request, in func(time.Time) bool, catalog *token.Catalog) {
	var before *store.Request
	for i := range requests {
		r := &requests[i]
		if !r.Answered() || r.Usage.Prompt() == 0 || !in(r.Time) {
			continue
		}
		m, _ := catalog.Lookup(r.Model)
		if before != nil && before.Model == r.Model && r.Length > before.Length && m.Provider == token.Anthropic && r.Time.Sub(before.Time) < cost.LifeOf("5m") {
			w.pair(before, r, m)
		}
		before = r
	}
}

// pair adds what a request has sent again of the one before it.
func (w *Unmarked) pair(before, r *store.Request, m token.Model) {
	u := r.Usage
	again := min(before.Usage.Prompt()-u.CacheRead-u.CacheWrite, u.Input)
	if again < max(m.MinCache, 1) {
		return
	}
	price := func(u decant.Usage) float64 {
		usd, _ := cost.Of(m, u, cost.Terms{At: r.Time}).Total()
		return usd
	}
	w.Requests++
	w.Tokens += again
	w.USD += price(decant.Usage{Input: u.Input}) - price(decant.Usage{CacheRead: again, CacheWrite: u.Input - again})
}

// Worth reports whether it is worth telling.
func (w *Unmarked) Worth() bool { return w.USD >= 0.005 }

// String says what it comes to.
func (w *Unmarked) String() string {
	return fmt.Sprintf("%s sent %s tokens again in full, because no cache marker stood behind them; --add-markers would have saved about %s",
		Count(w.Requests, "request"), Thousands(w.Tokens), usd(w.USD))
}

// unmarked is the line of the summary about markers, none where they would bring nothing.
func (l *Ledger) unmarked(facts [][2]string) [][2]string {
	if !l.Unmarked.Worth() {
		return facts
	}
	return append(slices.Clip(facts), [2]string{"without cache markers", l.Unmarked.String()})
}
