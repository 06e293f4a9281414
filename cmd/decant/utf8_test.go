package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// A client may name its session in bytes that are not UTF-8. That must not end a command that prints JSON.
func TestSessionsThatAreNoUTF8(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	ask(t, path, "one\x9b", "hello needle")
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{[]string{"sessions", "--json"}, []string{`one%9b`}},
		{[]string{"search", "needle", "--json"}, []string{`one%9b`}},
		{[]string{"show", "last", "--json"}, []string{"needle"}},
		{[]string{"show", `one%9b`, "--json"}, []string{`one%9b`}},
	} {
		var out, messages bytes.Buffer
		if code := run(&process.Process{Args: append(tt.args, "--db", path), Out: &out, Err: &messages, Width: 80}); code != exit.Done || !json.Valid(out.Bytes()) {
			t.Errorf("%q ends with %d: %s\n%s", tt.args, code, messages.String(), out.String())
		}
		for _, want := range tt.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q: want %s in\n%s", tt.args, want, out.String())
			}
		}
	}
}

// What a search prints holds no credential, even where that is what was looked for.
func TestSearchMasks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	const value = "hunter2hunter2"
	ask(t, path, "s", "deploy with DB_PASSWORD="+value+" and the needle")
	for _, query := range []string{"needle", "deploy", value} {
		for _, format := range [][]string{{}, {"--json"}} {
			var out, messages bytes.Buffer
			args := append([]string{"search", query, "--db", path}, format...)
			if code := run(&process.Process{Args: args, Out: &out, Err: &messages, Width: 80}); code != exit.Done {
				t.Fatalf("%q ends with %d: %s", args, code, messages.String())
			}
			if got := out.String(); strings.Contains(got, value) || !strings.Contains(got, "[redacted password] and the needle") {
				t.Errorf("%q: %s", args, got)
			}
		}
	}
}

// ask sends one message through Decant.
func ask(t *testing.T, path, session, text string) {
	t.Helper()
	api := httptest.NewServer(sandbox.New(sandbox.Options{}))
	defer api.Close()
	d, err := embedded.Open(t.Context(), path, &embedded.Options{Engine: engine.Options{Timeouts: sandboxtest.Patient}})
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": []any{map[string]string{"role": "user", "content": text}}})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), "POST", api.URL+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Anthropic-Version": {"2023-06-01"}, "X-Api-Key": {"k"}, "X-Decant-Session": {session}}
	res, err := d.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatal(res.Status)
	}
	var answer any
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}
