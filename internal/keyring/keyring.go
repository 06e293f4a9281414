// Package keyring decides to which tenant a request with a key belongs, and how many such requests may come. Keys come
// from the operator's settings and from the store; both can change while a gateway runs.
package keyring

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/decantdev/decant/store"
)

// Options configures a Ring. The zero value is ready to use.
type Options struct {
	// Keys are those of the settings.
	Keys []Key

	// Now returns the current time. Nil means time.Now.
	Now func() time.Time
}

// A Ring knows the keys. Until there has been a key, it admits everybody as the one local user. When the last key is
// gone, it admits no one. It is safe for concurrent use.
type Ring struct {
	now   func() time.Time
	known atomic.Pointer[known]

	mu     sync.Mutex // held while what is known is changed
	meters map[string]*meter
}

// known is what a ring knows at one moment. It is replaced and never changed.
type known struct {
	closed bool
	fixed  []Key             // of the settings
	stored map[string]*entry // by ID, without revoked keys
}

// entry is a stored key that is in force.
type entry struct {
	store.TenantKey
	meter *meter
}

// New returns a ring.
func New(o Options) *Ring {
	r := &Ring{now: o.Now, meters: map[string]*meter{}}
	if r.now == nil {
		r.now = time.Now
	}
	r.known.Store(&known{closed: len(o.Keys) > 0, fixed: slices.Clone(o.Keys)})
	return r
}

// SetKeys replaces the keys of the settings.
func (r *Ring) SetKeys(keys []Key) {
	r.change(func(k *known) {
		k.fixed = slices.Clone(keys)
		k.closed = k.closed || len(keys) > 0
	})
}

// A Source returns the keys of a store: the method TenantKeys of a store.Keyring.
type Source func(context.Context) ([]store.TenantKey, error)

// Refresh reads the keys of the store again. If they cannot be read, the known keys stay in force.
func (r *Ring) Refresh(ctx context.Context, stored Source) error {
	keys, err := stored(ctx)
	if err != nil {
		return fmt.Errorf("refresh keys: %w", err)
	}
	r.change(func(k *known) {
		k.closed = k.closed || len(keys) > 0
		k.stored = make(map[string]*entry, len(keys))
		meters := make(map[string]*meter, len(keys))
		for _, key := range keys {
			if !key.Revoked.IsZero() {
				continue
			}
			if meters[key.ID] = r.meters[key.ID]; meters[key.ID] == nil {
				meters[key.ID] = newMeter(key.Limits)
			}
			k.stored[key.ID] = &entry{key, meters[key.ID]}
		}
		r.meters = meters
	})
	return nil
}

// change replaces what is known by a changed copy.
func (r *Ring) change(do func(*known)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := *r.known.Load()
	do(&next)
	r.known.Store(&next)
}

// Watch refreshes the ring with every tick until the context ends. When the keys become unreadable it calls changed
// once with the error, and when they become readable again once with nil.
func (r *Ring) Watch(ctx context.Context, stored Source, tick <-chan time.Time, changed func(error)) {
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		err := r.Refresh(ctx, stored)
		if ctx.Err() != nil {
			return
		}
		if failing != (err != nil) {
			failing = err != nil
			changed(err)
		}
	}
}

// Closed reports whether a request needs a key.
func (r *Ring) Closed() bool { return r.known.Load().closed }

// Len returns how many keys are in force.
func (r *Ring) Len() int {
	k := r.known.Load()
	return len(k.fixed) + len(k.stored)
}

// Allowances returns what the keys of a tenant allow it to spend. What is done on its behalf without a key falls under all of
// them. A ring that is nil has none.
func (r *Ring) Allowances(tenant string) (out []store.Allowance) {
	if r == nil {
		return nil
	}
	for _, e := range r.known.Load().stored {
		if e.Tenant == tenant {
			out = append(out, e.Limits.Budgets...)
		}
	}
	return out
}

// ErrKey means that a request has no key, or one that is not in force.
var ErrKey = errors.New("the header x-decant-key is missing, or its key is not known or was revoked")

// A Pass is what a key permits. The zero value is the pass of the one local user.
type Pass struct {
	Tenant string
	Key    string // ID of a stored key; empty for a key of the settings
	Limits store.Limits

	ring  *Ring
	meter *meter
}

// Admit returns the pass for the text of a key, or ErrKey. The text is empty if the request has no key. If the key
// has no requests or tokens left, Admit returns both the pass, which names the tenant, and a *RateError.
func (r *Ring) Admit(text string) (*Pass, error) {
	k := r.known.Load()
	if !k.closed {
		return &Pass{}, nil
	}
	sum := sha256.Sum256([]byte(text))
	if e := k.stored[idOf(text)]; e != nil && subtle.ConstantTimeCompare(sum[:], e.Hash[:]) == 1 {
		p := &Pass{Tenant: e.Tenant, Key: e.ID, Limits: e.Limits, ring: r, meter: e.meter}
		return p, e.meter.enter(r.now())
	}
	i := find(k.fixed, sum)
	if i < 0 {
		return nil, ErrKey
	}
	return &Pass{Tenant: k.fixed[i].Tenant}, nil
}

// find returns the index of the key with a hash, -1 if there is none. It compares all keys, each in constant time, so
// that its duration tells nothing about any key.
func find(keys []Key, sum [sha256.Size]byte) int {
	found := -1
	for i := range keys {
		if subtle.ConstantTimeCompare(sum[:], keys[i].Hash[:]) == 1 {
			found = i
		}
	}
	return found
}

// Used counts the tokens that a request with the pass has used.
func (p *Pass) Used(tokens int) {
	if p.meter != nil && tokens > 0 {
		p.meter.use(tokens, p.ring.now())
	}
}
