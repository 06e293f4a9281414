package transport

import (
	"errors"
	"sync"
)

// errFull means that there is no room for another body.
var errFull = errors.New("too many bytes of requests and answers are held in memory")

// A room limits the bytes of bodies that are held in memory at once, for all requests together.
type room struct {
	limit int64
	one   chan struct{} // holds a token while a large body is unpacked

	mu   sync.Mutex
	used int64
	of   map[string]int64 // of it, by tenant
}

func newRoom(limit int64) *room {
	return &room{limit: limit, one: make(chan struct{}, 1), of: map[string]int64{}}
}

// change adds n bytes to what a tenant uses. The room must be locked.
func (r *room) change(n int64, tenant string) {
	r.used += n
	if r.of[tenant] += n; r.of[tenant] == 0 {
		delete(r.of, tenant)
	}
}

// A share is what one request and its answer hold of a room, until it is released.
type share struct {
	room     *room
	tenant   string // empty if there is only one
	held     int64
	released bool
}

// take takes n more bytes, and reports whether there is room for them. With several tenants, one tenant gets at most
// half of the room, so that there is room for the rest. A body that is alone always finds room, because another limit
// says how large one body may be.
func (s *share) take(n int64) bool {
	r := s.room
	r.mu.Lock()
	defer r.mu.Unlock()
	fits := r.used+n <= r.limit || r.used == s.held
	fair := s.tenant == "" || r.of[s.tenant]+n <= r.limit/2 || r.of[s.tenant] == s.held
	if s.released || !fits || !fair {
		return false
	}
	s.held += n
	r.change(n, s.tenant)
	return true
}

// add takes n bytes even if there is no room for them, because they are in memory already.
func (s *share) add(n int64) {
	r := s.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if !s.released {
		s.held += n
		r.change(n, s.tenant)
	}
}

// release returns everything, for good. It may be called more than once, and while other shares take.
func (s *share) release() {
	r := s.room
	r.mu.Lock()
	defer r.mu.Unlock()
	r.change(-s.held, s.tenant)
	s.held, s.released = 0, true
}
