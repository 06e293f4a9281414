package plan

import (
	"hash/maphash"
	"sync"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/dialect"
)

// mostKnown is how many conversations are known at least. One that is forgotten is marked as if never seen.
const mostKnown = 4096

// An AutoCache follows what markers bring for each conversation, by its first message, and for the first requests of all
// conversations of a tenant, which nobody may go on with. It is safe for concurrent use.
type AutoCache struct {
	seed maphash.Seed
	mu   sync.Mutex
	now  map[markersKey]cost.Marking
	then map[markersKey]cost.Marking // that were not asked for since now was begun
}

// A key is a conversation; first 0: what all conversations of a tenant begin with.
type markersKey struct {
	tenant, session string
	first           uint64
}

// AddedMarkers is what was added to one request. Nil stands for a request in which there is nothing for us to add.
type AddedMarkers struct {
	key markersKey
	dialect.Marked
}

// NewAutoCache returns an empty book.
func NewAutoCache() *AutoCache { return &AutoCache{seed: maphash.MakeSeed()} }

// Add returns a body with the markers that it should have, or the body itself.
func (b *AutoCache) Add(by dialect.Marker, tenant, session string, body []byte) ([]byte, *AddedMarkers) {
	with, what := by.Mark(body)
	if !what.Messages && what.Added == 0 {
		return body, nil
	}
	x := &AddedMarkers{markersKey{tenant, session, maphash.Bytes(b.seed, what.First)}, what}
	if what.Messages && what.Added > 0 && !b.pays(x) {
		x.Added = 0
	}
	if x.Added == 0 {
		return body, x
	}
	return with, x
}

// pays reports whether markers are worth adding to a request.
func (b *AutoCache) pays(x *AddedMarkers) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if x.Turns == 0 {
		if k := b.of(x.beginnings()); k.Lost+k.Risk > cost.MarkingShare*k.Plain {
			return false
		}
	}
	k := b.of(x.key)
	return k.Marks()
}

// beginnings is the key of what all conversations of the tenant begin with.
func (x *AddedMarkers) beginnings() markersKey { return markersKey{tenant: x.key.tenant} }

func (b *AutoCache) of(k markersKey) cost.Marking {
	if m, ok := b.now[k]; ok {
		return m
	}
	return b.then[k]
}

// Learn notes what the markers of an answered request have brought, or would have. The request has so many tokens of
// system prompt and tools; price returns the dollars that usage costs.
func (b *AutoCache) Learn(x *AddedMarkers, u decant.Usage, fixed int, price func(decant.Usage) float64) {
	if x == nil || !x.Messages || u.Prompt() == 0 {
		return
	}
	r := cost.Marked{
		Paid: price(u), Plain: price(x.Without(u, fixed)), Read: u.CacheRead, Size: u.Prompt(), Added: x.Added > 0,
		Risk: price(decant.Usage{CacheWrite: u.Prompt()}) - price(decant.Usage{Input: u.Prompt()}),
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.note(x.key, r)
	if x.Turns < 2 { // what the first has written is read by the second
		b.note(x.beginnings(), r)
	}
}

func (b *AutoCache) note(k markersKey, r cost.Marked) {
	m := b.of(k)
	if len(b.now) >= mostKnown || b.now == nil {
		b.now, b.then = map[markersKey]cost.Marking{}, b.now
	}
	m.Answered(r)
	b.now[k] = m
}

// Without returns the usage of the same request without our markers: what the client has marked itself is read and
// written, all else is sent.
func (x *AddedMarkers) Without(u decant.Usage, fixed int) decant.Usage {
	if x == nil || x.Added == 0 || !x.Messages {
		return u
	}
	if !x.Fixed {
		fixed = 0
	}
	out := u
	out.CacheRead = min(u.CacheRead, fixed)
	out.CacheWrite = min(u.CacheWrite, fixed-out.CacheRead)
	out.Write1h = min(u.Write1h, out.CacheWrite)
	out.Input = u.Prompt() - out.CacheRead - out.CacheWrite
	return out
}
