package chatserver

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/decantdev/decant/internal/hold"
	"github.com/decantdev/decant/store"
)

const (
	smallBody = 64 << 10  // bytes of a body that takes no room
	workShare = 3         // how many times their size a body and a session take while somebody works with them
	shownTwo  = 2         // how many times its size a room takes: as it was said, and as it is shown
	mostRooms = 128 << 20 // bytes of rooms, beyond which those go that nobody needs now
)

// A claim is the memory that a request holds, and the run that it has begun. The last of its users returns it. Rooms that the
// request uses stay until its end.
type claim struct {
	*hold.Share
	done  func() // the request needs the memory no longer
	users atomic.Int32
	rooms []*room // guarded by the server
}

type claimKey struct{}

// claimOf returns the claim of a request, which each context of admitted has.
func claimOf(ctx context.Context) *claim { return ctx.Value(claimKey{}).(*claim) }

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
	ctx, c := s.claim(r.Context(), tenant)
	need := int64(0)
	switch {
	case r.Method == http.MethodPut: // a file, which is written as it comes
	case r.ContentLength < 0:
		r.Body = &countedBody{r.Body, c.Share}
	case r.ContentLength > smallBody:
		if err := begun(r); err != nil {
			return r, c, unread(err, invalid(err))
		}
		need = workShare * r.ContentLength
	}
	if id := r.PathValue("id"); id != "" && !strings.HasSuffix(r.Pattern, "/stop") { // what frees memory needs none
		bytes, runs := s.bytes(r.Context(), store.Key{Tenant: tenant, ID: id})
		if runs && need == 0 {
			c.Rest() // the run has the room for work on the session, maybe for long
		}
		need += workShare * bytes
	}
	if err := c.Wait(r.Context(), need); err != nil {
		return r, c, err
	}
	return r.WithContext(ctx), c, nil
}

// begun reads the beginning of a large body, and puts it back. So who announces a body and does not send it waits for no room, and
// takes none from others.
func begun(r *http.Request) error {
	head := make([]byte, smallBody)
	if _, err := io.ReadFull(r.Body, head); err != nil {
		return err
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), r.Body), r.Body}
	return nil
}

// claim returns a context with a claim of nothing yet. It lasts until end is called.
func (s *rooms) claim(ctx context.Context, tenant string) (context.Context, *claim) {
	c := &claim{Share: s.space.Share(tenant)}
	c.done = c.join()
	return context.WithValue(ctx, claimKey{}, c), c
}

// end ends the use of a claim, and of the rooms under it.
func (s *rooms) end(c *claim) {
	c.done()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rm := range c.rooms {
		rm.users--
	}
	c.rooms = nil
}

// use notes that a request uses a room until its end. The server is locked.
func (c *claim) use(rm *room) *room {
	c.rooms = append(c.rooms, rm)
	rm.users++
	return rm
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

// bytes returns the size of a session, 0 for one that there is not, and whether it has a run here.
func (s *rooms) bytes(ctx context.Context, k store.Key) (n int64, runs bool) {
	s.mu.Lock()
	rm := s.all[k]
	s.mu.Unlock()
	if rm != nil {
		return rm.bytes.Load(), rm.current() != nil
	}
	sum, err := s.records.known(ctx, k)
	if err != nil {
		return 0, false // whoever uses it says why
	}
	return sum.Bytes, false
}

// weigh notes how large a room has become.
func (rm *room) weigh() {
	n := int64(0)
	for _, m := range rm.session.Messages() {
		n += int64(len(m))
	}
	rm.bytes.Store(n)
}

// sweep leaves rooms while there are too many, or they are too large together: those first that nobody has used for the longest
// time. Those with a run, or that a request uses or listens to, stay. The server is locked.
func (s *rooms) sweep() {
	sum := int64(0)
	for _, rm := range s.all {
		sum += shownTwo * rm.bytes.Load()
	}
	for sum > mostRooms || len(s.all) > manyRooms {
		rm := s.oldest(sum > mostRooms)
		if rm == nil {
			return
		}
		sum -= shownTwo * rm.bytes.Load()
		s.drop(rm)
	}
}

// oldest returns the room that can go first, nil for none. Rooms that were used a moment ago go only if they must.
func (s *rooms) oldest(must bool) (first *room) {
	var is time.Time
	for _, rm := range s.all {
		since, idle := rm.idle()
		if idle && rm.users == 0 && (must || !since.After(s.opts.Now().Add(-longAgo))) && (first == nil || since.Before(is)) {
			first, is = rm, since
		}
	}
	return first
}
