package cause

import (
	"cmp"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/token"
)

// A Kind is why something was written to the cache.
type Kind string

// The kinds, in the order in which tables show them.
const (
	New         Kind = "new text"      // never sent before, or the first request
	Expired     Kind = "expired"       // the entry was older than its lifetime
	Model       Kind = "model changed" // no model reads what another wrote
	Tools       Kind = "tools changed" // they come first, so everything behind them is lost
	System      Kind = "system prompt changed"
	Beginning   Kind = "beginning changed"     // of system prompt, tools and settings: which of them, a recording does not say
	Edited      Kind = "client edited history" // everything behind the edit is lost
	Compacted   Kind = "client compacted"      // its summary, and all behind it
	Poured      Kind = "our pour"              // Decant changed the history
	Unmarked    Kind = "no marker"             // sent before, but no marker stood behind it
	LookBack    Kind = "more than 20 blocks"   // between one marker and the next, so the lookup missed the entry
	Unexplained Kind = "not explained"         // the entry should have been there
)

// Kinds returns all kinds in the order in which tables show them.
func Kinds() []Kind {
	return []Kind{New, Expired, Model, Tools, System, Beginning, Edited, Compacted, Poured, Unmarked, LookBack, Unexplained}
}

// Avoidable reports whether the tokens had been in the cache, or could have been, so that with another course of
// things they would have been read.
func (k Kind) Avoidable() bool { return k != New }

// A Part is tokens that one request wrote to the cache for one reason.
type Part struct {
	Kind   Kind   `json:"cause"`
	Detail string `json:"detail,omitzero"` // how long it was idle, which model, at which block
	Tokens int    `json:"tokens"`
	Hour   int    `json:"hour,omitzero"` // the part of Tokens that lives for an hour
}

// A Sum is what was written for one kind of reason.
type Sum struct {
	Kind     Kind    `json:"cause"`
	Requests int     `json:"requests"`
	Tokens   int     `json:"tokens"`
	USD      float64 `json:"usd"`       // for writing them
	Extra    float64 `json:"extra_usd"` // part of USD beyond what reading them would have cost; 0 for new text
	Unpriced bool    `json:"unpriced,omitzero"`
}

// A Table sums up parts, kind by kind. The zero value is empty.
type Table []Sum

// Add adds what one request wrote, at a model's prices.
func (t *Table) Add(parts []Part, m token.Model, at cost.Terms) {
	for _, p := range parts {
		s := t.of(p.Kind)
		s.Requests++
		s.Tokens += p.Tokens
		usd, ok := cost.Of(m, decant.Usage{CacheWrite: p.Tokens, Write1h: p.Hour}, at).Total()
		read, known := cost.Of(m, decant.Usage{CacheRead: p.Tokens}, at).Total()
		s.USD += usd
		if p.Kind.Avoidable() {
			s.Extra += usd - read
		}
		s.Unpriced = s.Unpriced || !ok || !known
	}
	t.sort()
}

// Join adds the sums of another table.
func (t *Table) Join(o Table) {
	for _, x := range o {
		s := t.of(x.Kind)
		s.Requests, s.Tokens = s.Requests+x.Requests, s.Tokens+x.Tokens
		s.USD, s.Extra, s.Unpriced = s.USD+x.USD, s.Extra+x.Extra, s.Unpriced || x.Unpriced
	}
	t.sort()
}

// of returns the sum of a kind, a new one if need be.
func (t *Table) of(k Kind) *Sum {
	i := slices.IndexFunc(*t, func(s Sum) bool { return s.Kind == k })
	if i < 0 {
		i = len(*t)
		*t = append(*t, Sum{Kind: k})
	}
	return &(*t)[i]
}

func (t *Table) sort() {
	order := Kinds()
	slices.SortFunc(*t, func(a, b Sum) int {
		return cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind))
	})
}

// Tokens returns the tokens written, and how many of them have a cause.
func (t Table) Tokens() (written, explained int) {
	for _, s := range t {
		written += s.Tokens
		if s.Kind != Unexplained {
			explained += s.Tokens
		}
	}
	return written, explained
}
