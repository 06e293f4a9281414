package code

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/jellydator/ttlcache/v3"
	"golang.org/x/sync/singleflight"
)

// What a Cache holds unless CacheOptions says otherwise.
const (
	cacheTTL   = 30 * time.Minute
	cacheBytes = 128 << 20
	loadTime   = mostCall // the longest that something may take to load
)

// CacheOptions configures a Cache. The zero value is good.
type CacheOptions struct {
	TTL   time.Duration // how long something is held; 0: 30 minutes
	Bytes int64         // the most that is held, about; 0: 128 MB
	Off   bool          // nothing is held, and nobody waits for what somebody else loads: each read is made, and counted as a miss
}

// A Cache holds what was read of repositories, for all investigations that go on at the same time. What several of them ask for at
// once is loaded once. It is safe for concurrent use.
type Cache struct {
	off          bool
	items        *ttlcache.Cache[string, held]
	flights      singleflight.Group
	hits, misses atomic.Int64
}

// A held is what a Cache holds under a key: a value, or that there is none.
type held struct {
	value any
	cost  int64
	none  error // one that is fs.ErrNotExist
}

// NewCache returns an empty cache.
func NewCache(o CacheOptions) *Cache {
	if o.TTL <= 0 {
		o.TTL = cacheTTL
	}
	if o.Bytes <= 0 {
		o.Bytes = cacheBytes
	}
	return &Cache{off: o.Off, items: ttlcache.New(
		ttlcache.WithTTL[string, held](o.TTL),
		ttlcache.WithDisableTouchOnHit[string, held](),
		ttlcache.WithMaxCost(uint64(o.Bytes), func(i ttlcache.CostItem[string, held]) uint64 {
			return uint64(i.Value.cost) + uint64(len(i.Key)) + 200
		}),
	)}
}

// Stats says how often a Cache had what was asked for.
type Stats struct {
	Hits   int64 `json:"hits"`
	Misses int64 `json:"misses"` // each was read from a repository
}

// Rate returns the part of hits, from 0 to 1.
func (s Stats) Rate() float64 {
	if s.Hits+s.Misses == 0 {
		return 0
	}
	return float64(s.Hits) / float64(s.Hits+s.Misses)
}

// stats returns how often the cache had what was asked for. Who waited for what somebody else was loading counts as a hit.
func (c *Cache) stats() Stats { return Stats{Hits: c.hits.Load(), Misses: c.misses.Load()} }

// remember returns what is held under a key, or what load returns, which is held then if it is no error but fs.ErrNotExist. cost is in bytes.
// The value is shared: nobody may change it.
func remember[T any](ctx context.Context, c *Cache, key string, cost func(T) int64, load func(context.Context) (T, error)) (T, error) {
	if c.off {
		c.misses.Add(1)
		return load(ctx)
	}
	if item := c.items.Get(key); item != nil {
		c.hits.Add(1)
		return valueOf[T](item.Value())
	}
	loaded := false // by this caller
	flight := c.flights.DoChan(key, func() (any, error) {
		loaded = true
		c.misses.Add(1)
		return c.load(ctx, key, func(ctx context.Context) (any, int64, error) {
			v, err := load(ctx)
			if err != nil {
				return v, 0, err
			}
			return v, cost(v), nil
		})
	})
	select {
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	case r := <-flight:
		if !loaded {
			c.hits.Add(1)
		}
		if r.Err != nil {
			var none T
			return none, r.Err
		}
		return valueOf[T](r.Val.(held))
	}
}

// load loads something and holds it. It goes on when the first who asked leaves: others may wait for it.
func (c *Cache) load(ctx context.Context, key string, load func(context.Context) (any, int64, error)) (held, error) {
	if item := c.items.Get(key); item != nil {
		return item.Value(), nil // it came between the look and the flight
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTime)
	defer cancel()
	value, cost, err := load(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		value, cost = nil, 0
	case err != nil:
		return held{}, err
	}
	h := held{value: value, cost: cost, none: err}
	c.items.Set(key, h, ttlcache.DefaultTTL)
	return h, nil
}

// valueOf returns what is held.
func valueOf[T any](h held) (T, error) {
	if h.none != nil {
		var none T
		return none, h.none
	}
	v, ok := h.value.(T)
	if !ok {
		return v, fmt.Errorf("the cache holds a %T under this key", h.value)
	}
	return v, nil
}

// peek returns what is held under a key, and loads nothing.
func peek[T any](c *Cache, key string) (v T, ok bool) {
	if c.off {
		return v, false
	}
	if item := c.items.Get(key); item != nil && item.Value().none == nil {
		v, ok = item.Value().value.(T)
	}
	return v, ok
}
