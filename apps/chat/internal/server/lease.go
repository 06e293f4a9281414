package chatserver

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/decantdev/decant/store"
)

// leases tell which services work on a database, so that none takes a run from another that is alive. A service has a journal
// that it touches every few seconds, and removes at its end. They are safe for concurrent use.
type leases struct {
	opts *Options
	own  string // the name of this service, which its runs carry

	mu   sync.Mutex
	seen map[string]sighting // of the other services, by their names
	left bool                // one may have ended, and nobody here has gone on with its runs since
}

// A sighting is the newest touch of another service that is known, and when it was seen here first. The clocks of other
// machines tell nothing.
type sighting struct {
	touch string
	at    time.Time
}

const (
	leaseKind   = "service"
	leasePrefix = "service." // ids of sessions have no dot
	leaseEvery  = 5 * time.Second
	leaseLasts  = 4 * leaseEvery // after a touch was seen last
)

func newLeases(o *Options) *leases {
	return &leases{opts: o, own: rand.Text(), seen: map[string]sighting{}, left: true}
}

func (l *leases) key() store.Key { return store.Key{ID: leasePrefix + l.own} }

// touch makes the lease last. One that there is not yet, or that others have removed, begins.
func (l *leases) touch(ctx context.Context) error {
	a := &store.Addition{Key: l.key(), Length: 1, Time: l.opts.Now(), Head: []byte(`"` + rand.Text() + `"`)}
	err := l.opts.Store.AddSteps(ctx, a)
	if errors.Is(err, store.ErrNotFound) {
		a.Length, a.Kind, a.Steps = 0, leaseKind, [][]byte{[]byte("{}")}
		err = l.opts.Store.AddSteps(ctx, a)
	}
	return err
}

// end gives the lease back, if there is one.
func (l *leases) end(ctx context.Context) error {
	if err := l.opts.Store.DropJournal(ctx, l.key()); !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return nil
}

// others returns the names of the other services that are alive: those whose touches were seen a moment ago. It removes what
// those have left that ended without a word.
func (l *leases) others(ctx context.Context) (map[string]bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	js, err := l.opts.Store.Journals(ctx, store.JournalQuery{Kind: leaseKind})
	if err != nil {
		return nil, err
	}
	now, alive := l.opts.Now(), map[string]bool{}
	for i := range js {
		name, touch := js[i].ID[len(leasePrefix):], string(js[i].Head)
		if name == l.own {
			continue
		}
		if s, ok := l.seen[name]; !ok || s.touch != touch {
			l.seen[name] = sighting{touch, now}
		}
		if now.Sub(l.seen[name].at) <= leaseLasts {
			alive[name] = true
			continue
		}
		if fault := l.opts.Store.DropJournal(ctx, js[i].Key); !errors.Is(fault, store.ErrNotFound) { // another service may have been faster
			err = errors.Join(err, fault)
		}
	}
	for name := range l.seen {
		if !alive[name] {
			delete(l.seen, name)
			l.left = true
		}
	}
	return alive, err
}

// noteLeft notes whether there are runs that another service has left, and returns what was noted before.
func (l *leases) noteLeft(left bool) (before bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, l.left = l.left, left
	return before
}

// errElsewhere means that another service does something with a session now.
var errElsewhere = &apiError{http.StatusConflict, "running", "the session has a run under way in another service of this database; try again when it has ended"}

// elsewhere returns errElsewhere while another service that is alive runs a session. While calls wait, nobody does.
func (s *rooms) elsewhere(ctx context.Context, k store.Key) error {
	sum, err := s.records.known(ctx, k)
	if err != nil || !sum.Running || sum.Waiting || sum.Owner == "" || sum.Owner == s.leases.own {
		return nil // the session says what is wrong with it
	}
	others, err := s.leases.others(ctx)
	if err == nil && others[sum.Owner] {
		s.leave(func(rm *room) bool { return rm.key == k }) // what is read next is what the other one has written
		err = errElsewhere
	}
	return err
}

// tend keeps the lease until the context ends, and goes on with the runs of services that are alive no longer.
func (s *rooms) tend(ctx context.Context, tick <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		if err := s.tended(ctx); err != nil && ctx.Err() == nil {
			s.opts.Logger.Error("the lease of this service cannot be kept; another one may take its runs", "error", err)
		}
	}
}

// tended touches the lease, and has this service go on with runs that others have left. That may take longer than the lease
// lasts, so nobody waits for it.
func (s *rooms) tended(ctx context.Context) error {
	if err := s.leases.touch(ctx); err != nil {
		return err
	}
	if _, err := s.leases.others(ctx); err != nil {
		return err
	}
	if !s.resuming.TryLock() {
		return nil
	}
	if !s.leases.noteLeft(false) {
		s.resuming.Unlock()
		return nil
	}
	s.tending.Go(func() {
		defer s.resuming.Unlock()
		if err := s.resume(ctx); err != nil && ctx.Err() == nil {
			s.leases.noteLeft(true)
			s.opts.Logger.Error("runs that another service has left do not go on; this one tries again", "error", err)
		}
	})
	return nil
}
