package engine

import (
	"sync"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect"
	"github.com/decantdev/decant/engine/internal/prompt"
	"github.com/decantdev/decant/internal/cost"
)

// mostMarkings is how many clients' markings are known at least. Who is forgotten is marked as if never seen.
const mostMarkings = 4096

// A markers adds cache markers to requests of clients that set none behind their messages. What it has brought is known by what
// requests of one conversation have in common at first sight, so that it is one for those that a client sends again and again
// with the same beginning. It is safe for concurrent use.
type markers struct {
	on   bool
	mu   sync.Mutex
	now  map[prompt.Key]cost.Marking
	then map[prompt.Key]cost.Marking // that were not asked for since now was begun
}

// A marked is what was added to one request.
type marked struct {
	key prompt.Key
	dialect.Marked
}

// mark returns a request with the markers that it should have, and nil where none are for us to add.
func (m *markers) mark(d dialect.Dialect, key prompt.Key, req *Request) (*Request, *marked) {
	by, ok := d.(dialect.Marker)
	if !m.on || !ok || req.Count {
		return req, nil
	}
	body, what := by.Mark(req.Body)
	switch {
	case !what.Messages && what.Added == 0:
		return req, nil
	case what.Messages && what.Added > 0:
		if k := m.of(key); !k.Marks() {
			what.Added = 0
		}
	}
	out := &marked{key, what}
	if what.Added == 0 {
		return req, out
	}
	with := *req
	with.Body = body
	return &with, out
}

// of returns what markers have brought so far.
func (m *markers) of(key prompt.Key) cost.Marking {
	m.mu.Lock()
	defer m.mu.Unlock()
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
	paid, plain := price(u), price(x.without(u, q.Fixed))
	risk := price(decant.Usage{CacheWrite: u.Prompt()}) - price(decant.Usage{Input: u.Prompt()})
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.now[x.key]
	if !ok {
		k = m.then[x.key]
	}
	if len(m.now) >= mostMarkings || m.now == nil {
		m.now, m.then = map[prompt.Key]cost.Marking{}, m.now
	}
	k.Answered(paid, plain, risk)
	m.now[x.key] = k
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
