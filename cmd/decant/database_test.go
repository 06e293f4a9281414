package main

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/edge"
	"github.com/decantdev/decant/internal/process"
)

// A database that is damaged stops no agent: its requests go out as they came, and everybody is told.
func TestServeOnADamagedDatabase(t *testing.T) {
	var sent []byte
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		io.WriteString(w, `{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":1,"output_tokens":1}}`)
	}))
	defer up.Close()
	path := filepath.Join(t.TempDir(), "decant.db")
	if err := os.WriteFile(path, bytes.Repeat([]byte("no database of anybody's. "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Sources{Flags: map[string]string{"db": path, "anthropic_upstream": up.URL}})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	s, err := newService(t.Context(), new(process.Process), cfg, slog.New(slog.NewTextHandler(&log, nil)), edge.StoredKeys)
	if err != nil {
		t.Fatalf("the gateway does not start: %v", err)
	}
	ask := func(method, path, body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s.gateway.ServeHTTP(w, httptest.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body)))
		return w
	}
	body := `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`
	w := ask("POST", "/v1/messages", body)
	if w.Code != http.StatusOK || string(sent) != body || !strings.Contains(w.Header().Get("X-Decant-Fault"), "damaged") {
		t.Errorf("status %d, fault %q, sent %q", w.Code, w.Header().Get("X-Decant-Fault"), sent)
	}
	if w := ask("GET", "/readyz", ""); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "damaged") {
		t.Errorf("/readyz: %d %s", w.Code, w.Body)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), path) {
		t.Errorf("the log says %s", &log)
	}
}
