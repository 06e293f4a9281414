package embedded_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// A program that sets nothing saves what the gateway saves: stale readings of a file go long before
// the window demands it. One that forbids it sends them all.
func TestZeroOptionsPourForMoney(t *testing.T) {
	patient := engine.Options{Timeouts: sandboxtest.Patient}
	forbidden := patient
	forbidden.NoEarlyPours = true
	saving, whole := lastPrompt(t, patient), lastPrompt(t, forbidden)
	if saving > whole/2 {
		t.Errorf("the last prompt has %d tokens, and %d without early pours; want less than half", saving, whole)
	}
}

// lastPrompt returns the tokens of the last of thirty requests, each of which brings the same file in
// another version.
func lastPrompt(t *testing.T, o engine.Options) int {
	up := sandbox.New(sandbox.Options{})
	api := httptest.NewServer(up)
	defer api.Close()
	db, err := embedded.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), &embedded.Options{Engine: o})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ms := []string{`{"role":"user","content":"Do the work."}`}
	for n := range 30 {
		ms = append(ms,
			fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"call_%d","name":"Read","input":{"file_path":"/src/main.go"}}]}`, n),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_%d","content":%q}]}`, n, strings.Repeat(fmt.Sprintf("line of version %d\n", n), 200)))
		body := `{"model":"claude-sonnet-4-5","max_tokens":100,"tools":[{"name":"Read","input_schema":{"type":"object"}}],"messages":[` + strings.Join(ms, ",") + `]}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, api.URL+"/v1/messages", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Api-Key", "key")
		r.Header.Set("Anthropic-Version", "2023-06-01")
		r.Header.Set("Content-Type", "application/json")
		res, err := db.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("status %d, %v: %s", res.StatusCode, err, text)
		}
	}
	return up.Log.Last().Prompt
}
