package chatserver

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"time"

	"github.com/decantdev/decant/store"
)

// leases tell which services work on a database, so that none takes a run from another that is alive. A service has a journal
// that it touches every few seconds, and removes at its end.
type leases struct {
	opts *Options
	own  string // the name of this service, which its runs carry
}

const (
	leaseKind   = "service"
	leasePrefix = "service." // ids of sessions have no dot
	leaseEvery  = 5 * time.Second
	leaseLasts  = 4 * leaseEvery // after it was touched last
)

func newLeases(o *Options) *leases { return &leases{o, rand.Text()} }

func (l *leases) key() store.Key { return store.Key{ID: leasePrefix + l.own} }

// begin takes the lease.
func (l *leases) begin(ctx context.Context) error {
	return l.opts.Store.AddSteps(ctx, &store.Addition{Key: l.key(), Kind: leaseKind, Time: l.opts.Now(), Steps: [][]byte{[]byte("{}")}})
}

// touch makes the lease last.
func (l *leases) touch(ctx context.Context) error {
	return l.opts.Store.AddSteps(ctx, &store.Addition{Key: l.key(), Length: 1, Time: l.opts.Now()})
}

// end gives the lease back, if there is one.
func (l *leases) end(ctx context.Context) error {
	if err := l.opts.Store.DropJournal(ctx, l.key()); !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return nil
}

// others returns the names of the other services that are alive. It removes what those have left that ended without a word.
func (l *leases) others(ctx context.Context) (map[string]bool, error) {
	js, err := l.opts.Store.Journals(ctx, store.JournalQuery{Kind: leaseKind})
	out := map[string]bool{}
	for i := range js {
		switch name := js[i].ID[len(leasePrefix):]; {
		case name == l.own:
		case l.opts.Now().Sub(js[i].Updated) <= leaseLasts:
			out[name] = true
		default:
			if fault := l.opts.Store.DropJournal(ctx, js[i].Key); !errors.Is(fault, store.ErrNotFound) { // another service may have been faster
				err = errors.Join(err, fault)
			}
		}
	}
	return out, err
}

// errElsewhere means that another service does something with a session now.
var errElsewhere = &apiError{http.StatusConflict, "running", "the session has a run under way in another service of this database; try again when it has ended"}

// elsewhere returns errElsewhere while another service that is alive runs a session.
func (s *rooms) elsewhere(ctx context.Context, k store.Key) error {
	sum, err := s.records.known(ctx, k)
	if err != nil || !sum.Running || sum.Owner == "" || sum.Owner == s.leases.own {
		return nil // the session says what is wrong with it
	}
	others, err := s.leases.others(ctx)
	if err == nil && others[sum.Owner] {
		err = errElsewhere
	}
	return err
}

// tend keeps the lease until the context ends, and goes on with the runs of services that are alive no longer.
func (s *rooms) tend(ctx context.Context, tick <-chan time.Time) {
	before, err := s.leases.others(ctx)
	for {
		if err != nil && ctx.Err() == nil {
			s.opts.Logger.Error("the lease of this service cannot be kept; another one may take its runs", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		before, err = s.tended(ctx, before)
	}
}

// tended touches the lease, and returns which other services are alive after before.
func (s *rooms) tended(ctx context.Context, before map[string]bool) (map[string]bool, error) {
	if err := s.leases.touch(ctx); err != nil {
		return before, err
	}
	now, err := s.leases.others(ctx)
	if err != nil {
		return before, err
	}
	for name := range before {
		if !now[name] {
			return now, s.resume(ctx)
		}
	}
	return now, nil
}
