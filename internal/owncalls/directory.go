package owncalls

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/token"
)

// How long what was read of the models counts, how long after a failure it is read again, and how long reading it may take.
const (
	factsLife  = 24 * time.Hour
	factsPause = 10 * time.Minute
	factsTime  = 30 * time.Second
)

// A directory is what a provider has told about its models.
type directory struct {
	mu    sync.Mutex
	facts map[string]token.Facts // by id, and by the catalogue's name; nil: nothing was read yet
	next  time.Time              // when it is to be read again; zero: now
	busy  bool                   // it is being read
}

// Told returns what the provider at a base URL has told about a model, by its id. It never waits: what is not known, or is a day old,
// is read beside it with the configured account, and what was known stays until then. It is false where nothing is known, no account
// is configured for that provider, or the account's client cannot tell.
func (c *Caller) Told(upstream, id string) (token.Facts, bool) {
	a := c.opts.Account
	if a == nil || !sameBase(upstream, a.Upstream) {
		return token.Facts{}, false
	}
	l, ok := a.Client.(provider.Lister)
	if !ok {
		return token.Facts{}, false
	}
	d := &c.directory
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.busy && !c.opts.Now().Before(d.next) {
		d.busy = true
		go c.list(l)
	}
	f, ok := d.facts[id]
	if !ok {
		m, _ := c.opts.Catalog.Lookup(id)
		f, ok = d.facts[m.ID]
	}
	return f, ok
}

// list reads what a provider tells about its models. What fails is tried again later.
func (c *Caller) list(l provider.Lister) {
	ctx, cancel := context.WithTimeout(context.Background(), factsTime)
	defer cancel()
	all, err := l.Models(ctx)
	d := &c.directory
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy = false
	if err != nil {
		d.next = c.opts.Now().Add(factsPause)
		c.opts.Logger.Info("what the provider tells about its models is not known, so the catalogue counts", slog.Any("error", err))
		return
	}
	d.next, d.facts = c.opts.Now().Add(factsLife), make(map[string]token.Facts, 2*len(all))
	for _, f := range all {
		if m, known := c.opts.Catalog.Lookup(f.ID); known {
			d.facts[m.ID] = f
		}
		d.facts[f.ID] = f
	}
}
