package mcp_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant/agent/mcp"
)

// known is an environment.
func known(name string) (string, bool) {
	v, ok := map[string]string{"TOKEN": "t0", "EMPTY": "", "HOST": "mcp.example.com"}[name]
	return v, ok
}

func TestRead(t *testing.T) {
	got, err := mcp.Read(".mcp.json", []byte(`{"other": 1, "mcpServers": {
		"web": {"type": "http", "url": "https://${HOST}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}, "disabled": false},
		"files": {"command": "${BIN:-/usr/bin}/files", "args": ["--root", "${ROOT:-.}", "$HOME", "${EMPTY:-none}${EMPTY}"], "env": {"KEY": "${TOKEN}"}},
		"old": {"type": "sse", "url": "http://127.0.0.1:8080/sse"},
		"plain": {"url": "https://mcp.example.com"}
	}}`), known)
	want := []mcp.Server{
		{Name: "files", Type: "stdio", Command: "/usr/bin/files", Args: []string{"--root", ".", "$HOME", "none"}, Env: map[string]string{"KEY": "t0"}},
		{Name: "old", Type: "sse", URL: "http://127.0.0.1:8080/sse"},
		{Name: "plain", Type: "http", URL: "https://mcp.example.com"},
		{Name: "web", Type: "http", URL: "https://mcp.example.com/mcp", Headers: map[string]string{"Authorization": "Bearer t0"}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got):\n%s", err, diff)
	}
}

// What is wrong with a file is named, with its place.
func TestReadSaysWhatIsWrong(t *testing.T) {
	for src, want := range map[string]string{
		`{`:                                     ".mcp.json: ",
		`[]`:                                    ".mcp.json: ",
		`{}`:                                    "there is no member mcpServers",
		`{"mcpServers":{"a":{}}}`:               `mcpServers.a: url: "" is not the address of a server`,
		`{"mcpServers":{"a":{"type":"stdio"}}}`: "mcpServers.a: command: it is missing",
		`{"mcpServers":{"a":{"type":"carrier","command":"x"}}}`:            `mcpServers.a: type: "carrier"`,
		`{"mcpServers":{"a":{"url":"file:///etc/passwd"}}}`:                "is not the address of a server",
		`{"mcpServers":{"":{"command":"x"}}}`:                              "a server needs a name",
		`{"mcpServers":{"a":{"command":"x","env":{"K":"${NO}"}}}}`:         "mcpServers.a: env.K: the variable NO is not set",
		`{"mcpServers":{"a":{"command":"x","args":["1","${NO}"]}}}`:        "mcpServers.a: args[1]: the variable NO is not set",
		`{"mcpServers":{"a":{"url":"https://x","headers":{"H":"${NO}"}}}}`: "mcpServers.a: headers.H: the variable NO is not set",
		`{"mcpServers":{"a":{"command":["x"]}}}`:                           "mcpServers/a/command",
		`{"mcpServers":{"a":{"command":"x"},"a":{"command":"y"}}}`:         "duplicate",
	} {
		if _, err := mcp.Read(".mcp.json", []byte(src), known); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), ".mcp.json: ") {
			t.Errorf("%s: %v, want %q", src, err, want)
		}
	}
}

// No file makes Read panic, and what it reads is complete.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{"a":{"command":"${X:-y}","args":["${TOKEN}"]},"b":{"url":"https://${HOST}"}}}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		servers, err := mcp.Read("f", src, known)
		if err != nil && servers != nil {
			t.Error("servers beside an error")
		}
		for _, s := range servers {
			if s.Name == "" || s.Type == "stdio" && s.Command == "" || s.Type != "stdio" && s.URL == "" {
				t.Errorf("%+v", s)
			}
		}
	})
}

// The headers of a server are sent to it and to nobody to whom it sends its clients.
func TestHeadersStayWithTheirServer(t *testing.T) {
	var leaked, asked atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(true)
		leaked.Store(leaked.Load() || r.Header.Get("X-Key") != "")
		http.Error(w, "no", http.StatusNotFound)
	}))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	set := mcp.Open(t.Context(), []mcp.Server{{Name: "a", URL: server.URL, Headers: map[string]string{"X-Key": "secret"}}}, mcp.Options{})
	defer set.Close()
	if err := set.Err(); err == nil || leaked.Load() || !asked.Load() || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v, the other server was asked: %v, and told: %v", err, asked.Load(), leaked.Load())
	}
}
