package summarize

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/token"
)

// Options say whom a [Summarizer] asks. Asker must be set.
type Options struct {
	Asker owncalls.Asker

	// Model returns the id of the model that is asked about a conversation which is held with another; empty: none is. What
	// the preset names is an id, a class of models, "off", or nothing (preset.Summary). Nil is [Cheapest] of the catalogue.
	Model func(conversation token.Model, named string) string

	// Default is the id of the model that is asked, with Model nil, where the preset names none; empty: the cheapest.
	Default string

	Catalog    *token.Catalog   // of models, their windows and prices; nil: the built-in one
	Foreground time.Duration    // for a record while a client waits, 0: as the preset says, or 20 s
	Background time.Duration    // for a record that nobody waits for, 0: as the preset says, or 180 s
	Logger     *slog.Logger     // of what was asked, without content; nil: none
	Now        func() time.Time // decides which prices hold; nil: time.Now
}

// New returns a Summarizer.
func New(o Options) (*Summarizer, error) {
	if o.Asker == nil {
		return nil, errors.New("summarize: Options.Asker is nil; set it to what makes the calls")
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
		o.Model = choice(o.Default, o.Catalog, o.Now())
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = slog.New(secret.Handler(o.Logger.Handler()))
	return &Summarizer{o}, nil
}

// Always returns a choice of model for Options.Model that is the same for all conversations, but for presets that want none.
func Always(id string) func(token.Model, string) string {
	return func(_ token.Model, named string) string {
		if named == off {
			return ""
		}
		return id
	}
}

// off is how a preset says that no model is asked.
const off = "off"

// leastWindow is the window in tokens of the smallest model that is chosen by price.
const leastWindow = 100_000

// Cheapest returns a choice of model for Options.Model: what the preset names, of a class the cheapest that is current. Where
// it names nothing, or a model of another provider, it is the cheapest current model of the conversation's provider: of Claude
// a Haiku. Prices are those of input and output together at a time. Of a provider without known prices it is the
// conversation's own model.
func Cheapest(c *token.Catalog, at time.Time) func(token.Model, string) string {
	return choice("", c, at)
}

// choice is Cheapest with the id of a model that is asked where the preset names none, or one of another provider; empty:
// the cheapest. An id that the catalogue does not know is asked as it is.
func choice(id string, c *token.Catalog, at time.Time) func(token.Model, string) string {
	return func(m token.Model, named string) string {
		other := cmp.Or(id, cheapest(c, at, m.Provider, ""), m.ID)
		found, known := c.Lookup(named)
		switch {
		case named == off:
			return ""
		case named == "", known && found.Provider != m.Provider && id+string(m.Provider) != "":
			return other
		case known, !isClass(c, named):
			return named
		}
		return cmp.Or(cheapest(c, at, m.Provider, named), other)
	}
}

// isClass reports whether a name is of a class of models, such as "haiku".
func isClass(c *token.Catalog, name string) bool {
	return slices.ContainsFunc(c.Models(), func(m token.Model) bool { return slices.Contains(strings.Split(m.ID, "-"), name) })
}

// cheapest returns the cheapest current model of a provider and a class, empty where there is none.
func cheapest(c *token.Catalog, at time.Time, of token.Provider, class string) (id string) {
	least := math.Inf(1)
	for _, m := range c.Models() {
		p, _, ok := m.PriceAt(at)
		if m.Provider != of || m.Status != "active" || m.Window < leastWindow || !ok || !p.Input.Known || !p.Output.Known {
			continue
		}
		parts := strings.Split(m.ID, "-")
		if usd := p.Input.USD + p.Output.USD; (class == "" || slices.Contains(parts, class)) && usd <= least { // the newest of two
			id, least = m.ID, usd
		}
	}
	return id
}
