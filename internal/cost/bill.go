package cost

import (
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// Terms say when and how a request was made.
type Terms struct {
	At    time.Time // decides which price row holds
	Batch bool      // through the batch endpoint
	Fast  bool      // in fast mode
}

// A Bill is what one or more requests cost, in US dollars, by part. The parts add up to the total.
type Bill struct {
	Input     float64
	CacheRead float64
	Write5m   float64 // short-lived cache entries
	Write1h   float64 // long-lived cache entries
	Output    float64

	Unknown int  // tokens that have no known price and are in none of the parts
	Stale   bool // the prices were announced to end before the request
	Long    bool // billed in the tier for long prompts
}

// Total returns the sum of the parts, and whether it is complete: false when something has no known
// price.
func (b Bill) Total() (usd float64, ok bool) {
	return b.Input + b.CacheRead + b.Write5m + b.Write1h + b.Output, b.Unknown == 0
}

// Add returns the sum of b and c.
func (b Bill) Add(c Bill) Bill {
	return Bill{
		Input:     b.Input + c.Input,
		CacheRead: b.CacheRead + c.CacheRead,
		Write5m:   b.Write5m + c.Write5m,
		Write1h:   b.Write1h + c.Write1h,
		Output:    b.Output + c.Output,
		Unknown:   b.Unknown + c.Unknown,
		Stale:     b.Stale || c.Stale,
		Long:      b.Long || c.Long,
	}
}

// Of returns what a model charges for u. A part that has tokens but no known price counts in
// Unknown.
func Of(m token.Model, u decant.Usage, t Terms) Bill {
	price, stale, ok := m.PriceAt(t.At)
	if !ok {
		return Bill{Unknown: u.Context()}
	}
	rates := ratesFor(&m, &price, u.Prompt(), t)
	b := Bill{Stale: stale, Long: price.LongAbove > 0 && u.Prompt() > price.LongAbove}
	b.Input = b.part(u.Input, rates.Input)
	b.CacheRead = b.part(u.CacheRead, rates.CacheRead)
	b.Write5m = b.part(u.CacheWrite-u.Write1h, rates.Write5m)
	b.Write1h = b.part(u.Write1h, rates.Write1h)
	b.Output = b.part(u.Output, rates.Output)
	return b
}

// part returns the price of n tokens, and notes them as unknown without a price.
func (b *Bill) part(n int, r token.Rate) float64 {
	if n <= 0 {
		return 0
	}
	if !r.Known {
		b.Unknown += n
		return 0
	}
	return float64(n) * r.USD / 1e6
}

// ratesFor returns the rates of a prompt of the given size under the terms.
func ratesFor(m *token.Model, p *token.Price, prompt int, t Terms) token.Rates {
	rates := p.At(prompt)
	if t.Fast {
		rates = p.Fast
	}
	if t.Batch {
		rates = scale(rates, m.Batch)
	}
	return rates
}

// scale multiplies all rates; without a known multiplier they become unknown.
func scale(r token.Rates, by float64) token.Rates {
	for _, rate := range []*token.Rate{&r.Input, &r.Output, &r.CacheRead, &r.Write5m, &r.Write1h} {
		rate.USD *= by
		rate.Known = rate.Known && by > 0
	}
	return r
}
