package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/internal/keyring"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
)

const (
	aliceKey = "alice-key-7f3a"
	bobKey   = "bob-key-9c1d"
)

var keys = keyring.New(keyring.Options{Keys: []keyring.Key{
	keyring.NewKey("alice", aliceKey), keyring.NewKey("bob", bobKey), keyring.NewKey("bob", "bob-second"),
}})

func TestTenantsAreApart(t *testing.T) {
	up := strict(sandbox.Options{})
	w := newWorld(t, up, gateway.Options{Keys: keys}, engine.Options{})
	ids := map[string]string{}
	for range 2 {
		for tenant, key := range map[string]string{"alice": aliceKey, "bob": bobKey} {
			res, text := w.post(w.url, "/v1/messages", hello, "X-Decant-Key", key, "X-Decant-Session", "the same")
			if res.StatusCode != 200 {
				t.Fatalf("%s: status %d: %s", tenant, res.StatusCode, text)
			}
			if k := up.Log.Last().Header.Get("X-Decant-Key"); k != "" {
				t.Errorf("the key went to the upstream: %s", k)
			}
			if id := res.Header.Get("X-Decant-Conversation"); id != "" {
				ids[id] = tenant
			}
			w.engine.Close()
		}
	}
	if len(ids) != 2 {
		t.Errorf("conversations %v, want one each", ids)
	}
	for id, tenant := range ids {
		if _, err := w.store.Load(t.Context(), store.Key{Tenant: tenant, ID: id}, store.Newest); err != nil {
			t.Errorf("%s of %s: %v", id, tenant, err)
		}
	}
	for _, tenant := range []string{"alice", "bob"} {
		if cs, err := w.store.Conversations(t.Context(), store.Filter{Tenant: tenant}); err != nil || len(cs) != 1 {
			t.Errorf("%d conversations of %s, want one: %v", len(cs), tenant, err)
		}
	}
}

func TestWithoutAKeyNothingPasses(t *testing.T) {
	passed := 0
	w := newWorld(t, handler(func(http.ResponseWriter, *http.Request) { passed++ }), gateway.Options{Keys: keys}, engine.Options{})
	for _, key := range []string{"", "alice", "alice-key-7f3", aliceKey + "x", strings.ToUpper(bobKey)} {
		for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens", "/v1/messages/batches"} {
			res, text := w.post(w.url, path, hello, "X-Decant-Key", key)
			if res.StatusCode != http.StatusUnauthorized || !strings.Contains(text, `"type":"authentication_error"`) {
				t.Errorf("%s with key %q: status %d, %s", path, key, res.StatusCode, text)
			}
		}
		if res, _ := get(t, w, "/metrics", "X-Decant-Key", key); res.StatusCode == 200 {
			t.Errorf("metrics with key %q: status %d", key, res.StatusCode)
		}
	}
	if passed > 0 {
		t.Errorf("%d requests passed", passed)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if res, text := get(t, w, path); res.StatusCode != 200 {
			t.Errorf("%s: status %d, %s", path, res.StatusCode, text)
		}
	}
}

// What was said, and every key, stays out of logs and metrics: in answers, refusals and failures.
func TestLogsHoldNoContentAndNoKeys(t *testing.T) {
	up := strict(sandbox.Options{Model: &sandbox.Rules{}})
	w := newWorld(t, up, gateway.Options{Keys: keys, MetricsToken: "token-for-metrics"}, engine.Options{})
	secrets := []string{aliceKey, "wrong-key-1", "sk-ant-secret", "bearer-secret", "query-secret", "content-secret", "session-secret", "cookie-secret"}
	body := strings.Replace(hello, "Hello.", "content-secret", 1)
	header := []string{"Authorization", "Bearer bearer-secret", "Cookie", "cookie-secret", "X-Decant-Session", "session-secret"}
	for _, key := range []string{aliceKey, "wrong-key-1"} {
		for _, b := range []string{body, "{broken content-secret", strings.Replace(body, "claude-sonnet-4-5", "content-secret", 1)} {
			for _, path := range []string{"/v1/messages?key=query-secret", "/v1/messages/count_tokens?key=query-secret", "/v1/other?key=query-secret"} {
				w.post(w.url, path, b, append(header, "X-Decant-Key", key)...)
			}
		}
	}
	up.Inject(sandbox.Fault{Kind: sandbox.FaultReset})
	w.post(w.url, "/v1/messages", body, append(header, "X-Decant-Key", aliceKey)...)
	w.engine.Close()
	_, metrics := get(t, w, "/metrics", "Authorization", "Bearer token-for-metrics")
	if !strings.Contains(metrics, "decant_requests_total") {
		t.Error(metrics)
	}
	log := w.logged()
	for _, s := range secrets {
		if strings.Contains(log, s) {
			t.Errorf("the log holds %q:\n%s", s, log)
		}
		if strings.Contains(metrics, s) {
			t.Errorf("the metrics hold %q", s)
		}
	}
	for _, want := range []string{"status=200", "status=401", "status=400", "status=502", "tenant=alice", "path=/v1/messages ", "held_ms=", "usage_prompt="} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
}

// Whatever clients send, the number of time series is bounded.
func TestMetricsAreBounded(t *testing.T) {
	n := 0
	w := newWorld(t, handler(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200 + n%390)
	}), gateway.Options{}, engine.Options{})
	for ; n < 500; n++ {
		w.post(w.url, fmt.Sprintf("/v1/path-%d", n), fmt.Sprintf(`{"model":"model-%d"}`, n), "X-Decant-Session", fmt.Sprint(n), "User-Agent", fmt.Sprint("agent-", n))
	}
	_, text := get(t, w, "/metrics")
	series := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "decant_") {
			series++
		}
	}
	if series == 0 || series > 150 {
		t.Errorf("%d series", series)
	}
}
