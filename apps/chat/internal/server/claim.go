package chatserver

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/decantdev/decant/internal/hold"
	"github.com/decantdev/decant/store"
)

const (
	smallBody = 64 << 10  // bytes of a body that takes no room
	workShare = 3         // how many times their size a body and a session take while somebody works with them
	shownTwo  = 2         // how many times its size a room takes: as it was said, and as it is shown
	mostRooms = 128 << 20 // bytes of rooms, beyond which those go that nobody needs now
)

// A claim is the memory that a request holds, and the run that it has begun. The last of its users returns it.
type claim struct {
	*hold.Share
	done  func() // the request needs it no longer
	users atomic.Int32
}

type claimKey struct{}

// claimOf returns the claim of a request, one of nothing if it has none.
func claimOf(ctx context.Context) *claim {
	if c, ok := ctx.Value(claimKey{}).(*claim); ok {
		return c
	}
	return &claim{Share: hold.New(0, 0).Share(""), done: func() {}}
}

// join counts a user of the claim until leave is called.
func (c *claim) join() (leave func()) {
	c.users.Add(1)
	return sync.OnceFunc(func() {
		if c.users.Add(-1) == 0 {
			c.Release()
		}
	})
}

// claimed waits until there is room for a request, and returns it with its claim. A body whose size nobody has said takes
// room as it comes.
func (s *rooms) claimed(r *http.Request, tenant string) (*http.Request, *claim, error) {
	c := &claim{Share: s.space.Share(tenant)}
	c.done = c.join()
	need := int64(0)
	switch {
	case r.Method == http.MethodPut: // a file, which is written as it comes
	case r.ContentLength < 0:
		r.Body = &countedBody{r.Body, c.Share}
	case r.ContentLength > smallBody:
		need = workShare * r.ContentLength
	}
	if id := r.PathValue("id"); id != "" {
		need += workShare * s.bytes(r.Context(), store.Key{Tenant: tenant, ID: id})
	}
	if err := c.Wait(r.Context(), need); err != nil {
		return r, c, err
	}
	return r.WithContext(context.WithValue(r.Context(), claimKey{}, c)), c, nil
}

// A countedBody is a body that takes room as it comes.
type countedBody struct {
	io.ReadCloser
	share *hold.Share
}

// Read implements io.Reader.
func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if !b.share.Take(workShare * int64(n)) {
		return 0, hold.ErrFull
	}
	return n, err
}

// bytes returns the size of a session, 0 for one that there is not.
func (s *rooms) bytes(ctx context.Context, k store.Key) int64 {
	s.mu.Lock()
	rm := s.all[k]
	s.mu.Unlock()
	if rm != nil {
		return rm.bytes.Load()
	}
	sum, err := s.records.known(ctx, k)
	if err != nil {
		return 0 // whoever uses it says why
	}
	return sum.Bytes
}

// weigh notes how large a room has become.
func (rm *room) weigh() {
	n := int64(0)
	for _, m := range rm.session.Messages() {
		n += int64(len(m))
	}
	rm.bytes.Store(n)
}

// sweep leaves rooms without a run while there are too many, or they are too large together: those first that nobody
// listens to, and of these the one that nobody has used for the longest time. Those who listen come back when they hear of
// nothing any more. The server is locked.
func (s *rooms) sweep(but *room) {
	sum := int64(0)
	for _, rm := range s.all {
		sum += shownTwo * rm.bytes.Load()
	}
	for sum > mostRooms || len(s.all) > manyRooms {
		rm := s.oldest(but, sum > mostRooms)
		if rm == nil {
			return
		}
		sum -= shownTwo * rm.bytes.Load()
		s.drop(rm)
	}
}

// oldest returns the room that can go first, nil for none. Rooms that were used a moment ago go only if they must.
func (s *rooms) oldest(but *room, must bool) (first *room) {
	var is lastUse
	for _, rm := range s.all {
		if u := rm.lastUse(); rm != but && !u.running && (must || !u.heard && !u.at.After(s.opts.Now().Add(-longAgo))) && (first == nil || u.before(is)) {
			first, is = rm, u
		}
	}
	return first
}
