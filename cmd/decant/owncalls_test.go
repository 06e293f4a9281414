package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
)

const (
	clientKey = "sk-ant-client-0123456789"
	ourKey    = "sk-ant-ours-9876543210"
)

// asked is what a gateway has asked of models beside what its client did.
type asked struct {
	keys   []string // of the calls
	bodies string
	own    store.Total
	log    string
	shown  string // by /metrics
}

// serveWith lets a gateway with some settings pour a conversation because its window demands it.
func serveWith(t *testing.T, settings string) (out asked) {
	t.Helper()
	patient(t)
	model := sandbox.New(sandbox.Options{Model: sandbox.Summarizer{}, Keys: []string{clientKey, ourKey}})
	var mu sync.Mutex
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Mine") == "" { // the log of the sandbox has no keys
			mu.Lock()
			out.keys = append(out.keys, r.Header.Get("X-Api-Key"))
			mu.Unlock()
		}
		model.ServeHTTP(w, r)
	}))
	t.Cleanup(upstream.Close)
	dir := t.TempDir()
	file := filepath.Join(dir, "decant.yaml")
	text := fmt.Sprintf("anthropic_upstream: %q\ndb: %q\nwindow: 16000\nearly_pours: off\n", upstream.URL, filepath.Join(dir, "a.db")) +
		strings.ReplaceAll(settings, "UPSTREAM", upstream.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Sources{File: file, Environ: []string{"OUR_KEY=" + ourKey}})
	if err != nil {
		t.Fatal(err)
	}
	var log said
	srv, err := newService(t.Context(), new(process.Process), cfg, slog.New(slog.NewTextHandler(&log, nil)), nil)
	if err != nil {
		t.Fatal(err)
	}
	mine := converse(t, srv, 12)
	w := httptest.NewRecorder()
	srv.gateway.ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1/metrics", nil))
	db := srv.store.current.Load()
	db.engine.Close()
	totals, err := db.Spending(t.Context(), store.SpendQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, total := range totals {
		if total.Own > 0 {
			out.own = total
		}
	}
	if err := srv.close(); err != nil {
		t.Fatal(err)
	}
	for _, e := range model.Log.Entries() {
		if e.Header.Get("X-Mine") == "" {
			out.bodies += string(e.Body) + "\n"
		}
	}
	if n := len(model.Log.Entries()) - len(out.keys); n != mine {
		t.Errorf("%d requests of the client arrived, %d were sent", n, mine)
	}
	out.log, out.shown = log.buf.String(), w.Body.String()
	return out
}

// converse holds a conversation that grows beyond its window, and returns how many requests it took.
func converse(t *testing.T, srv *service, rounds int) int {
	t.Helper()
	var ms []string
	for i := range rounds {
		ms = append(ms, fmt.Sprintf(`{"role":"user","content":"Look at part %d."}`, i))
		body := `{"model":"claude-sonnet-4-5","max_tokens":500,"messages":[` + strings.Join(ms, ",") + `]}`
		r := httptest.NewRequest("POST", "http://127.0.0.1/v1/messages", strings.NewReader(body))
		r.Header = http.Header{"X-Api-Key": {clientKey}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}, "X-Mine": {"1"}}
		w := httptest.NewRecorder()
		srv.gateway.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
		ms = append(ms, fmt.Sprintf(`{"role":"assistant","content":%q}`, fmt.Sprintf("Part %d is in src/part%d.go. ", i, i)+strings.Repeat(fmt.Sprintf("Function number %d of it sorts the orders by their dates. ", i), 90)))
	}
	return rounds
}

// Without settings no model is asked.
func TestNoModelIsAskedWithoutSettings(t *testing.T) {
	for _, settings := range []string{"", "summary: {model: 'off', api_key_env: OUR_KEY, use_client_credential: true}\n"} {
		if got := serveWith(t, settings); len(got.keys) > 0 || got.own.Own > 0 || strings.Contains(got.log, "own call") {
			t.Errorf("%q: asked %d times, %+v", settings, len(got.keys), got.own)
		}
	}
}

// A configured model writes the record of a pour; the call is in the ledger under it, in the log and in metrics, and the key
// is nowhere but in the call.
func TestAConfiguredModelIsAsked(t *testing.T) {
	t.Parallel()
	got := serveWith(t, "summary: {api_key_env: OUR_KEY, base_url: 'UPSTREAM'}\n")
	if len(got.keys) == 0 || strings.Count(strings.Join(got.keys, " "), ourKey) != len(got.keys) || !strings.Contains(got.bodies, `"model":"claude-haiku-5-5"`) {
		t.Fatalf("asked with %q: %.300s\n%s", got.keys, got.bodies, got.log)
	}
	if got.own.Own == 0 || got.own.OwnCost == 0 || got.own.Model != "claude-haiku-5-5" {
		t.Errorf("booked %+v", got.own)
	}
	for _, want := range []string{`decant_own_calls_total{outcome="answered",purpose="record"}`, `decant_own_usd_total{purpose="record"}`, `decant_own_tokens_total{kind="prompt",purpose="record"}`} {
		if !strings.Contains(got.shown, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	if !strings.Contains(got.log, "purpose=record") || strings.Contains(got.log+got.shown, ourKey) || strings.Contains(got.log+got.shown, clientKey) {
		t.Errorf("log: %s", got.log)
	}
}

// With its leave the client's own credential asks a cheap model of the same provider about the client's conversation.
func TestTheClientsCredentialIsUsed(t *testing.T) {
	t.Parallel()
	got := serveWith(t, "summary: {use_client_credential: true}\n")
	if len(got.keys) == 0 || strings.Count(strings.Join(got.keys, " "), clientKey) != len(got.keys) {
		t.Fatalf("asked with %q\n%s", got.keys, got.log)
	}
	if got.own.Own == 0 || strings.Contains(got.log+got.shown, clientKey) {
		t.Errorf("booked %+v; log: %s", got.own, got.log)
	}
}
