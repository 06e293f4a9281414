package transport

import (
	"errors"
	"sync"
)

// errFull means that there is no room for another body.
var errFull = errors.New("too many bytes of requests and answers are held in memory")

// A room bounds the bytes of bodies that are held in memory at once, those of all requests together.
type room struct {
	limit int64
	one   chan struct{} // holds a token while a large body is unpacked

	mu   sync.Mutex
	used int64
}

func newRoom(limit int64) *room { return &room{limit: limit, one: make(chan struct{}, 1)} }

// A share is what one request and its answer hold of a room, until it is released.
type share struct {
	room     *room
	held     int64
	released bool
}

// take takes n bytes more, and reports whether there is room for them. A body that is alone always finds it:
// how large one may be is another limit.
func (s *share) take(n int64) bool {
	r := s.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.released || r.used+n > r.limit && r.used > s.held {
		return false
	}
	s.held += n
	r.used += n
	return true
}

// add takes n bytes, whether there is room for them or not: what holds them exists already.
func (s *share) add(n int64) {
	r := s.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if !s.released {
		s.held += n
		r.used += n
	}
}

// release gives everything back, for good. It may be called more than once, and while others take.
func (s *share) release() {
	r := s.room
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= s.held
	s.held, s.released = 0, true
}
