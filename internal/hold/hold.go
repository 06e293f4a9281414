// Package hold limits the bytes that are held in memory at once, of what strangers send and of what is made of it.
package hold

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrFull means that there is no room for another body.
var ErrFull = errors.New("too many bytes of requests and answers are held in memory")

const (
	// Bulky is the number of bytes from which a share is bulky: work on it takes several times as many.
	Bulky = 4 << 20

	patience = 2 * time.Minute
)

// A Space limits the bytes that are held in memory at once, for all that have a share of it together.
type Space struct {
	// Patience is how long Wait waits: two minutes, unless somebody says otherwise.
	Patience time.Duration

	limit int64
	bulk  int64         // of it, what bulky shares may hold together
	one   chan struct{} // holds a token while Alone runs

	mu    sync.Mutex
	all   amount
	of    map[string]amount // of it, by tenant
	freed chan struct{}     // closed when there is more room; nil if nobody waits
}

// An amount is a number of bytes, and how many of them bulky shares hold.
type amount struct{ bytes, bulk int64 }

func (a amount) plus(b amount) amount  { return amount{a.bytes + b.bytes, a.bulk + b.bulk} }
func (a amount) minus(b amount) amount { return amount{a.bytes - b.bytes, a.bulk - b.bulk} }

// New returns a space of limit bytes, of which bulky shares may hold bulk together while work on them is under way.
func New(limit, bulk int64) *Space {
	return &Space{Patience: patience, limit: limit, bulk: bulk, one: make(chan struct{}, 1), of: map[string]amount{}}
}

// Limit returns how many bytes there are.
func (s *Space) Limit() int64 { return s.limit }

// Alone calls do while no other call of Alone is under way, or returns why ctx has ended first.
func (s *Space) Alone(ctx context.Context, do func() error) error {
	select {
	case s.one <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.one }()
	return do()
}

// Share returns a share of the space for a tenant. It holds nothing yet.
func (s *Space) Share(tenant string) *Share { return &Share{Tenant: tenant, space: s} }

// A Share is what one request and its answer hold of a space, until it is released.
type Share struct {
	Tenant string // empty if there is only one; it must be set before the share holds anything

	space    *Space
	held     int64
	ahead    int64 // of it, what Wait has taken for later calls of Take
	plan     int64 // of it, what work on the rest takes for a while
	rests    bool
	released bool
}

// amount returns what the share takes of the space when it holds n bytes.
func (h *Share) amount(n int64) amount {
	if n-h.plan > Bulky && !h.rests {
		return amount{n, n - h.plan}
	}
	return amount{bytes: n}
}

// change adds n bytes to what the share holds. The space must be locked.
func (h *Share) change(n int64) {
	was := h.amount(h.held)
	h.held += n
	h.replace(was)
}

// replace accounts for what the share takes now, in place of what it took before. The space must be locked.
func (h *Share) replace(was amount) {
	s, is := h.space, h.amount(h.held)
	s.all = s.all.minus(was).plus(is)
	if s.of[h.Tenant] = s.of[h.Tenant].minus(was).plus(is); s.of[h.Tenant] == (amount{}) {
		delete(s.of, h.Tenant)
	}
	if less := was.minus(is); (less.bytes > 0 || less.bulk > 0) && s.freed != nil {
		close(s.freed)
		s.freed = nil
	}
}

// fits reports whether there is room for n bytes more. The space must be locked.
func (h *Share) fits(n int64) bool {
	s, own, want := h.space, h.amount(h.held), h.amount(h.held+n)
	within := func(all amount, parts int64) bool {
		others := all.minus(own)
		with := others.plus(want)
		return (others.bytes == 0 || with.bytes <= s.limit/parts) &&
			(others.bulk == 0 || want.bulk == 0 || with.bulk <= s.bulk/parts)
	}
	return !h.released && within(s.all, 1) && (h.Tenant == "" || within(s.of[h.Tenant], 2))
}

// Take takes n more bytes, and reports whether there is room for them. With several tenants, one tenant gets at most
// half of it, so that there is room for the rest. A share that is alone always finds room, because another limit says
// how large one body may be.
func (h *Share) Take(n int64) bool {
	h.space.mu.Lock()
	defer h.space.mu.Unlock()
	if more := n - h.ahead; more > 0 {
		if !h.fits(more) {
			return false
		}
		h.change(more)
	}
	h.ahead = max(0, h.ahead-n)
	return true
}

// Wait takes n bytes for what Take will take, once there is room. It returns [ErrFull] when there was none for a
// while, and why ctx has ended. Whoever waits must hold nothing yet, so that nobody waits for each other.
func (h *Share) Wait(ctx context.Context, n int64) error {
	late := time.NewTimer(h.space.Patience)
	defer late.Stop()
	for {
		freed := h.reserve(n)
		if freed == nil {
			return nil
		}
		select {
		case <-freed:
		case <-late.C:
			return ErrFull
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// reserve takes n bytes ahead. If there is no room for them it returns a channel that is closed when there is more.
func (h *Share) reserve(n int64) <-chan struct{} {
	s := h.space
	s.mu.Lock()
	defer s.mu.Unlock()
	if n == 0 || h.fits(n) {
		h.change(n)
		h.ahead += n
		return nil
	}
	if s.freed == nil {
		s.freed = make(chan struct{})
	}
	return s.freed
}

// Plan takes n bytes for work on what the share holds, and reports whether there is room for them. They make nothing
// bulky.
func (h *Share) Plan(n int64) bool {
	h.space.mu.Lock()
	defer h.space.mu.Unlock()
	was := h.amount(h.held)
	full := func(all amount, parts int64) bool { return all.bytes > was.bytes && all.bytes+n > h.space.limit/parts }
	if h.released || full(h.space.all, 1) || h.Tenant != "" && full(h.space.of[h.Tenant], 2) {
		return false
	}
	h.plan += n
	h.held += n
	h.replace(was)
	return true
}

// Planned says that the work for which n bytes were taken is done, and that what came of it takes left bytes.
func (h *Share) Planned(n, left int64) {
	h.space.mu.Lock()
	defer h.space.mu.Unlock()
	if h.released {
		return
	}
	was := h.amount(h.held)
	h.plan -= n
	h.held += left - n
	h.replace(was)
}

// Rest says that the work on what the share holds is done. Then it takes its bytes and no more, so it leaves its room
// to others that are bulky.
func (h *Share) Rest() {
	h.space.mu.Lock()
	defer h.space.mu.Unlock()
	was := h.amount(h.held)
	h.rests = true
	h.replace(was)
}

// Add takes n bytes even if there is no room for them, because they are in memory already.
func (h *Share) Add(n int64) {
	h.space.mu.Lock()
	defer h.space.mu.Unlock()
	if !h.released {
		h.change(n)
	}
}

// Release returns everything, for good. It may be called more than once, and while other shares take.
func (h *Share) Release() {
	h.space.mu.Lock()
	defer h.space.mu.Unlock()
	h.change(-h.held)
	h.ahead, h.released = 0, true
}
