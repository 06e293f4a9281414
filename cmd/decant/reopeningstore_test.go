package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/edge"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// A stood is a service on a database that the test looks after.
type stood struct {
	*testing.T
	*service
	path string
	log  said
	tick chan time.Time
}

// said is a log that can be read while it is written.
type said struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *said) count(text string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Count(s.buf.String(), text)
}

func newStood(t *testing.T, path string) *stood {
	t.Helper()
	return newStoodWith(t, path, map[string]string{})
}

// newStoodWith returns a service with more settings.
func newStoodWith(t *testing.T, path string, settings map[string]string) *stood {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be replaced there")
	}
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, `{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":1,"output_tokens":1}}`)
	}))
	t.Cleanup(up.Close)
	settings["db"], settings["anthropic_upstream"] = path, up.URL
	cfg, err := config.Load(config.Sources{Flags: settings})
	if err != nil {
		t.Fatal(err)
	}
	x := &stood{T: t, path: path, tick: make(chan time.Time)}
	if x.service, err = newService(t.Context(), new(process.Process), cfg, slog.New(slog.NewTextHandler(&x.log, nil)), edge.StoredKeys); err != nil {
		t.Fatalf("the gateway does not start: %v", err)
	}
	x.service.stop()
	x.service.work.Wait()
	ctx, stop := context.WithCancel(t.Context())
	x.service.stop = stop
	x.service.work.Go(func() { x.store.tend(ctx, x.tick, x.gateway.Use) })
	return x
}

// look has the database looked after, so that what can be taken up is.
func (x *stood) look() {
	for range 4 { // the last one waits for those before
		x.tick <- time.Now()
	}
}

// say sends the one message of a conversation, waits until it is archived, and returns the conversation and what failed.
func (x *stood) say(session string) (conversation, fault string) {
	x.Helper()
	body := `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`
	r := httptest.NewRequest("POST", "http://127.0.0.1/v1/messages", strings.NewReader(body))
	r.Header.Set("X-Decant-Session", session)
	w := httptest.NewRecorder()
	x.gateway.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		x.Fatalf("status %d: %s", w.Code, w.Body)
	}
	x.store.current.Load().engine.Close()
	return w.Header().Get("X-Decant-Conversation"), w.Header().Get("X-Decant-Fault")
}

// ready returns what /readyz answers.
func (x *stood) ready() int {
	w := httptest.NewRecorder()
	x.gateway.ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1/readyz", nil))
	return w.Code
}

// works makes sure that requests are kept again, and that it was said once.
func (x *stood) works() (conversation string) {
	x.Helper()
	conversation, fault := x.say("s")
	if fault != "" || x.ready() != http.StatusOK || x.log.count("is used again") != 1 {
		x.Errorf("fault %q, ready %d; the log says %s", fault, x.ready(), &x.log.buf)
	}
	return conversation
}

// sound returns the conversations of a database that must be sound, when the service has ended.
func (x *stood) sound() int {
	x.Helper()
	if err := x.close(); err != nil {
		x.Error(err)
	}
	db, err := sqlite.Open(x.Context(), x.path, sqlite.Options{})
	if err != nil {
		x.Fatal(err)
	}
	defer db.Close()
	if problems, err := db.Check(x.Context()); err != nil || len(problems) > 0 {
		x.Errorf("the database: %v, %v", problems, err)
	}
	cs, err := db.Conversations(x.Context(), store.Filter{})
	if err != nil {
		x.Fatal(err)
	}
	return len(cs)
}

func TestADamagedDatabaseIsTakenUpWhenASoundOneStandsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decant.db")
	if err := os.WriteFile(path, bytes.Repeat([]byte("no database of anybody's. "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	x := newStood(t, path)
	x.look()
	if _, fault := x.say("s"); !strings.Contains(fault, "damaged") || x.ready() == http.StatusOK {
		t.Errorf("on a damaged database: fault %q, ready %d", fault, x.ready())
	}
	sound := filepath.Join(t.TempDir(), "other.db")
	db, err := sqlite.Open(t.Context(), sound, sqlite.Options{})
	if err := errors.Join(err, db.Close(), os.Rename(sound, path)); err != nil {
		t.Fatal(err)
	}
	x.look()
	x.works()
	if n := x.sound(); n != 1 {
		t.Errorf("%d conversations are kept, want one", n)
	}
}

// A backup that takes the place of the database while it is used: what was decided since is gone, and what comes goes
// on from the backup.
func TestABackupIsTakenUpWhileRequestsCome(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decant.db")
	x := newStood(t, path)
	first, _ := x.say("s")
	old := x.store.current.Load()
	backup := filepath.Join(filepath.Dir(path), "backup.db")
	if err := old.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	x.say("since")
	data, err := os.ReadFile(backup)
	if err := errors.Join(err, os.Remove(path), os.WriteFile(path, data[:len(data)/2], 0o600)); err != nil {
		t.Fatal(err)
	}
	x.say("t") // its archive finds that the file was replaced
	x.look()
	if x.ready() == http.StatusOK || x.log.count("is used again") > 0 {
		t.Error("a database of which half is there is used")
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	x.look()
	if again := x.works(); again != first {
		t.Errorf("the conversation was %s and is %s", first, again)
	}
	if now := x.store.current.Load(); now.engine == old.engine {
		t.Error("the engine remembers what it knew of the old database")
	}
	if n := x.sound(); n != 1 {
		t.Errorf("%d conversations are kept, want the one of the backup", n)
	}
}

// A database that another process keeps locked while it must be brought up to date stops no agent, and is taken up when
// it is free.
func TestADatabaseIsTakenUpWhenAnotherProcessLetsItGo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "decant.db")
	other, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	lock, err := other.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"PRAGMA journal_mode = wal", "CREATE TABLE t (x)", "BEGIN IMMEDIATE"} {
		if _, err := lock.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	x := newStood(t, path)
	if _, fault := x.say("s"); !strings.Contains(fault, "busy") || x.ready() == http.StatusOK {
		t.Errorf("while it is locked: fault %q, ready %d", fault, x.ready())
	}
	if _, err := lock.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	x.look()
	x.works()
	x.sound()
}
