package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/sandbox"
)

// A calledWith notes with which credential each call that keeps a cache warm is made: it is answered with nothing.
type calledWith struct {
	over http.RoundTripper

	mu   sync.Mutex
	keys map[string][]string // by the client whose conversation it is
}

func (c *calledWith) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if bytes.Contains(body, []byte(`"max_tokens":0`)) {
		for _, who := range []string{"alice", "bob"} {
			if bytes.Contains(body, []byte(who+"'s files")) {
				c.mu.Lock()
				c.keys[who] = append(c.keys[who], r.Header.Get("X-Api-Key"))
				c.mu.Unlock()
			}
		}
	}
	return c.over.RoundTrip(r)
}

// A client whose conversation is kept warm.
type restingClient struct {
	name     string
	messages []string
}

// asks sends one more request through a gateway and returns the status.
func (c *restingClient) asks(t *testing.T, g http.Handler) int {
	t.Helper()
	const marker = `,"cache_control":{"type":"ephemeral"}`
	text := fmt.Sprintf("Part %d of %s's files says that nothing is missing. ", len(c.messages), c.name)
	if len(c.messages) == 0 {
		text = strings.Repeat(text, 300)
	}
	c.messages = append(c.messages, fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":%q`, text))
	body := fmt.Sprintf(`{"model":"claude-sonnet-4-5","max_tokens":100,"system":[{"type":"text","text":"Read %s's files."%s}],"messages":[%s%s}]}]}`,
		c.name, marker, strings.Join(c.messages, ","), marker)
	c.messages[len(c.messages)-1] += `}]}`
	c.messages = append(c.messages, `{"role":"assistant","content":"Noted."}`)
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/v1/messages", strings.NewReader(body))
	for name, value := range map[string]string{"X-Api-Key": "sk-ant-" + c.name, "Anthropic-Version": "2023-06-01", "Content-Type": "application/json"} {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return w.Code
}

// A conversation is kept warm under the credential that its client has sent with it, and with no other, while
// the client has been heard of in the last ten minutes; then nobody's credential is left.
func TestEachIsKeptWarmUnderItsOwnCredential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over, stop := sandbox.New(sandbox.Options{Window: 400_000, Keys: []string{"sk-ant-alice", "sk-ant-bob"}}).Pipe()
		defer stop()
		seen := &calledWith{over: over, keys: map[string][]string{}}
		db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "decant.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		wallet := owncalls.NewWallet(func(base string, who provider.Credential) (provider.Client, error) {
			return anthropic.New(anthropic.Options{Base: base, Credential: who, Transport: seen})
		})
		caller, err := owncalls.NewCaller(owncalls.Options{Ledger: db, Accounts: wallet.Account})
		if err != nil {
			t.Fatal(err)
		}
		o := engine.Options{NoEarlyPours: true, Window: 400_000, ArchiveDelay: -1, Models: engine.Models{Warmer: caller}}
		patient(&o)
		e, err := engine.New(db, o)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		upstream, err := url.Parse("http://sandbox")
		if err != nil {
			t.Fatal(err)
		}
		g, err := gateway.New(gateway.Options{Engine: e, Upstream: upstream, Outbound: over, Accepted: wallet.Keep})
		if err != nil {
			t.Fatal(err)
		}
		clients := []*restingClient{{name: "alice"}, {name: "bob"}}
		// A call is affordable when fifty times as much has been paid, and there is nothing to lose before the pause.
		pauses := append(slices.Repeat([]time.Duration{20 * time.Second}, 60), 8*time.Minute, 8*time.Minute, 24*time.Hour)
		for _, pause := range pauses {
			for _, c := range clients {
				if code := c.asks(t, g); code != http.StatusOK {
					t.Fatalf("%s: status %d", c.name, code)
				}
			}
			synctest.Wait()
			time.Sleep(pause)
			synctest.Wait()
		}
		for _, c := range clients {
			keys := seen.keys[c.name]
			if len(keys) == 0 || len(keys) > 2*3 { // in the ten minutes there is time for two in a pause
				t.Errorf("%s: %d calls", c.name, len(keys))
			}
			for _, key := range keys {
				if key != "sk-ant-"+c.name {
					t.Errorf("%s's conversation was kept warm with the key %q", c.name, key)
				}
			}
		}
	})
}
