package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/internal/keyring"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/sandbox"
)

// A desk is a gateway whose keys are in a store.
type desk struct {
	*world
	keys store.Store
	ring *keyring.Ring
	now  *atomic.Int64 // Unix time in seconds
}

// later moves the desk's clock.
func (d *desk) later(by time.Duration) { d.now.Add(int64(by / time.Second)) }

// settled waits until so many requests have ended: a client has its answer a little earlier.
func (d *desk) settled(n int) {
	for strings.Count(d.log.String(), "msg=request ") < n {
		runtime.Gosched()
	}
}

// newDesk starts one in front of an upstream. Its clock stands still.
func newDesk(t *testing.T, upstream http.Handler, o gateway.Options, eo engine.Options) *desk {
	t.Helper()
	d := &desk{now: &atomic.Int64{}}
	d.later(1000 * time.Second)
	var err error
	if d.keys, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "keys.db"), sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.keys.Close() })
	d.ring = keyring.New(keyring.Options{Now: d.clock})
	o.Keys = d.ring
	d.world = newWorld(t, upstream, o, eo)
	return d
}

func (d *desk) clock() time.Time { return time.Unix(d.now.Load(), 0) }

// add makes a key and returns its text and its id.
func (d *desk) add(tenant string, l store.Limits) (text, id string) {
	d.t.Helper()
	text, k := keyring.Make(tenant)
	k.Created, k.Limits = d.clock(), l
	err := d.keys.AddKey(d.t.Context(), k, store.Act{Time: d.clock()})
	if err == nil {
		err = d.ring.Refresh(d.t.Context(), d.keys.TenantKeys)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return text, k.ID
}

// ask sends a request with a key and checks the status.
func (d *desk) ask(when, key string, want int) (*http.Response, string) {
	d.t.Helper()
	res, text := d.post(d.url, "/v1/messages", hello, "X-Decant-Key", key)
	if res.StatusCode != want {
		d.t.Errorf("%s: status %d, want %d: %s", when, res.StatusCode, want, text)
	}
	return res, text
}

func TestStoredKeysComeAndGo(t *testing.T) {
	d := newDesk(t, strict(sandbox.Options{}), gateway.Options{}, engine.Options{})
	d.ask("before there is a key", "", 200)
	alice, id := d.add("alice", store.Limits{})
	d.ask("without one", "", 401)
	d.ask("with it", alice, 200)
	if err := d.keys.RevokeKey(t.Context(), id, store.Act{Time: d.clock()}); err != nil {
		t.Fatal(err)
	}
	d.ask("before the ring looks", alice, 200)
	if err := d.ring.Refresh(t.Context(), d.keys.TenantKeys); err != nil {
		t.Fatal(err)
	}
	d.ask("revoked", alice, 401)
	d.ask("when no key is left", "", 401)
	if log := d.logged(); !strings.Contains(log, "tenant=alice key="+id) || strings.Contains(log, alice) {
		t.Errorf("the log:\n%s", log)
	}
}

func TestRequestsPerMinute(t *testing.T) {
	up := strict(sandbox.Options{})
	d := newDesk(t, up, gateway.Options{}, engine.Options{})
	slow, _ := d.add("alice", store.Limits{Requests: 2})
	fast, _ := d.add("bob", store.Limits{})
	d.ask("first", slow, 200)
	d.ask("second", slow, 200)
	res, text := d.ask("third", slow, 429)
	if res.Header.Get("Retry-After") != "30" || !strings.Contains(text, `"type":"rate_limit_error"`) ||
		!strings.Contains(res.Header.Get("X-Decant-Refused"), "2 requests a minute") || res.Header.Get("X-Decant-Request") == "" {
		t.Errorf("%v\n%s", res.Header, text)
	}
	if res, _ := d.post(d.url, "/v1/messages/count_tokens", hello, "X-Decant-Key", slow); res.StatusCode != 429 {
		t.Errorf("another door: status %d", res.StatusCode)
	}
	d.ask("somebody else", fast, 200)
	d.later(30 * time.Second)
	d.ask("half a minute later", slow, 200)
	if got := d.value("decant_rate_refusals_total "); got != "2" {
		t.Errorf("%s refusals counted, want 2", got)
	}
}

// What a request uses is known when it ends; the next one waits for it.
func TestTokensPerMinute(t *testing.T) {
	for _, c := range []struct {
		name, usage string
		wait        string
	}{
		{"Reported", `{"input_tokens":900,"output_tokens":300,"cache_read_input_tokens":50000,"cache_creation_input_tokens":0}`, "60"},
		{"ReadFromTheCache", `{"input_tokens":10,"output_tokens":10,"cache_read_input_tokens":50000,"cache_creation_input_tokens":0}`, ""},
		{"NotReported", `{}`, "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pad := ""
			if c.usage == "{}" { // 600 tokens' worth of bytes, and what stands around them
				pad = strings.Repeat("x", 4*600-len(hello))
			}
			up := handler(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"content":[],"usage":%s,"pad":"%s"}`, c.usage, pad)
			})
			d := newDesk(t, up, gateway.Options{}, engine.Options{})
			key, _ := d.add("alice", store.Limits{Tokens: 600})
			d.ask("first", key, 200)
			d.settled(1)
			if c.wait == "" {
				d.ask("second", key, 200)
				return
			}
			res, _ := d.ask("second", key, 429)
			if got := res.Header.Get("Retry-After"); got != c.wait && c.wait != "1" {
				t.Errorf("retry after %s s, want %s", got, c.wait)
			}
			d.later(time.Minute + time.Second)
			d.ask("when the debt is paid", key, 200)
		})
	}
}

// A key's budget is of the tenant's spending; another tenant, and another key of the same, have nothing to do with it.
func TestBudgetsOfKeys(t *testing.T) {
	d := newDesk(t, strict(sandbox.Options{}), gateway.Options{}, engine.Options{ArchiveDelay: -1})
	small, _ := d.add("alice", store.Limits{Budgets: []store.Allowance{{Per: "day", Tokens: 400}}})
	large, _ := d.add("alice", store.Limits{Budgets: []store.Allowance{{Per: "tenant", Tokens: 1 << 30, USD: 1000}}})
	other, _ := d.add("bob", store.Limits{Budgets: []store.Allowance{{Per: "day", Tokens: 400}}})
	var refused string
	for range 100 {
		res, text := d.post(d.url, "/v1/messages", hello, "X-Decant-Key", small)
		d.engine.Close() // it is booked
		if res.StatusCode == 402 {
			refused = text
			break
		}
	}
	if !strings.Contains(refused, `"type":"billing_error"`) || !strings.Contains(refused, "the day's budget of 400 tokens") ||
		!strings.Contains(refused, "use a key with a larger one") {
		t.Errorf("refused with %q", refused)
	}
	d.ask("a key with a larger budget", large, 200)
	d.ask("another tenant", other, 200)
	for name, want := range map[string]string{"decant_budget_refusals_total ": "1", `decant_requests_total{door="messages",status="402"} `: "1"} {
		if got := d.value(name); got != want {
			t.Errorf("%s%s, want %s", name, got, want)
		}
	}
}

// Nothing leads past what a key's budget limits, and no header weakens what keys guard. The one local user, whom no
// key guards, may choose.
func TestNothingLeavesABudgetOfAKey(t *testing.T) {
	d := newDesk(t, strict(sandbox.Options{}), gateway.Options{}, engine.Options{})
	if res, text := d.post(d.url, "/v1/messages", hello, "X-Decant-Mode", "off"); res.StatusCode != 200 {
		t.Errorf("the one local user: status %d, %s", res.StatusCode, text)
	}
	key, _ := d.add("alice", store.Limits{Budgets: []store.Allowance{{Per: "day", Tokens: 1 << 30}}})
	free, _ := d.add("bob", store.Limits{})
	for _, c := range []struct {
		name, key, path string
		header          []string
		want            int
	}{
		{"Plain", key, "/v1/messages", nil, 200},
		{"Off", key, "/v1/messages", []string{"X-Decant-Mode", "off"}, 400},
		{"OffWithoutBudget", free, "/v1/messages", []string{"X-Decant-Mode", "off"}, 400},
		{"NoBatch", key, "/v1/messages/batches", nil, 400},
		{"Encoding", key, "/v1/messages", []string{"Content-Encoding", "br"}, 415},
	} {
		res, text := d.post(d.url, c.path, hello, append(c.header, "X-Decant-Key", c.key)...)
		if res.StatusCode != c.want {
			t.Errorf("%s: status %d, want %d: %s", c.name, res.StatusCode, c.want, text)
		}
	}
}

// value returns what a metric is.
func (d *desk) value(series string) string {
	d.t.Helper()
	d.server.Close() // every request has been counted
	rec := httptest.NewRecorder()
	d.gateway.Operations().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(rec.Body.String()) {
		if v, ok := strings.CutPrefix(line, series); ok {
			return strings.TrimSpace(v)
		}
	}
	d.t.Fatalf("no metric %s in\n%s", series, rec.Body)
	return ""
}

// Metrics are sums of all tenants: a tenant's key does not show them, a token of the operator's does.
func TestWhoMaySeeMetrics(t *testing.T) {
	for _, c := range []struct {
		name, token string
		keys        *keyring.Ring
		header      []string
		want        int
	}{
		{"OneUser", "", nil, nil, 200},
		{"NoKeyYet", "", keyring.New(keyring.Options{}), nil, 200},
		{"Nobody", "", keys, nil, 403},
		{"Tenant", "", keys, []string{"X-Decant-Key", aliceKey}, 403},
		{"TenantWithoutToken", "t", keys, []string{"X-Decant-Key", aliceKey}, 401},
		{"WrongToken", "t", nil, []string{"Authorization", "Bearer tt"}, 401},
		{"NotABearer", "t", nil, []string{"Authorization", "Basic t"}, 401},
		{"Token", "t", keys, []string{"Authorization", "Bearer t"}, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, http.NotFoundHandler(), gateway.Options{Keys: c.keys, MetricsToken: c.token}, engine.Options{})
			res, text := get(t, w, "/metrics", c.header...)
			if shown := strings.Contains(text, "decant_"); res.StatusCode != c.want || shown != (c.want == 200) {
				t.Errorf("status %d, shown: %t; want %d", res.StatusCode, shown, c.want)
			}
		})
	}
}

func TestOperationsAskForNoKey(t *testing.T) {
	w := newWorld(t, http.NotFoundHandler(), gateway.Options{Keys: keys, Version: "v1.2.3", Commit: "abc"}, engine.Options{})
	srv := httptest.NewServer(w.gateway.Operations())
	defer srv.Close()
	for path, want := range map[string]string{
		"/metrics": `decant_build_info{commit="abc",go="go`, "/healthz": "ok", "/readyz": "ready",
	} {
		res, err := http.Get(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != 200 || !strings.Contains(string(text), want) {
			t.Errorf("%s: status %d, want %q in\n%s", path, res.StatusCode, want, text)
		}
	}
	if res, err := http.Post(srv.URL+"/v1/messages", "application/json", strings.NewReader(hello)); err != nil || res.StatusCode != 404 {
		t.Errorf("%v, %v", res, err)
	} else {
		res.Body.Close()
	}
}

// What is booked is counted: what was spent, what the same would have cost, and why tokens were written to the cache.
func TestMoneyIsCounted(t *testing.T) {
	reg := prometheus.NewRegistry()
	money, err := gateway.NewMoney(reg)
	if err != nil {
		t.Fatal(err)
	}
	const billion = store.Money(1e9)
	money.Book("alice", []store.Spend{
		{Cost: 1 * billion, Bare: 3 * billion, Rewrite: billion / 2, Writes: []store.Write{{Cause: "expired", Tokens: 700}, {Cause: "new text", Tokens: 30}}},
		{Cost: 1 * billion, Bare: 9 * billion, Over: true}, // nobody could have sent it
		{Cost: 2 * billion, Bare: 2 * billion, Trial: &store.Trial{Cost: billion}},
	})
	got := map[string]float64{}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.Metric {
			got[m.Label[0].GetValue()] = m.Counter.GetValue()
		}
	}
	for kind, want := range map[string]float64{"spent": 4, "without": 6, "rewrite": 0.5, "planned": 1, "expired": 700, "new text": 30, "not explained": 0} {
		if v, ok := got[kind]; !ok || v != want {
			t.Errorf("%s: %g, want %g", kind, v, want)
		}
	}
}

func TestEngineTellsWhatItBooks(t *testing.T) {
	booked := make(chan string, 10)
	w := newWorld(t, strict(sandbox.Options{}), gateway.Options{Keys: keys}, engine.Options{OnBooked: func(tenant string, spends []store.Spend) {
		for _, s := range spends {
			booked <- fmt.Sprint(tenant, " ", s.Model, " ", s.Cost > 0)
		}
	}})
	for range 2 {
		w.post(w.url, "/v1/messages", hello, "X-Decant-Key", aliceKey)
		w.engine.Close()
	}
	close(booked)
	n := 0
	for got := range booked {
		if n++; got != "alice claude-sonnet-4-5 true" {
			t.Errorf("booked %q", got)
		}
	}
	if n != 2 {
		t.Errorf("%d requests booked, want 2", n)
	}
}

// An informational answer before the answer does not take the id with it.
func TestRequestIDAfterEarlyHints(t *testing.T) {
	w := newWorld(t, handler(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusOK)
	}), gateway.Options{}, engine.Options{})
	if res, _ := get(t, w, "/v1/models"); res.StatusCode != 200 || len(res.Header.Values("X-Decant-Request")) != 1 {
		t.Errorf("status %d, id %q", res.StatusCode, res.Header.Values("X-Decant-Request"))
	}
}

// Each request has an id, which the answer and the log name.
func TestRequestIDs(t *testing.T) {
	w := newWorld(t, strict(sandbox.Options{}), gateway.Options{Keys: keys}, engine.Options{})
	seen := map[string]bool{}
	for _, key := range []string{aliceKey, "wrong"} {
		res, _ := w.post(w.url, "/v1/messages", hello, "X-Decant-Key", key)
		id := res.Header.Get("X-Decant-Request")
		if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(id) || seen[id] {
			t.Errorf("id %q", id)
		}
		seen[id] = true
	}
	log := w.logged()
	for id := range seen {
		if !strings.Contains(log, "request="+id) {
			t.Errorf("the log lacks request %s", id)
		}
	}
	if !strings.Contains(log, "upstream_request=req_") {
		t.Errorf("the log lacks the provider's id:\n%s", log)
	}
}
