package engine

import (
	"hash/maphash"
	"sync"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect"
	"github.com/decantdev/decant/internal/cost"
)

// mostMarkings is how many conversations are known at least. One that is forgotten is marked as if never seen.
const mostMarkings = 4096

// A markers adds cache markers to requests of clients that set none behind their messages. It follows what they bring for each
// conversation, by its first message, and for the first requests of all conversations of a tenant, which nobody may go on with.
// It is safe for concurrent use.
type markers struct {
	on   bool
	seed maphash.Seed
	mu   sync.Mutex
	now  map[markKey]cost.Marking
	then map[markKey]cost.Marking // that were not asked for since now was begun
}

// A markKey is a conversation; first 0: what all conversations of a tenant begin with.
type markKey struct {
	tenant, session string
	first           uint64
}

// A marked is what was added to one request.
type marked struct {
	key markKey
	dialect.Marked
}

// mark returns a request with the markers that it should have, and nil where none are for us to add.
func (m *markers) mark(d dialect.Dialect, req *Request) (*Request, *marked) {
	by, ok := d.(dialect.Marker)
	if !m.on || !ok || req.Count {
		return req, nil
	}
	body, what := by.Mark(req.Body)
	if !what.Messages && what.Added == 0 {
		return req, nil
	}
	x := &marked{markKey{req.Tenant, req.Session, maphash.Bytes(m.seed, what.First)}, what}
	if what.Messages && what.Added > 0 && !m.pays(x) {
		x.Added = 0
	}
	if x.Added == 0 {
		return req, x
	}
	with := *req
	with.Body = body
	return &with, x
}

// pays reports whether markers are worth adding to a request.
func (m *markers) pays(x *marked) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x.Turns == 0 {
		if k := m.of(x.beginnings()); k.Lost+k.Risk > cost.MarkingShare*k.Plain {
			return false
		}
	}
	k := m.of(x.key)
	return k.Marks()
}

// beginnings is the key of what all conversations of the tenant begin with.
func (x *marked) beginnings() markKey { return markKey{tenant: x.key.tenant} }

func (m *markers) of(key markKey) cost.Marking {
	if k, ok := m.now[key]; ok {
		return k
	}
	return m.then[key]
}

// learn notes what the markers of an answered request have brought, or would have.
func (m *markers) learn(p *Prepared, u decant.Usage, at cost.Terms) {
	x := p.marks()
	if x == nil || !x.Messages || u.Prompt() == 0 {
		return
	}
	q := p.ticket.Draft.Query
	price := func(u decant.Usage) float64 { return q.Price(u, at).USD() }
	r := cost.Marked{
		Paid: price(u), Plain: price(x.without(u, q.Fixed)), Read: u.CacheRead, Size: u.Prompt(), Added: x.Added > 0,
		Risk: price(decant.Usage{CacheWrite: u.Prompt()}) - price(decant.Usage{Input: u.Prompt()}),
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note(x.key, r)
	if x.Turns < 2 { // what the first has written is read by the second
		m.note(x.beginnings(), r)
	}
}

func (m *markers) note(key markKey, r cost.Marked) {
	k := m.of(key)
	if len(m.now) >= mostMarkings || m.now == nil {
		m.now, m.then = map[markKey]cost.Marking{}, m.now
	}
	k.Answered(r)
	m.now[key] = k
}

// marks returns what markers were added to the request, nil where none are for us to add.
func (p *Prepared) marks() *marked {
	if p.arrival == nil {
		return nil
	}
	return p.arrival.marks
}

// without returns the usage of the same request without our markers: what the client has marked itself is read and
// written, all else is sent.
func (x *marked) without(u decant.Usage, fixed int) decant.Usage {
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
