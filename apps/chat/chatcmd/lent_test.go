package chatcmd

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/mcp"
	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/process"
)

// lent returns the tools that settings give agents of the service, by name, and what was warned of.
func lent(t *testing.T, settings string) (map[string]agent.Tool, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "decant.yaml")
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Sources{File: file})
	if err != nil {
		t.Fatal(err)
	}
	var warned strings.Builder
	o := &chat.Options{}
	end, err := lend(&cfg.Tools)(&process.Process{Err: &warned, Environ: []string{"WIKI_KEY=let-me-in"}}, o)
	if end != nil {
		t.Cleanup(func() {
			if err := end(); err != nil {
				t.Error(err)
			}
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]agent.Tool{}
	for _, tool := range o.Tools {
		out[tool.Name] = tool
	}
	return out, warned.String()
}

// called calls a tool, and returns the result or the error.
func called(t *testing.T, tool agent.Tool, arguments string) string {
	t.Helper()
	if tool.Run == nil {
		return "there is no such tool"
	}
	r, err := tool.Run(t.Context(), &agent.Call{Tool: tool.Name, Arguments: stdjson.RawMessage(arguments), Progress: func(string) {}})
	if err != nil {
		return "error: " + err.Error()
	}
	return r.Text
}

// mail is an address that searches mail for who has the key.
func mail(t *testing.T) *httptest.Server {
	m := http.NewServeMux()
	m.HandleFunc("POST /search", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer let-me-in" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"found":2,"for":%s}`, body)
	})
	m.HandleFunc("POST /away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:1/secret", http.StatusTemporaryRedirect)
	})
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	return s
}

// The settings of the service name MCP servers, and addresses that are called. They are reached wherever they are, with their headers. No other
// address is that is not public, whether a redirect leads there or a model names it.
func TestToolsOfTheSettings(t *testing.T) {
	server := sdk.NewServer(&sdk.Implementation{Name: "wiki", Version: "1"}, nil)
	type words struct{ Text string }
	sdk.AddTool(server, &sdk.Tool{Name: "look", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *sdk.CallToolRequest, in words) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "page of " + in.Text}}}, nil, nil
		})
	wiki := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		if r.Header.Get("Authorization") != "Bearer let-me-in" {
			return nil
		}
		return server
	}, nil))
	t.Cleanup(wiki.Close)
	post, dir := mail(t), t.TempDir()
	servers, headers := filepath.Join(dir, "servers.json"), filepath.Join(dir, "headers")
	for name, text := range map[string]string{
		servers: fmt.Sprintf(`{"mcpServers": {"wiki": {"type": "http", "url": %q, "headers": {"Authorization": "Bearer ${WIKI_KEY}"}},
			"gone": {"command": "/nonexistent/server"}}}`, wiki.URL),
		headers: "# of the mail\nAuthorization: Bearer let-me-in\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, warned := lent(t, fmt.Sprintf(`tools:
  mcp: %s
  fetch: true
  http:
    - {name: mail_search, description: Searches mail., url: "%s/search", read_only: true, headers_file: %s,
       schema: {type: object, required: [query], properties: {query: {type: string}}}}
    - {name: mail_anon, description: Searches mail., url: "%[2]s/search"}
    - {name: mail_away, description: Goes elsewhere., url: "%[2]s/away"}
`, servers, post.URL, headers))
	if !strings.Contains(warned, "MCP server gone") {
		t.Errorf("warned of %q", warned)
	}
	search := all["mail_search"]
	if !search.ReadOnly || search.Ask || !all["mail_anon"].Ask || string(search.Schema) != `{"properties":{"query":{"type":"string"}},"required":["query"],"type":"object"}` {
		t.Errorf("%+v, schema %s", search, search.Schema)
	}
	at, _ := url.Parse(post.URL)
	for _, tt := range []struct{ tool, arguments, want string }{
		{"mcp__wiki__look", `{"Text":"ports"}`, "page of ports"},
		{"mail_search", `{"query":"invoice"}`, `{"found":2,"for":{"query":"invoice"}}`},
		{"mail_anon", `{}`, "error: " + at.Host + " answers with 401 Unauthorized\nwho are you?"},
		{"mail_away", `{}`, "answers with 307"},
		{"fetch", `{"url":"http://localhost:1/secret"}`, "is not public"},
		{"fetch", `{"url":"` + post.URL + `/search"}`, "is not public"},
		{"fetch", `{"url":"` + wiki.URL + `"}`, "is not public"},
		{"fetch", `{"url":"http://169.254.169.254/latest/meta-data"}`, "is not public"},
	} {
		if got := called(t, all[tt.tool], tt.arguments); !strings.Contains(got, tt.want) {
			t.Errorf("%s %s: %q, want %q", tt.tool, tt.arguments, got, tt.want)
		}
	}
}

// Who names an address in the settings opens one port of its host.
func TestWhereToolsOfTheSettingsLead(t *testing.T) {
	set := &config.Tools{Private: []string{"intranet"}, HTTP: []config.Endpoint{{URL: "https://mail/search"}, {URL: "http://[::1]:8080/x"}}}
	got := named(set, []mcp.Server{{URL: "http://wiki"}, {Command: "serve"}})
	if want := []string{"intranet", "wiki:80", "mail:443", "[::1]:8080"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What cannot be a tool is refused when the settings are read, by its key.
func TestToolsThatCannotBe(t *testing.T) {
	for settings, want := range map[string]string{
		"tools: {http: [{url: 'https://a.example'}]}":                                       "tools.http[0]: want a name",
		"tools: {http: [{name: a, description: b, url: 'ftp://a.example'}]}":                "tools.http[0].url",
		"tools: {http: [{name: a, description: b, url: 'https://ann:secret@a.example/x'}]}": "headers_file",
		"tools: {https: []}": "https",
	} {
		file := filepath.Join(t.TempDir(), "decant.yaml")
		if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := config.Load(config.Sources{File: file}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", settings, err, want)
		}
	}
	if _, err := rulesIn(&config.Tools{Deny: []string{"fetch", "mcp__(x)"}}); err == nil || !strings.Contains(err.Error(), "tools.deny[1]") {
		t.Errorf("a rule that is none: %v", err)
	}
}
