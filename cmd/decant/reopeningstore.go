package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
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
	manage func(engine.Store) (*engine.Engine, error)
	log    *slog.Logger

	mu     sync.Mutex
	db     database
	engine *engine.Engine
	ending sync.WaitGroup // replaced engines that are still closing

	seen  shape // of the file at the last look
	tried shape // of the file when opening it failed
}

// standEvery is how often to check whether a database that could not be used now can.
const standEvery = 2 * time.Second

// newStanding opens the database of a service.
func newStanding(ctx context.Context, c *config.Config, path string, manage func(engine.Store) (*engine.Engine, error), log *slog.Logger) (*standing, error) {
	s := &standing{cfg: c, path: path, manage: manage, log: log}
	db, err := openDatabase(ctx, c, path, log)
	if err != nil {
		return nil, err
	}
	if s.engine, err = manage(db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s.db = db
	return s, nil
}

// now returns the pair in use.
func (s *standing) now() (database, *engine.Engine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.db, s.engine
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
	db, _ := s.now()
	err := db.Ping(ctx)
	if err == nil || !outOfUse(db, err) {
		return false
	}
	was := s.seen
	s.seen = shapeOf(s.path)
	if !s.seen.complete || s.seen != was {
		return false
	}
	return s.seen != s.tried || errors.Is(err, store.ErrReadOnly) || errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrBusy)
}

// outOfUse reports whether a database will not recover by itself.
func outOfUse(db database, err error) bool {
	switch db := db.(type) {
	case store.Failed:
		return true
	case *sqlite.DB:
		return db.ReadOnly() || errors.Is(err, store.ErrMoved)
	}
	return false
}

// reopen opens the file and puts it in the place of the old database. It closes the old one first, because the old
// journal must not be taken for the new file's.
func (s *standing) reopen(ctx context.Context, use func(*engine.Engine)) {
	s.tried = s.seen
	was, _ := s.now()
	if reads, ok := was.(*sqlite.DB); ok && reads.ReadOnly() && !writable(s.path) {
		return
	}
	var db database
	err := was.Close()
	if err == nil {
		db, err = tryDatabase(ctx, s.cfg, s.path, s.log)
	}
	if err != nil {
		if before, ok := was.(store.Failed); !ok || before.Err.Error() != err.Error() {
			s.log.Error(forwarding, "error", err.Error())
		}
		db = store.Failed{Err: err}
	} else {
		s.log.Warn("the database is used again", "db", s.path)
	}
	e, err := s.manage(db)
	if err != nil {
		s.log.Error("start engine", "error", err.Error())
		return
	}
	s.put(db, e)
	use(e)
}

// put puts a database and its engine in the place of the old pair.
func (s *standing) put(db database, e *engine.Engine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.engine
	s.db, s.engine = db, e
	s.ending.Go(func() { old.Close() }) // never fails
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
func (s *standing) Ping(ctx context.Context) error {
	db, _ := s.now()
	return db.Ping(ctx)
}

// AddKey implements store.Keyring.
func (s *standing) AddKey(ctx context.Context, k store.TenantKey, a store.Act) error {
	db, _ := s.now()
	return db.AddKey(ctx, k, a)
}

// RevokeKey implements store.Keyring.
func (s *standing) RevokeKey(ctx context.Context, id string, a store.Act) error {
	db, _ := s.now()
	return db.RevokeKey(ctx, id, a)
}

// TenantKeys implements store.Keyring.
func (s *standing) TenantKeys(ctx context.Context) ([]store.TenantKey, error) {
	db, _ := s.now()
	return db.TenantKeys(ctx)
}

// Close waits for pending archives and closes the database. tend must have ended.
func (s *standing) Close() error {
	db, e := s.now()
	err := errors.Join(e.Close(), db.Close())
	s.ending.Wait()
	return err
}
