package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// told is what a gateway has told people of a pour.
type told struct {
	log, lines string
	events     []string // that were posted
}

// patient gives the engines of a test the time that a busy machine takes, so that no pour is missed.
func patient(t *testing.T) {
	was := timeouts
	timeouts = sandboxtest.Patient
	t.Cleanup(func() { timeouts = was })
}

// pouredAway lets a gateway with the preset agent-loop, at a lower threshold, pour a conversation once.
func pouredAway(t *testing.T, content bool) told {
	t.Helper()
	patient(t)
	out := told{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.URL.Path == "/hook" {
			out.events = append(out.events, string(body))
			return
		}
		io.WriteString(w, `{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":1,"output_tokens":1}}`)
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	file := filepath.Join(dir, "decant.yaml")
	settings := fmt.Sprintf("anthropic_upstream: %q\ndb: %q\npreset: %q\nhooks: {on_pour: {url: %q, content: %t}}\n",
		server.URL, filepath.Join(dir, "a.db"), filepath.Join(dir, "loop.yaml"), server.URL+"/hook", content)
	for name, text := range map[string]string{file: settings, filepath.Join(dir, "loop.yaml"): "name: loop\nbase: agent-loop\ntrigger: {tokens: 6000}\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load(config.Sources{File: file})
	if err != nil {
		t.Fatal(err)
	}
	var log said
	var lines bytes.Buffer
	srv, err := newService(t.Context(), new(process.Process), cfg, slog.New(slog.NewTextHandler(&log, nil)), nil)
	if err != nil {
		t.Fatal(err)
	}
	srv.board.Lines = &lines
	var ms []string
	for i := range 12 {
		ms = append(ms, fmt.Sprintf(`{"role":"user","content":"Question %d: %s"}`, i, strings.Repeat("which orders are open today? ", 100)))
		body := `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[` + strings.Join(ms, ",") + `]}`
		r := httptest.NewRequest("POST", "http://127.0.0.1/v1/messages", strings.NewReader(body))
		w := httptest.NewRecorder()
		srv.gateway.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
		ms = append(ms, fmt.Sprintf(`{"role":"assistant","content":"Answer %d."}`, i))
	}
	if err := srv.close(); err != nil { // waits for hooks, too
		t.Fatal(err)
	}
	out.log, out.lines = log.buf.String(), lines.String()
	return out
}

// Whoever watches a gateway reads the preset's lines, a notice in the log, and what a hook is told.
func TestPeopleAreToldOfPours(t *testing.T) {
	x := pouredAway(t, false)
	first, second, _ := strings.Cut(x.lines, "\n")
	if !strings.HasPrefix(first, "  Compaction: estimated ~6,") || !strings.Contains(first, ", threshold 6,000 — compacting ") || !strings.HasPrefix(second, "  Compaction: summarized ") {
		t.Errorf("lines:\n%s", x.lines)
	}
	if !strings.Contains(x.log, `msg=pour conversation=`) || !strings.Contains(x.log, "are a record of") {
		t.Errorf("log:\n%s", x.log)
	}
	if len(x.events) == 0 {
		t.Fatal("the hook was not told")
	}
	var e struct {
		Event        string
		Conversation string
		Facts        struct {
			Preset    string
			Before    int `json:"tokens_before"`
			Threshold int
		}
		Content map[string]string
	}
	if err := json.Unmarshal([]byte(x.events[0]), &e); err != nil {
		t.Fatal(err)
	}
	if e.Event != "pour" || e.Conversation == "" || e.Facts.Preset != "loop" || e.Facts.Before <= 6000 || e.Facts.Threshold != 6000 {
		t.Errorf("the hook was told %s", x.events[0])
	}
	if strings.Contains(x.events[0], "which orders") {
		t.Errorf("the hook was told content: %s", x.events[0])
	}
}

// A hook that asks for content has the record.
func TestHooksWithContent(t *testing.T) {
	if x := pouredAway(t, true); len(x.events) == 0 || !strings.Contains(x.events[0], `"content":{"summary":`) {
		t.Errorf("the hook was told %q", x.events)
	}
}
