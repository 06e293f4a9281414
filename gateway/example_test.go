package gateway_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/internal/keyring"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/sandbox"
)

// A gateway stands in front of an API. An agent uses it by changing one base URL.
func Example() {
	api := httptest.NewServer(sandbox.New(sandbox.Options{})) // stands in for https://api.anthropic.com
	defer api.Close()
	dir, err := os.MkdirTemp("", "decant")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	db, err := sqlite.Open(context.Background(), filepath.Join(dir, "decant.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	e, err := engine.New(db, engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	upstream, err := url.Parse(api.URL)
	if err != nil {
		log.Fatal(err)
	}
	g, err := gateway.New(gateway.Options{Engine: e, Upstream: upstream})
	if err != nil {
		log.Fatal(err)
	}
	srv := httptest.NewServer(g) // or http.ListenAndServe("127.0.0.1:4141", g)
	defer srv.Close()

	fmt.Println(status(srv.URL, "claude-sonnet-4-5"))
	// Output:
	// 200 OK
}

// Rules choose the preset of a request by its model and its client. Observe records and plans, and changes nothing:
// a report then says what would have been saved.
func Example_settings() {
	careful, err := preset.Load("agent-loop")
	if err != nil {
		log.Fatal(err)
	}
	url, done := front(gateway.Options{
		Rules:   []gateway.Rule{{Model: "claude-opus-*", Preset: careful}, {Client: "*nightly*", Preset: careful}},
		Project: "nightly builds",
	}, engine.Options{Mode: engine.Observe, Budgets: []budget.Budget{{Per: "day", USD: 5}}})
	defer done()

	fmt.Println(status(url, "claude-opus-4-5"))
	fmt.Println(status(url, "claude-sonnet-4-5", "User-Agent", "nightly/1.0"))
	// Output:
	// 200 OK
	// 200 OK
}

// With keys, each request is of the tenant whose key it brings, and no tenant sees anything of another. Only a hash
// of a key is kept.
func Example_tenants() {
	text, stored := keyring.Make("alice") // alice gets the text; stored goes to the store, with Store.AddKey
	fmt.Println("tenant:", stored.Tenant)
	url, done := front(gateway.Options{Keys: keyring.New(keyring.Options{Keys: []keyring.Key{
		keyring.NewKey("alice", text), keyring.NewKey("bob", "a long secret of bob's own"),
	}})}, engine.Options{})
	defer done()

	fmt.Println(status(url, "claude-sonnet-4-5", "X-Decant-Key", text))
	fmt.Println(status(url, "claude-sonnet-4-5", "X-Decant-Key", "somebody else's"))
	// Output:
	// tenant: alice
	// 200 OK
	// 401 Unauthorized
}

// front starts a gateway on a new database, in front of a stand-in for the API, and returns its base URL.
func front(o gateway.Options, eo engine.Options) (base string, done func()) {
	api := httptest.NewServer(sandbox.New(sandbox.Options{}))
	dir, err := os.MkdirTemp("", "decant")
	if err != nil {
		log.Fatal(err)
	}
	db, err := sqlite.Open(context.Background(), filepath.Join(dir, "decant.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if o.Engine, err = engine.New(db, eo); err != nil {
		log.Fatal(err)
	}
	if o.Upstream, err = url.Parse(api.URL); err != nil {
		log.Fatal(err)
	}
	g, err := gateway.New(o)
	if err != nil {
		log.Fatal(err)
	}
	srv := httptest.NewServer(g)
	return srv.URL, func() {
		srv.Close()
		o.Engine.Close()
		db.Close()
		os.RemoveAll(dir)
		api.Close()
	}
}

// status sends a request for a message and returns the status of the answer. Headers come in pairs.
func status(base, model string, headers ...string) string {
	body := fmt.Sprintf(`{"model":%q,"max_tokens":100,"messages":[{"role":"user","content":"Hello."}]}`, model)
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, base+"/v1/messages", strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "X-Api-Key": {"key"}, "Anthropic-Version": {"2023-06-01"}}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		log.Fatal(err)
	}
	return res.Status
}
