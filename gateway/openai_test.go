package gateway_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
)

// Without an upstream of theirs requests of OpenAI's APIs are refused, and no other upstream sees their key.
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
		{"GET", "/v1/realtime", []string{"Upgrade", "WebSocket", "Connection", "Upgrade"}, true},
		{"POST", "/v1/responses", []string{"Upgrade", "h2c", "Connection", "Upgrade"}, true},
		{"POST", "/v1/responses/compact", []string{"Authorization", key}, true},
		{"POST", "/backend-api/codex/responses/compact", []string{"Authorization", "Bearer eyJhbGciOi"}, true},
		{"GET", "/backend-api/codex/models", []string{"Authorization", "Bearer eyJhbGciOi", "Chatgpt-Account-Id", "a"}, true},
		{"GET", "/v1/models", []string{"Authorization", "Bearer eyJhbGciOi", "Chatgpt-Account-Id", "a"}, true},
		{"GET", "/v1/responses/resp_1", []string{"Authorization", key}, true},
		{"POST", "/v1/embeddings", []string{"Authorization", key}, true},
		{"POST", "/v1/completions", []string{"Authorization", key}, true},
		{"POST", "/v1/audio/speech", []string{"Authorization", key}, true},
		{"POST", "/v1/batches", []string{"Authorization", key}, true},
		{"POST", "/openai/deployments/x/chat/completions", []string{"Api-Key", "azure"}, true},
		{"GET", "/v1/models", []string{"Authorization", key}, true},
		{"POST", "/v1/files", []string{"Authorization", key}, true},
		{"GET", "/something/else", []string{"Authorization", key}, true}, // nobody's path, but OpenAI's key
		{"POST", "/v1/responsesX", []string{"Authorization", key}, true}, // nobody's path, but OpenAI's key
		{"POST", "/v1/complete", []string{"Authorization", key}, true},   // nobody's path, but OpenAI's key

		{"GET", "/v1/models", []string{"X-Api-Key", "sk-ant-x", "Anthropic-Version", "2023-06-01"}, false},
		{"GET", "/v1/models", []string{"Authorization", "Bearer sk-ant-oat01-x"}, false},
		{"GET", "/v1/models", []string{"Authorization", "Bearer sk-1234", "Anthropic-Version", "2023-06-01"}, false}, // a proxy's key
		{"GET", "/something/else", []string{"Authorization", "Bearer sk-1234"}, false},
		{"GET", "/v1/models", []string{"Api-Key", "azure", "Anthropic-Version", "2023-06-01"}, false}, // Claude on Azure
		{"POST", "/v1/messages", []string{"Authorization", "Bearer sk-1234"}, false},
		{"POST", "/v1/messages/batches", []string{"Authorization", key}, false},
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
			status, upgrade := http.StatusBadRequest, ""
			if c.method == "GET" && slices.Contains(c.header, "Upgrade") {
				status, upgrade = http.StatusUpgradeRequired, "HTTP/1.1"
			}
			if arrived != 0 || res.StatusCode != status || res.Header.Get("Upgrade") != upgrade || res.Header.Get("X-Should-Retry") != "false" {
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
	if e := body.Error; !strings.Contains(e.Message, "turned off here") || e.Type == "" || e.Code == nil || *e.Code != "not_implemented" {
		t.Errorf("error %s", text)
	}
}

// A client of OpenAI's API does not send again what the gateway refuses, however long it is: no status of 500
// and more, and no connection that ends while it sends, tells it to.
func TestOpenAIClientAsksOnce(t *testing.T) {
	for _, size := range []int{10, 9 << 20} {
		w := newWorld(t, http.NotFoundHandler(), gateway.Options{}, engine.Options{})
		client := openai.NewClient(openaioption.WithBaseURL(w.url+"/v1"), openaioption.WithAPIKey("sk-proj-secret"), openaioption.WithHTTPClient(w.client))
		_, err := client.Responses.New(t.Context(), responses.ResponseNewParams{
			Model: "gpt-5", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(strings.Repeat("x", size))},
		})
		if refused, ok := errors.AsType[*openai.Error](err); !ok || !strings.Contains(refused.Message, "turned off here") {
			t.Errorf("with %d bytes the client reads %v", size, err)
		}
		if n := strings.Count(w.logged(), "path=/v1/responses"); n != 1 {
			t.Errorf("with %d bytes the client asks %d times", size, n)
		}
	}
}

// Whoever sends a long body to its end before reading gets the answer, too.
func TestOpenAIRefusalReachesSlowReaders(t *testing.T) {
	w := newWorld(t, http.NotFoundHandler(), gateway.Options{}, engine.Options{})
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := strings.Repeat("x", 9<<20)
	if _, err := fmt.Fprintf(conn, "POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || res.StatusCode != http.StatusBadRequest {
		t.Errorf("%v, %v", res, err)
	}
}

// A client that is set up wrongly makes one warning a minute, however often it asks.
func TestOpenAIRequestsWarnOnceAMinute(t *testing.T) {
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	w := newWorld(t, http.NotFoundHandler(), gateway.Options{Now: func() time.Time { return now }}, engine.Options{})
	for range 2 {
		for range 14 {
			w.gateway.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/responses", strings.NewReader("{}")))
		}
		now = now.Add(time.Minute)
	}
	log := w.logged()
	if warned, all := strings.Count(log, "level=WARN"), strings.Count(log, "path=/v1/responses"); warned != 2 || all != 28 {
		t.Errorf("%d warnings of %d requests in two minutes, want one a minute", warned, all)
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
