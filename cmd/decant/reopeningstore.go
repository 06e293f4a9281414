package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// A standing is the database of a service, with its engine. When the file was replaced, or could not be used and now
// can, a new pair takes the place of the old one. Requests under way end with the old pair, whose every step fails; new
// requests begin with the new pair, which remembers nothing of the old one. So no request mixes the two.
type standing struct {
	cfg    *config.Config
	path   string
	manage func(*serviceStore) (*engine.Engine, error)
	log    *slog.Logger

	current atomic.Pointer[pair]
	ending  sync.WaitGroup // replaced engines that are still closing

	seen  shape // of the file at the last look
	tried shape // of the file when opening it failed
}

// A pair is a database and the engine that works on it.
type pair struct {
	*serviceStore
	engine *engine.Engine
}

// standEvery is how often to check whether a database that could not be used now can.
const standEvery = 2 * time.Second

// newStanding opens the database of a service.
func newStanding(ctx context.Context, c *config.Config, path string, manage func(*serviceStore) (*engine.Engine, error), log *slog.Logger) (*standing, error) {
	s := &standing{cfg: c, path: path, manage: manage, log: log}
	db, err := openService(ctx, c, path, log)
	if err != nil {
		return nil, err
	}
	e, err := manage(db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s.current.Store(&pair{db, e})
	return s, nil
}

// tend opens the database again whenever it must and can, until the context ends. It passes each new engine to use.
func (s *standing) tend(ctx context.Context, tick <-chan time.Time, use func(*engine.Engine)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			if s.ready(ctx) {
				s.reopen(ctx, use)
			}
		}
	}
}

// ready reports whether the database is out of use and the file may be opened again: the file has not changed since the
// last look, but has changed since opening it failed. Whether it can be written may change without the file.
func (s *standing) ready(ctx context.Context) bool {
	db := s.current.Load()
	err := db.Ping(ctx)
	if err == nil || !db.outOfUse(err) {
		return false
	}
	if config.IsServer(s.path) {
		return !db.readOnly // its connections find out by themselves when it can be written
	}
	was := s.seen
	s.seen = shapeOf(s.path)
	if !s.seen.complete || s.seen != was {
		return false
	}
	return s.seen != s.tried || errors.Is(err, store.ErrReadOnly) || errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrBusy)
}

// outOfUse reports whether a database whose Ping fails with err will not recover by itself.
func (d *serviceStore) outOfUse(err error) bool {
	return d.failed != nil || d.readOnly || errors.Is(err, store.ErrMoved)
}

// reopen opens the file and puts it in the place of the old database. It closes the old one first, because the old
// journal must not be taken for the new file's.
func (s *standing) reopen(ctx context.Context, use func(*engine.Engine)) {
	s.tried = s.seen
	was := s.current.Load()
	if was.readOnly && !writable(s.path) {
		return
	}
	var db *serviceStore
	err := was.Close()
	if err == nil {
		db, err = tryService(ctx, s.cfg, s.path, s.log)
	}
	if err != nil {
		if was.failed == nil || was.failed.Error() != err.Error() {
			s.log.Error(forwarding, "error", err.Error())
		}
		db = failedStore(err)
	} else {
		s.log.Warn("the database is used again", "db", config.ShowDB(s.path))
	}
	e, err := s.manage(db)
	if err != nil {
		s.log.Error("start engine", "error", err.Error())
		return
	}
	old := s.current.Swap(&pair{db, e})
	s.ending.Go(func() { old.engine.Close() }) // never fails
	use(e)
}

// writable reports whether a file may be written.
func writable(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		f.Close()
	}
	return err == nil
}

// A shape is what a database file looks like from outside, to notice changes.
type shape struct {
	size     int64
	time     time.Time
	complete bool
}

func shapeOf(path string) shape {
	info, err := os.Stat(path)
	if err != nil {
		return shape{}
	}
	return shape{info.Size(), info.ModTime(), sqlite.Complete(path)}
}

// Ping reports whether the current database can be used.
func (s *standing) Ping(ctx context.Context) error { return s.current.Load().Ping(ctx) }

// TenantKeys returns the keys in the current database.
func (s *standing) TenantKeys(ctx context.Context) ([]store.TenantKey, error) {
	return s.current.Load().TenantKeys(ctx)
}

// Close waits for pending archives and closes the database. tend must have ended.
func (s *standing) Close() error {
	p := s.current.Load()
	err := errors.Join(p.engine.Close(), p.Close())
	s.ending.Wait()
	return err
}
