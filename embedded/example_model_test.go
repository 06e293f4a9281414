package embedded_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"

	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
)

// With an account a model writes records. What it writes is checked, and what it costs is in the ledger.
func Example_model() {
	api := httptest.NewServer(sandbox.New(sandbox.Options{Model: sandbox.Summarizer{}})) // stands in for https://api.anthropic.com
	defer api.Close()
	client, err := anthropic.New(anthropic.Options{Base: api.URL, Credential: provider.Key("x-api-key", "key")})
	if err != nil {
		log.Fatal(err)
	}
	db, done := open(embedded.Options{
		Account: &provider.Account{Client: client, Upstream: api.URL, Model: "claude-haiku-4-5"},
		Engine:  engine.Options{Window: 14_000},
	})
	defer done()
	agent, closeAPI := newAgent(db)
	defer closeAPI()
	for n := range 30 {
		if err := agent.say(note(n)); err != nil {
			log.Fatal(err)
		}
	}
	db.Engine().Close()
	spent, err := db.Store().Spending(context.Background(), store.SpendQuery{})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range spent {
		if t.Own > 0 {
			fmt.Println("own calls to", t.Model)
		}
	}
	// Output:
	// own calls to claude-haiku-4-5
}
