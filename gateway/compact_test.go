package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
)

// A later is the ledger of a world that is not there yet.
type later struct{ w **world }

func (l later) Book(ctx context.Context, k store.Key, spends []store.Spend) error {
	return (*l.w).store.Book(ctx, k, spends)
}

// The provider's own summary stays between the gateway and the provider: the client sees an answer like any other, sends
// its whole history on and is refused nothing, while the provider reads the summary. What it costs is booked.
func TestProvidersSummaryThroughTheGateway(t *testing.T) {
	up := sandbox.New(sandbox.Options{Window: 40_000, Model: &sandbox.Rules{Calls: 10_000}})
	srv := httptest.NewServer(up)
	own := &http.Transport{}
	t.Cleanup(func() {
		own.CloseIdleConnections()
		srv.Close()
	})
	client, err := anthropic.New(anthropic.Options{Base: srv.URL, Transport: own, Credential: provider.Key("x-api-key", "sk-ant-secret")})
	if err != nil {
		t.Fatal(err)
	}
	var w *world
	asker, err := owncalls.NewCaller(owncalls.Options{Account: &provider.Account{Client: client, Upstream: srv.URL, Shared: true}, Ledger: later{&w}})
	if err != nil {
		t.Fatal(err)
	}
	w = worldAt(t, srv.URL, gateway.Options{}, engine.Options{Window: 40_000, NoEarlyPours: true, Models: engine.Models{Asker: asker}})
	ms := []string{`{"role":"user","content":"Do the work. The password of the vault is in /etc/vault.conf."}`}
	for n := range 14 {
		body := `{"model":"claude-opus-5-5","max_tokens":4000,"thinking":{"type":"adaptive"},"cache_control":{"type":"ephemeral"},` +
			`"tools":[{"name":"Bash","input_schema":{"type":"object"}}],"messages":[` + strings.Join(ms, ",") + `]}`
		res, text := w.post(w.url, "/v1/messages", body, "X-Decant-Session", "s")
		if res.StatusCode != http.StatusOK || strings.Contains(text, "compaction") {
			t.Fatalf("request %d: status %d: %s", n, res.StatusCode, text)
		}
		ms = append(ms, turn(t, text, n)...)
	}
	w.engine.Close()
	asked, carried := 0, 0
	for _, e := range up.Log.Entries() {
		switch {
		case e.Error != "":
			t.Errorf("refused: %s", e.Error)
		case strings.Contains(string(e.Body), `"compaction":{"type":"summarize"`):
			asked++
		case strings.Contains(string(e.Body), `{"type":"compaction"`):
			carried++
		}
	}
	totals, err := w.store.Spending(t.Context(), store.SpendQuery{})
	if err != nil || len(totals) != 1 {
		t.Fatal(totals, err)
	}
	if asked == 0 || carried < 2 || totals[0].Own != asked || totals[0].OwnCost <= 0 {
		t.Errorf("asked %d times, carried by %d requests; booked: %+v", asked, carried, totals[0])
	}
}

// turn returns an answer as it goes back, and the results of its calls, of about 2,000 tokens.
func turn(t *testing.T, answer string, n int) []string {
	t.Helper()
	var a struct {
		Content json.RawMessage `json:"content"`
	}
	var blocks []struct{ Type, ID string }
	if err := json.Unmarshal([]byte(answer), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(a.Content, &blocks); err != nil {
		t.Fatal(err)
	}
	var results []string
	for _, b := range blocks {
		if b.Type == "tool_use" {
			out, _ := json.Marshal(strings.Repeat(fmt.Sprintf("line of step %d: alpha, beta\n", n), 250))
			results = append(results, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":%s}`, b.ID, out))
		}
	}
	if len(results) == 0 {
		results = []string{`{"type":"text","text":"Go on."}`}
	}
	return []string{`{"role":"assistant","content":` + string(a.Content) + `}`, `{"role":"user","content":[` + strings.Join(results, ",") + `]}`}
}
