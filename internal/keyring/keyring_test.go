package keyring_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/decantdev/decant/internal/keyring"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

func database(t *testing.T) store.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "d.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// add stores a new key of a tenant and returns its text.
func add(t *testing.T, db store.Store, tenant string, l store.Limits) (text, id string) {
	t.Helper()
	text, k := keyring.Make(tenant)
	k.Created, k.Limits = time.Unix(1, 0), l
	if err := db.AddKey(t.Context(), k, store.Act{Time: k.Created, Action: "key add"}); err != nil {
		t.Fatal(err)
	}
	return text, k.ID
}

func refresh(t *testing.T, r *keyring.Ring, db store.Store) {
	t.Helper()
	if err := r.Refresh(t.Context(), db.TenantKeys); err != nil {
		t.Fatal(err)
	}
}

// admits checks whom a ring takes somebody for: a tenant, or nobody.
func admits(t *testing.T, r *keyring.Ring, when, key, tenant string, want error) {
	t.Helper()
	p, err := r.Admit(key)
	if !errors.Is(err, want) || err == nil && p.Tenant != tenant {
		t.Errorf("%s: %+v, %v; want %q, %v", when, p, err, tenant, want)
	}
}

func TestKeysComeAndGo(t *testing.T) {
	db := database(t)
	r := keyring.New(keyring.Options{})
	admits(t, r, "before there is a key", "", "", nil)
	admits(t, r, "before there is a key", "anything", "", nil)
	alice, id := add(t, db, "alice", store.Limits{})
	admits(t, r, "before a refresh", "", "", nil)
	refresh(t, r, db)
	admits(t, r, "its own", alice, "alice", nil)
	for _, wrong := range []string{"", "alice", alice + "x", alice[:len(alice)-1], strings.ToUpper(alice), "decant_" + id + "_", "decant_" + id, "decant__", id} {
		admits(t, r, "a wrong one", wrong, "", keyring.ErrKey)
	}
	r.SetKeys([]keyring.Key{keyring.NewKey("bob", "bob-key")})
	admits(t, r, "one of the settings", "bob-key", "bob", nil)
	admits(t, r, "a stored one beside it", alice, "alice", nil)
	if err := db.RevokeKey(t.Context(), id, store.Act{Time: time.Unix(2, 0)}); err != nil {
		t.Fatal(err)
	}
	refresh(t, r, db)
	admits(t, r, "revoked", alice, "", keyring.ErrKey)
	r.SetKeys(nil)
	admits(t, r, "taken from the settings", "bob-key", "", keyring.ErrKey)
	admits(t, r, "when no key is left", "", "", keyring.ErrKey)
	if r.Len() != 0 || !r.Closed() {
		t.Errorf("%d keys, closed: %t", r.Len(), r.Closed())
	}
}

// The last revoked key keeps the door shut for a gateway that starts later, too.
func TestRevokedKeysKeepTheDoorShut(t *testing.T) {
	db := database(t)
	_, id := add(t, db, "alice", store.Limits{})
	if err := db.RevokeKey(t.Context(), id, store.Act{Time: time.Unix(2, 0)}); err != nil {
		t.Fatal(err)
	}
	r := keyring.New(keyring.Options{})
	refresh(t, r, db)
	admits(t, r, "without a key", "", "", keyring.ErrKey)
}

func TestNothingSecretIsKeptOrPrinted(t *testing.T) {
	text, k := keyring.Make("alice")
	if again, other := keyring.Make("alice"); again == text || other.ID == k.ID || len(text) < 40 {
		t.Errorf("keys %q and %q", text, again)
	}
	if k.Hash != sha256.Sum256([]byte(text)) || strings.Contains(fmt.Sprintf("%+v %x", k, k), text[len("decant_")+9:]) {
		t.Errorf("what is stored of %q: %+v", text, k)
	}
	key := keyring.NewKey("alice", text)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d", "%q"} {
		if got := fmt.Sprintf(verb, key); got != "alice:[redacted]" {
			t.Errorf("%s: %s", verb, got)
		}
		if got := fmt.Sprintf(verb, []keyring.Key{key}); strings.Contains(got, fmt.Sprintf("%x", key.Hash[:4])) {
			t.Errorf("%s in a list: %s", verb, got)
		}
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", key)
	if !strings.Contains(log.String(), "alice:[redacted]") {
		t.Error(log.String())
	}
}

// A store that fails for a while leaves everything as it was, and is told of once.
func TestWatchKeepsWhatItKnows(t *testing.T) {
	db := database(t)
	alice, _ := add(t, db, "alice", store.Limits{})
	r := keyring.New(keyring.Options{})
	broken := &flaky{Keyring: db}
	tick, said := make(chan time.Time), make(chan error, 10)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Watch(ctx, broken.TenantKeys, tick, func(err error) { said <- err })
	}()
	look := func() { // a second tick is taken when the first has been dealt with
		tick <- time.Time{}
		tick <- time.Time{}
	}
	look()
	admits(t, r, "while it works", alice, "alice", nil)
	broken.set(errors.New("disk on fire"))
	look()
	admits(t, r, "while it fails", alice, "alice", nil)
	look()
	broken.set(nil)
	look()
	stop()
	<-ended
	close(said)
	var got []string
	for err := range said {
		got = append(got, fmt.Sprint(err))
	}
	if want := "refresh keys: disk on fire, <nil>"; strings.Join(got, ", ") != want {
		t.Errorf("said %q, want %q", got, want)
	}
}

// flaky is a store that fails when told to.
type flaky struct {
	store.Keyring
	mu  sync.Mutex
	err error
}

func (f *flaky) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *flaky) TenantKeys(ctx context.Context) ([]store.TenantKey, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	return f.Keyring.TenantKeys(ctx)
}

// A clock that a test sets.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func TestLimitsPerMinute(t *testing.T) {
	db, now := database(t), &clock{time.Unix(1000, 0)}
	key, _ := add(t, db, "alice", store.Limits{Requests: 3, Tokens: 600})
	r := keyring.New(keyring.Options{Now: now.Now})
	refresh(t, r, db)
	refused := func(of string, seconds int) {
		t.Helper()
		p, err := r.Admit(key)
		var rate *keyring.RateError
		if !errors.As(err, &rate) || rate.Of != of || rate.Seconds() != seconds || p.Tenant != "alice" {
			t.Errorf("%+v, %v; want to wait %d s for %s", p, err, seconds, of)
		}
	}
	for range 3 {
		admits(t, r, "within the limit", key, "alice", nil)
	}
	refused("requests", 20)
	refresh(t, r, db) // which must not fill it
	refused("requests", 20)
	now.now = now.now.Add(20 * time.Second)
	p, err := r.Admit(key)
	if err != nil {
		t.Fatal(err)
	}
	p.Used(1200) // twice the limit: overdrawn by a minute
	now.now = now.now.Add(time.Minute - time.Second)
	refused("tokens", 1)
	now.now = now.now.Add(2 * time.Second)
	admits(t, r, "when the debt is paid", key, "alice", nil)
	now.now = now.now.Add(-24 * time.Hour) // a clock that was set back is no reason to wait for a day
	now.now = now.now.Add(time.Minute)
	admits(t, r, "after the clock was set back", key, "alice", nil)
}

// Whatever the moments at which requests come, no more of them pass than the limit gives.
func TestLimitHoldsAlways(t *testing.T) {
	db := database(t)
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(1, 100).Draw(rt, "limit")
		key, _ := add(t, db, "alice", store.Limits{Requests: limit})
		now := &clock{time.Unix(1000, 0)}
		r := keyring.New(keyring.Options{Now: now.Now})
		if err := r.Refresh(t.Context(), db.TenantKeys); err != nil {
			rt.Fatal(err)
		}
		passed, begin := 0, now.now
		for _, pause := range rapid.SliceOfN(rapid.IntRange(0, 5000), 1, 300).Draw(rt, "pauses") {
			now.now = now.now.Add(time.Duration(pause) * time.Millisecond)
			if _, err := r.Admit(key); err == nil {
				passed++
			}
			if most := float64(limit) * (1 + now.now.Sub(begin).Minutes()); float64(passed) > most+1e-6 {
				rt.Fatalf("%d requests passed in %s, limit %d a minute", passed, now.now.Sub(begin), limit)
			}
		}
	})
}

func BenchmarkAdmit(b *testing.B) {
	text, k := keyring.Make("alice")
	keys := make([]store.TenantKey, 1000)
	for i := range keys {
		_, keys[i] = keyring.Make("other")
	}
	r := keyring.New(keyring.Options{})
	if err := r.Refresh(b.Context(), listed(append(keys, k)).TenantKeys); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := r.Admit(text); err != nil {
			b.Fatal(err)
		}
	}
}

// listed is a store that has some keys and nothing else.
type listed []store.TenantKey

func (l listed) TenantKeys(context.Context) ([]store.TenantKey, error) { return l, nil }
func (l listed) AddKey(context.Context, store.TenantKey, store.Act) error {
	return errors.ErrUnsupported
}
func (l listed) RevokeKey(context.Context, string, store.Act) error { return errors.ErrUnsupported }

// What is done for a tenant without a key falls under what all of its keys allow, and under nothing of another's.
func TestAllowancesOfATenant(t *testing.T) {
	db := database(t)
	r := keyring.New(keyring.Options{})
	add(t, db, "alice", store.Limits{Budgets: []store.Allowance{{Per: "day", USD: 1}}})
	add(t, db, "alice", store.Limits{Budgets: []store.Allowance{{Per: "month", Tokens: 9}}})
	add(t, db, "bob", store.Limits{Budgets: []store.Allowance{{Per: "day", USD: 5}}})
	refresh(t, r, db)
	if got := r.Allowances("alice"); len(got) != 2 || got[0].USD+got[1].USD != 1 || got[0].Tokens+got[1].Tokens != 9 {
		t.Errorf("%+v", got)
	}
	if got := append(r.Allowances("carol"), (*keyring.Ring)(nil).Allowances("alice")...); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
