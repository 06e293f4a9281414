package token

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// DefaultWindow is the context window, in tokens, that is assumed for an unknown model.
const DefaultWindow = 200_000

// defaultMinCache is the smallest cacheable prefix, in tokens, that is assumed for an unknown model. It is
// the largest known one, so that a plan never counts on a cache entry that is not written.
const defaultMinCache = 4096

// A Model is what the catalogue knows about one language model.
type Model struct {
	ID       string   // the catalogue's name, or the caller's if the catalogue has none
	Provider Provider // who made it, empty when even that is unknown
	Status   string   // "active", "limited access", "older", "deprecated" or "retired"; empty when unknown

	Released   time.Time // first day, UTC, on which it could be used; zero: not known
	Deprecated time.Time // day on which its retirement was announced; zero: it was not, or the day is not known
	Retires    time.Time // first day, UTC, on which its provider refuses requests; zero: none is announced
	Verified   time.Time // day on which Prices were last seen at their source; zero: not known

	Window    int  // tokens of input and output together; never 0
	Assumed   bool // Window is DefaultWindow because the real one is not known
	MaxInput  int  // most prompt tokens if that is less than Window, 0: no separate limit known
	MaxOutput int  // most output tokens, 0 when unknown
	MinCache  int  // tokens of the smallest prefix that is cached; never 0
	Million   bool // the window is a million tokens for requests that ask for it (see For)

	Binds      bool     // thinking is bound to everything before it (docs/reference/anthropic.md, "Bound thinking")
	Forgets    bool     // thinking behind a change of what stands before it is dropped without a word, and thought again
	Thinking   []string // thinking modes or efforts it takes, empty when unknown
	Threshold  bool     // known to compact on the server when a threshold is passed
	OnDemand   bool     // known to compact on the server on request
	Editing    bool     // known to take context-editing instructions
	NoChatCall bool     // known to refuse function tools on Chat Completions while reasoning

	Prices []Price // by date, oldest first; empty when unknown
	Batch  float64 // what a batch costs as a share of the price, 0 when unknown
}

// ReadShare returns what reading the cache costs as a share of the price of input, a tenth if that is not known.
func (m Model) ReadShare(at time.Time) float64 {
	p, _, ok := m.PriceAt(at)
	if r := p.At(0); ok && r.Input.USD > 0 && r.CacheRead.Known {
		return r.CacheRead.USD / r.Input.USD
	}
	return 0.1
}

// BetaMillion is the beta that asks for a window of a million tokens. The Sonnets of generation 4 before
// 4.6 need it.
const BetaMillion = "context-1m-2025-08-07"

// millionDates is how BetaMillion begins, of whatever date.
const millionDates = "context-1m-"

// For returns the model as it is for a request that asks for the given betas.
func (m Model) For(betas []string) Model {
	asks := slices.ContainsFunc(betas, func(b string) bool {
		return strings.HasPrefix(strings.TrimSpace(b), millionDates)
	})
	if asks && m.Million {
		m.Window, m.Assumed = max(m.Window, 1_000_000), false
	}
	return m
}

// Provider is who made a model and whose rules hold for it.
type Provider string

// The providers that have rules of their own.
const (
	Anthropic Provider = "anthropic"
	OpenAI    Provider = "openai"
	Google    Provider = "google"
)

// A Price is what a model charges during a period.
type Price struct {
	From  time.Time // first day, UTC; zero: since ever
	Until time.Time // last day, UTC; zero: until further notice
	Rates
	Fast      Rates // of the fast mode; unknown without one
	LongAbove int   // prompts of more tokens than this are billed at Long as a whole; 0: no such tier
	Long      Rates
}

// Rates are prices in US dollars per million tokens.
type Rates struct {
	Input     Rate // neither read from the cache nor written to it
	Output    Rate
	CacheRead Rate
	Write5m   Rate // the short-lived entry: 5 minutes with Anthropic, 30 with OpenAI
	Write1h   Rate // the long-lived entry: an hour with Anthropic, 12 with OpenAI
}

// A Rate is a price per million tokens. The zero value is an unknown price, not a price of zero.
type Rate struct {
	USD   float64
	Known bool
}

// PriceAt returns the prices in force at t. It returns false when none are known; prices that were
// announced to end before t and have no successor are returned with stale set.
func (m *Model) PriceAt(t time.Time) (p Price, stale, ok bool) {
	for i := len(m.Prices) - 1; i >= 0; i-- {
		p = m.Prices[i]
		if t.Before(p.From) {
			continue
		}
		return p, !p.Until.IsZero() && !t.Before(p.Until.AddDate(0, 0, 1)), true
	}
	if len(m.Prices) > 0 {
		return m.Prices[0], true, true
	}
	return Price{}, false, false
}

// At returns the rates for a prompt of the given size in tokens.
func (p *Price) At(prompt int) Rates {
	if p.LongAbove > 0 && prompt > p.LongAbove {
		return p.Long
	}
	return p.Rates
}

// Takes reports whether the model is known to accept the thinking mode.
func (m *Model) Takes(mode string) bool { return slices.Contains(m.Thinking, mode) }

// TakesTemperature reports whether the model takes another temperature than its own: Claude models since 4.7
// and OpenAI's since GPT-5 refuse it.
func (m *Model) TakesTemperature() bool {
	switch m.Provider {
	case Anthropic:
		return !m.Since(4, 7)
	case OpenAI:
		return strings.HasPrefix(m.ID, "gpt-4") || strings.HasPrefix(m.ID, "gpt-3")
	}
	return true
}

// generation returns the version in a Claude model's id: 4 and 5 of claude-sonnet-4-5-20250929. It
// returns false for other models and for ids without a version.
func (m *Model) generation() (major, minor int, ok bool) {
	if m.Provider != Anthropic {
		return 0, 0, false
	}
	for _, part := range strings.FieldsFunc(m.ID, func(r rune) bool { return r == '-' || r == '.' }) {
		n, err := strconv.Atoi(part)
		if err != nil || len(part) > 2 {
			if ok {
				return major, minor, true
			}
			continue
		}
		if ok {
			return major, n, true
		}
		major, ok = n, true
	}
	return major, minor, ok
}

// Since reports whether a Claude model is of the given generation or a later one. A Claude model
// without a version counts as the latest. For other models it returns false.
func (m *Model) Since(major, minor int) bool {
	if m.Provider != Anthropic {
		return false
	}
	a, b, ok := m.generation()
	return !ok || a > major || a == major && b >= minor
}
