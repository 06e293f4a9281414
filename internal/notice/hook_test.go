package notice_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/decantdev/decant/internal/notice"
)

// TestMain is the command of the hooks, too: one that writes what it reads into a file, or one that never ends.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "write" {
		in, err := io.ReadAll(os.Stdin)
		if err == nil {
			err = os.WriteFile(os.Args[2], append(in, strings.Join(os.Environ(), "\n")...), 0o600)
		}
		if err != nil {
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "hang" {
		select {}
	}
	os.Exit(m.Run())
}

// A sink is a log that is read while it is written.
type sink struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

func event(name string) notice.Event {
	return notice.Event{Name: name, Time: time.Unix(0, 0).UTC(), Tenant: "acme", Conversation: "c1", Facts: map[string]int{"freed": 72_000}, Content: map[string]string{"summary": "the user's words"}}
}

// tell tells hooks of events and waits for them.
func tell(t *testing.T, to notice.Hook, client http.RoundTripper, events ...notice.Event) (log string) {
	t.Helper()
	s := &sink{}
	h := notice.NewHooks(notice.HookOptions{Hooks: map[string]notice.Hook{notice.OnPour: to}, Client: client, Logger: slog.New(slog.NewTextHandler(s, nil))})
	for _, e := range events {
		h.Tell(e)
	}
	h.Close()
	return s.String()
}

// A command reads the event, without the text of the conversation and without the environment's keys.
func TestCommand(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-ant-secret")
	for _, content := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "event.json")
		log := tell(t, notice.Hook{Command: []string{os.Args[0], "write", file}, Timeout: time.Minute, Content: content}, nil, event(notice.OnPour))
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%v; %s", err, log)
		}
		line, env, _ := strings.Cut(string(got), "\n")
		var e struct {
			Event, Tenant, Conversation string
			Facts                       map[string]int
			Content                     map[string]string
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Event != "pour" || e.Tenant != "acme" || e.Conversation != "c1" || e.Facts["freed"] != 72_000 {
			t.Errorf("the command reads %s", line)
		}
		if has := e.Content["summary"] != ""; has != content {
			t.Errorf("content is asked for: %t, and there: %t", content, has)
		}
		if strings.Contains(env, "secret") {
			t.Errorf("the command has the environment\n%s", env)
		}
	}
}

// A command that never ends is ended, and events behind it are told.
func TestCommandsHaveATimeLimit(t *testing.T) {
	log := tell(t, notice.Hook{Command: []string{os.Args[0], "hang"}, Timeout: 20 * time.Millisecond}, nil, event(notice.OnPour), event(notice.OnPour))
	if strings.Count(log, "it took too long") != 2 {
		t.Errorf("log: %s", log)
	}
}

func TestPost(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = append(got, r.Method+" "+r.URL.Path+" "+r.Header.Get("Content-Type")+" "+string(body))
		if len(got) == 2 {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer server.Close()
	log := tell(t, notice.Hook{URL: server.URL + "/hooks/token-of-mine"}, http.DefaultTransport, event(notice.OnPour), event(notice.OnPour), event(notice.OnFlush))
	if len(got) != 2 || !strings.HasPrefix(got[0], `POST /hooks/token-of-mine application/json {"event":"pour"`) || strings.Contains(got[0], "words") {
		t.Errorf("posted: %q", got)
	}
	if !strings.Contains(log, "status 418") || strings.Contains(log, "token-of-mine") {
		t.Errorf("log: %s", log)
	}
}

// Whoever tells is never kept waiting: what has no room is dropped, and the log says how much.
func TestTellNeverBlocks(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer server.Close()
	s := &sink{}
	h := notice.NewHooks(notice.HookOptions{
		Hooks:  map[string]notice.Hook{notice.OnPour: {URL: server.URL, Timeout: time.Minute}},
		Client: http.DefaultTransport, Logger: slog.New(slog.NewTextHandler(s, nil)),
	})
	for range 1000 { // more than may wait, while the first is under way
		h.Tell(event(notice.OnPour))
	}
	close(release)
	h.Close()
	if log := s.String(); !strings.Contains(log, "events were dropped") {
		t.Errorf("log: %s", log)
	}
	h.Tell(event(notice.OnPour)) // nobody hears it any more
	var none *notice.Hooks
	none.Tell(event(notice.OnPour))
	none.Close()
}
