package plan

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/decantdev/decant/store"
)

// A Book keeps what is known of accounts, in memory and in a store. It is safe for concurrent use.
type Accounts struct {
	Store      store.Findings
	Now        func() time.Time
	Background func(func(context.Context)) // calls a function later, with a context for it
	Patience   time.Duration               // how long a request waits for what it can do without
	Logger     *slog.Logger                // is told what could not be read or stored

	mu sync.Mutex
	of map[Account]remembered
}

type remembered struct {
	Knowledge
	read time.Time
}

// freshFor is how long what was read of an account counts; then the store is asked what others have found out.
const freshFor = time.Minute

// mostAccounts bounds how many accounts are kept in memory.
const mostAccounts = 10_000

// Known returns what was found out about an account. What cannot be read is not known; nothing is known of nil.
func (b *Accounts) Known(who *Account) Knowledge {
	if who == nil {
		return nil
	}
	now := b.Now()
	b.mu.Lock()
	r, ok := b.of[*who]
	b.mu.Unlock()
	if ok && now.Sub(r.read) < freshFor {
		return r.Knowledge
	}
	ctx, cancel := context.WithTimeout(context.Background(), b.Patience)
	defer cancel()
	fs, err := b.Store.Findings(ctx, who.Upstream, who.Organization)
	if err != nil {
		b.Logger.Error("read what is known of an account", "error", err)
		return r.Knowledge
	}
	k := Knowledge{}
	for _, f := range fs {
		k[f.Topic] = f
	}
	b.put(*who, remembered{k, now})
	return k
}

func (b *Accounts) put(who Account, r remembered) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil || len(b.of) >= mostAccounts {
		b.of = map[Account]remembered{}
	}
	b.of[who] = r
}

// Learn remembers what was found out about an account, in memory at once and behind it in the store. Nothing is
// remembered of nil.
func (b *Accounts) Learn(who *Account, topic, value string) {
	if who == nil {
		return
	}
	f := store.Finding{Upstream: who.Upstream, Organization: who.Organization, Topic: topic, Value: value, Time: b.Now().UTC()}
	k := Knowledge{topic: f}
	for t, old := range b.Known(who) {
		if t != topic {
			k[t] = old
		}
	}
	b.put(*who, remembered{k, b.Now()})
	b.Background(func(ctx context.Context) {
		if err := b.Store.Find(ctx, f); err != nil {
			b.Logger.Error("store what is known of an account", "error", err)
		}
	})
}
