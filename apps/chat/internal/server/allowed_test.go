package chatserver

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/internal/keyring"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// key adds a key of a tenant and returns the header that shows it.
func (w *world) key(tenant string, l store.Limits) map[string]string {
	w.Helper()
	text, k := keyring.Make(tenant)
	k.Limits = l
	err := w.db.Store().AddKey(w.Context(), k, store.Act{Time: time.Unix(1, 0), Action: "key add"})
	if err == nil {
		err = w.keys.Refresh(w.Context(), w.db.Store().TenantKeys)
	}
	if err != nil {
		w.Fatal(err)
	}
	return map[string]string{"Authorization": "Bearer " + text}
}

// with returns a header with one more field.
func with(h map[string]string, name, value string) map[string]string {
	out := maps.Clone(h)
	out[name] = value
	return out
}

func ring(w *world) { w.keys = keyring.New(keyring.Options{}) }

// What a limit of a key, of the settings or of a session has no room for is refused with 402 at each door, before a model is asked;
// nothing was said then, so that it can be said again with the same Idempotency-Key.
func TestLimitsHoldBeforeAModelIsAsked(t *testing.T) {
	a := func(per string, tokens int, usd float64) store.Limits {
		return store.Limits{Budgets: []store.Allowance{{Per: per, Tokens: tokens, USD: usd}}}
	}
	for name, c := range map[string]struct {
		key      store.Limits
		settings []budget.Budget
		usd      float64
		says     string
	}{
		"tokens of a key":          {key: a("tenant", 1, 0), says: "use a key with a larger one"},
		"tokens of a key a day":    {key: a("day", 1, 0), says: "00:00 UTC"},
		"dollars of a key":         {key: a("tenant", 0, 0.00001), says: "use a key with a larger one"},
		"dollars of a key a month": {key: a("month", 0, 0.00001), says: "first of the next month"},
		"budget of the settings":   {settings: []budget.Budget{{Per: "tenant", Tokens: 100}}, says: "budgets in the settings"},
		"budget of conversations":  {settings: []budget.Budget{{Per: "conversation", USD: 0.00001}}, says: "budgets in the settings"},
		"budget of a session":      {usd: 0.00001, says: "--max-budget-usd"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, echo, ring, func(w *world) { w.budgets, w.usd = c.settings, c.usd })
			h := w.key("ann", c.key)
			id := get[summary](w, 201, httpCall{method: "POST", path: "/v1/sessions", header: maps.Clone(h)}).ID
			messages := "/v1/sessions/" + id + "/messages"
			for range 2 {
				for _, d := range []httpCall{
					{method: "POST", path: messages, body: `{"text":"hello"}`, header: with(h, "Idempotency-Key", "k")},
					{method: "POST", path: messages, body: `{"text":"hello"}`, header: with(h, "Accept", "text/event-stream")},
					{method: "POST", path: "/v1/chat/completions", body: `{"model":"default","messages":[{"role":"user","content":"hello"}]}`, header: maps.Clone(h)},
					{method: "POST", path: "/v1/chat/completions", body: `{"model":"default","stream":true,"messages":[{"role":"user","content":"hello"}]}`, header: maps.Clone(h)},
				} {
					got := get[map[string]map[string]string](w, 402, d)["error"]
					if got["type"] != "budget" || !strings.Contains(got["message"], c.says) {
						t.Errorf("%s is refused with %v, want %q", d.path, got, c.says)
					}
				}
			}
			if n := w.asked(); n != 0 {
				t.Errorf("the model was asked %d times", n)
			}
			if said := get[[]message](w, 200, httpCall{method: "GET", path: messages, header: maps.Clone(h)}); len(said) != 0 {
				t.Errorf("the session has %+v", said)
			}
		})
	}
}

// What goes on without a message of its own is refused, too: a run that was interrupted, and a turn that is answered once more.
func TestLimitsHoldForWhatGoesOn(t *testing.T) {
	w := newWorld(t, echo, ring)
	free, poor := w.key("ann", store.Limits{}), w.key("ann", store.Limits{Budgets: []store.Allowance{{Per: "day", Tokens: 1}}})
	id := get[summary](w, 201, httpCall{method: "POST", path: "/v1/sessions", header: maps.Clone(free)}).ID
	at := "/v1/sessions/" + id
	get[outcome](w, 200, httpCall{method: "POST", path: at + "/messages", body: `{"text":"hello"}`, header: maps.Clone(free)}) // the other key of the tenant has no limit
	asked := w.asked()
	get[any](w, 402, httpCall{method: "POST", path: at + "/what-if", body: `{"model":"claude-haiku-4-5"}`, header: maps.Clone(poor)})
	fork := get[summary](w, 201, httpCall{method: "POST", path: at + "/fork", body: `{"message":0}`, header: maps.Clone(poor)}).ID
	get[any](w, 402, httpCall{method: "POST", path: "/v1/sessions/" + fork + "/messages", body: `{"text":"hello"}`, header: maps.Clone(poor)})
	if n := w.asked() - asked; n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
	w.legal()
}

// What a request may cost is held back while it is answered: one beside it, at another door, cannot spend it a second time.
func TestRequestsSideBySideCannotOverspend(t *testing.T) {
	asked, let := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(let) })
	defer release()
	var calls atomic.Int32
	model := sandboxtest.Model(func(*sandbox.Prompt) sandbox.Answer {
		if calls.Add(1) == 1 { // further calls are answered at once
			close(asked)
			<-let
		}
		return says("Yes.")
	})
	w := newWorld(t, model, ring, func(w *world) { w.timeouts.Optional = time.Second }) // as long as a budget is waited for
	h := w.key("ann", store.Limits{Budgets: []store.Allowance{{Per: "tenant", Tokens: 12_000}}})
	id := get[summary](w, 201, httpCall{method: "POST", path: "/v1/sessions", header: maps.Clone(h)}).ID
	status := make(chan int, 1)
	go func() {
		res := w.do(httpCall{method: "POST", path: "/v1/sessions/" + id + "/messages", body: `{"text":"hello"}`, header: with(h, "Accept", "application/json")})
		defer res.Body.Close()
		status <- res.StatusCode
	}()
	<-asked
	completion := `{"model":"default","messages":[{"role":"user","content":"hello"}]}`
	get[any](w, 402, httpCall{method: "POST", path: "/v1/chat/completions", body: completion, header: maps.Clone(h)})
	release()
	if got := <-status; got != 200 {
		t.Errorf("the first one: %d", got)
	}
	if err := w.db.Engine().Flush(t.Context()); err != nil { // books it
		t.Fatal(err)
	}
	get[any](w, 200, httpCall{method: "POST", path: "/v1/chat/completions", body: completion, header: maps.Clone(h)}) // it used less than was held back
}

// asked returns how many answers the model was asked for.
func (w *world) asked() (n int) {
	for _, e := range w.model.Log.Entries() {
		if e.Path == "/v1/messages" {
			n++
		}
	}
	return n
}

// Tokens count for the limit of a key per minute, whatever door they were used at; the answer says when to come again.
func TestTokensPerMinute(t *testing.T) {
	for path, body := range map[string]string{
		"/v1/sessions/ID/messages": `{"text":"hello"}`, "/v1/chat/completions": `{"model":"default","messages":[{"role":"user","content":"hello"}]}`,
	} {
		w := newWorld(t, echo, ring)
		h := w.key("ann", store.Limits{Tokens: 10})
		path = strings.Replace(path, "ID", get[summary](w, 201, httpCall{method: "POST", path: "/v1/sessions", header: maps.Clone(h)}).ID, 1)
		get[any](w, 200, httpCall{method: "POST", path: path, body: body, header: maps.Clone(h)})
		res := w.do(httpCall{method: "POST", path: path, body: body, header: h})
		res.Body.Close()
		if res.StatusCode != 429 || res.Header.Get("Retry-After") == "" {
			t.Errorf("%s: status %d, Retry-After %q", path, res.StatusCode, res.Header.Get("Retry-After"))
		}
		w.close()
	}
}

// A stranger is a client that has sent half of a body, and the connection to it.
type stranger struct {
	*httptest.ResponseRecorder
	half  io.Reader
	until time.Time
}

func (s *stranger) SetReadDeadline(t time.Time) error { s.until = t; return nil }

func (s *stranger) Read(p []byte) (int, error) {
	if n, err := s.half.Read(p); err == nil {
		return n, nil
	}
	if s.until.IsZero() {
		select {} // for ever
	}
	time.Sleep(time.Until(s.until))
	return 0, os.ErrDeadlineExceeded
}

func (s *stranger) Close() error { return nil }

// A body that does not come is waited for as long as the gateway waits, with a key or without one.
func TestHalfABody(t *testing.T) {
	ann, _, change := keyed(t)
	w := newWorld(t, echo, change)
	for path, half := range map[string]string{"/v1/login": `{"key":"`, "/v1/chat/completions": `{"model":"`} {
		synctest.Test(t, func(t *testing.T) {
			s, begun := &stranger{ResponseRecorder: httptest.NewRecorder(), half: strings.NewReader(half)}, time.Now()
			r := httptest.NewRequest("POST", path, s)
			r.Header.Set("Authorization", "Bearer "+ann)
			r.ContentLength = 1000
			w.service.ServeHTTP(s, r)
			if s.Code != http.StatusRequestTimeout || s.Header().Get("Connection") != "close" || time.Since(begun) != 30*time.Second {
				t.Errorf("%s: status %d after %v, header %v", path, s.Code, time.Since(begun), s.Header())
			}
		})
	}
}

// Of a login that is too large to be one nothing is read: whoever sends it has shown no key.
func TestALoginIsSmall(t *testing.T) {
	_, _, change := keyed(t)
	w := newWorld(t, echo, change)
	read := &countingReader{}
	r := httptest.NewRequest("POST", "/v1/login", read)
	r.ContentLength = 33_000_000
	s := httptest.NewRecorder()
	w.service.ServeHTTP(s, r)
	if s.Code != http.StatusRequestEntityTooLarge || read.n != 0 {
		t.Errorf("status %d after %d bytes", s.Code, read.n)
	}
	s = httptest.NewRecorder() // of one that does not say how long it is, no more than a login has
	r = httptest.NewRequest("POST", "/v1/login", read)
	r.ContentLength = -1
	w.service.ServeHTTP(s, r)
	if s.Code != http.StatusRequestEntityTooLarge || read.n > 1<<20 {
		t.Errorf("status %d after %d bytes", s.Code, read.n)
	}
}

// A countingReader says {"key":"xxx and so on, without an end.
type countingReader struct{ n int }

func (c *countingReader) Read(p []byte) (int, error) {
	copy(p, bytes.Repeat([]byte("x"), len(p)))
	if c.n == 0 {
		copy(p, `{"key":"`)
	}
	c.n += len(p)
	return len(p), nil
}
