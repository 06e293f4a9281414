package summarize

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/token"
)

// How long a record may take.
const (
	foreground = 20 * time.Second  // while a client waits
	background = 180 * time.Second // while nobody does
)

// Options say whom a [Summarizer] asks. Asker must be set.
type Options struct {
	Asker provider.Asker

	// Model returns the id of the model that is asked about a conversation which is held with another; empty: none is. Nil
	// is [Cheapest] of the catalogue.
	Model func(conversation token.Model) string

	Catalog    *token.Catalog   // of models, their windows and prices; nil: the built-in one
	Foreground time.Duration    // for a record while a client waits, 0: 20 s
	Background time.Duration    // for a record that nobody waits for, 0: 180 s
	Logger     *slog.Logger     // of what was asked, without content; nil: none
	Now        func() time.Time // decides which prices hold; nil: time.Now
}

// New returns a Summarizer.
func New(o Options) (*Summarizer, error) {
	if o.Asker == nil {
		return nil, errors.New("summarize: Options.Asker is nil; set it to the provider.Caller that makes the calls")
	}
	if o.Catalog == nil {
		c, err := token.Builtin()
		if err != nil {
			return nil, fmt.Errorf("summarize: %w", err)
		}
		o.Catalog = c
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Model == nil {
		o.Model = Cheapest(o.Catalog, o.Now())
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = slog.New(secret.Handler(o.Logger.Handler()))
	o.Foreground, o.Background = cmp.Or(o.Foreground, foreground), cmp.Or(o.Background, background)
	return &Summarizer{o}, nil
}

// Always returns a choice of model for Options.Model that is the same for all conversations.
func Always(id string) func(token.Model) string { return func(token.Model) string { return id } }

// leastWindow is the window in tokens of the smallest model that is chosen by price.
const leastWindow = 100_000

// Cheapest returns a choice of model for Options.Model: the active model of the conversation's provider that costs least for
// input and output at a time, Haiku for Claude. Of a provider that it knows no prices of it is the conversation's own.
func Cheapest(c *token.Catalog, at time.Time) func(token.Model) string {
	best := map[token.Provider]token.Model{}
	price := map[token.Provider]float64{}
	for _, m := range c.Models() {
		p, _, ok := m.PriceAt(at)
		usd := p.Input.USD + p.Output.USD
		if m.Status != "active" || !ok || !p.Input.Known || !p.Output.Known || m.Window < leastWindow {
			continue
		}
		if was, ok := best[m.Provider]; !ok || usd < price[m.Provider] || usd == price[m.Provider] && m.ID > was.ID {
			best[m.Provider], price[m.Provider] = m, usd
		}
	}
	return func(m token.Model) string { return cmp.Or(best[m.Provider].ID, m.ID) }
}
