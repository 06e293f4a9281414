package gateway_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
)

// A client of OpenAI's API at the gateway reads why it is refused, and no upstream sees its key.
func TestOpenAIRequestsAreRefusedAndTheirKeyStaysHere(t *testing.T) {
	const key = "Bearer sk-proj-secret"
	for _, c := range []struct {
		method, path string
		header       []string
		refused      bool
	}{
		{"POST", "/v1/chat/completions", []string{"Authorization", key}, true},
		{"POST", "/v1/chat/completions", nil, true}, // also without a key
		{"POST", "/chat/completions", []string{"Authorization", key}, true},
		{"POST", "/v1/responses", []string{"Authorization", key}, true},
		{"POST", "/responses", []string{"Authorization", "Bearer eyJhbGciOi"}, true}, // Codex with a login
		{"POST", "/backend-api/codex/responses", []string{"Authorization", "Bearer eyJhbGciOi"}, true},
		{"GET", "/v1/responses", []string{"Upgrade", "websocket", "Connection", "Upgrade"}, true},
		{"POST", "/v1/responses/compact", []string{"Authorization", key}, true},
		{"GET", "/v1/responses/resp_1", []string{"Authorization", key}, true},
		{"POST", "/v1/embeddings", []string{"Authorization", key}, true},
		{"POST", "/v1/completions", []string{"Authorization", key}, true},
		{"POST", "/v1/audio/speech", []string{"Authorization", key}, true},
		{"POST", "/v1/batches", []string{"Authorization", key}, true},
		{"POST", "/openai/deployments/x/chat/completions", []string{"Api-Key", "azure"}, true},
		{"GET", "/v1/models", []string{"Authorization", key}, true},
		{"POST", "/v1/files", []string{"Authorization", key}, true},

		{"GET", "/v1/models", []string{"X-Api-Key", "sk-ant-x", "Anthropic-Version", "2023-06-01"}, false},
		{"GET", "/v1/models", []string{"Authorization", "Bearer sk-ant-oat01-x"}, false},
		{"GET", "/v1/models", []string{"Authorization", "Bearer sk-1234", "Anthropic-Version", "2023-06-01"}, false}, // a proxy's key
		{"POST", "/v1/messages", []string{"Authorization", "Bearer sk-1234"}, false},
		{"POST", "/v1/messages/batches", []string{"Authorization", key}, false},
		{"POST", "/v1/complete", []string{"Authorization", key}, false},
		{"POST", "/v1/responsesX", []string{"Authorization", key}, false},
		{"GET", "/something/else", []string{"Authorization", key}, false},
	} {
		t.Run(c.method+c.path, func(t *testing.T) {
			arrived := 0
			w := newWorld(t, handler(func(w http.ResponseWriter, _ *http.Request) { arrived++ }), gateway.Options{}, engine.Options{})
			res, text := send(t, w, c.method, c.path, c.header...)
			if !c.refused {
				if arrived != 1 || res.StatusCode != 200 {
					t.Errorf("status %d, %d requests arrived, want that it passes", res.StatusCode, arrived)
				}
				return
			}
			if arrived != 0 || res.StatusCode != http.StatusNotImplemented || res.Header.Get("X-Should-Retry") != "false" {
				t.Fatalf("status %d, %d requests arrived, header %v", res.StatusCode, arrived, res.Header)
			}
			openAIShape(t, text)
			if log := w.logged(); !strings.Contains(log, "level=WARN") || !strings.Contains(log, "refused=") || strings.Contains(log, "secret") {
				t.Errorf("logged %s", log)
			}
		})
	}
}

// openAIShape checks that an error is written as OpenAI's clients expect it.
func openAIShape(t *testing.T, text string) {
	t.Helper()
	var body struct {
		Error struct {
			Message, Type string
			Param, Code   *string
		}
	}
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if e := body.Error; !strings.Contains(e.Message, "Messages API only") || e.Type == "" || e.Code == nil || *e.Code != "not_implemented" {
		t.Errorf("error %s", text)
	}
}

// What the gateway refuses is told from what failed in it.
func TestRefusalsAreNoFaults(t *testing.T) {
	w := newWorld(t, priced(5, 5), gateway.Options{Keys: keys}, engine.Options{Budgets: []budget.Budget{{Per: "day", Tokens: 1}}})
	for _, c := range []struct {
		status int
		header []string
	}{
		{http.StatusUnauthorized, nil},
		{http.StatusPaymentRequired, []string{"X-Decant-Key", aliceKey}},
		{http.StatusBadRequest, []string{"X-Decant-Key", aliceKey, "X-Decant-Mode", "sometimes"}},
		{http.StatusBadRequest, []string{"X-Decant-Key", aliceKey, "X-Decant-Preset", "nope"}},
	} {
		res, text := w.post(w.url, "/v1/messages", hello, c.header...)
		if res.StatusCode != c.status || res.Header.Get("X-Decant-Refused") == "" || res.Header.Get("X-Decant-Fault") != "" {
			t.Errorf("%v: status %d, header %v", c.header, res.StatusCode, res.Header)
		}
		if strings.Contains(text, ".yaml") { // headers may not name files
			t.Errorf("%v: %s", c.header, text)
		}
	}
	if log := w.logged(); strings.Count(log, "level=WARN") != 4 || strings.Contains(log, "fault=") {
		t.Errorf("logged %s", log)
	}
}
