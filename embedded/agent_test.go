package embedded_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
)

// open opens a new database. The program that it is for would rather wait for a slow disk than do without.
func open(o embedded.Options) (db *embedded.DB, done func()) {
	dir, err := os.MkdirTemp("", "decant")
	if err != nil {
		log.Fatal(err)
	}
	o.Engine.Timeouts.Optional = time.Minute
	db, err = embedded.Open(context.Background(), filepath.Join(dir, "chat.db"), &o)
	if err != nil {
		log.Fatal(err)
	}
	return db, func() {
		db.Close()
		os.RemoveAll(dir)
	}
}

// An agent is a program that calls a model through the SDK and keeps the history itself.
type agent struct {
	client  anthropic.Client
	history []anthropic.MessageParam
}

// newAgent returns an agent whose requests db manages. Its model is a stand-in that takes 14,000 tokens and
// refuses everything larger.
func newAgent(db *embedded.DB) (a *agent, done func()) {
	api := httptest.NewServer(sandbox.New(sandbox.Options{Window: 14_000}))
	return &agent{client: anthropic.NewClient(
		option.WithHTTPClient(db.Client()), option.WithBaseURL(api.URL), option.WithAPIKey("key"), option.WithMaxRetries(0),
	)}, api.Close
}

// say sends the history with one message more.
func (a *agent) say(words string) error {
	a.history = append(a.history, anthropic.NewUserMessage(anthropic.NewTextBlock(words)))
	answer, err := a.client.Messages.New(context.Background(), anthropic.MessageNewParams{
		Model: "claude-sonnet-4-5", MaxTokens: 1000, Messages: a.history,
	})
	if err != nil {
		return err
	}
	a.history = append(a.history, answer.ToParam())
	return nil
}

// note returns a long message of which one thing matters.
func note(n int) string {
	return fmt.Sprintf("Note %d: the key of box %d is k-%d. %s", n, n, n*7919, strings.Repeat("Take good care of it. ", 100))
}

// chat opens a database and fills it with the conversation of an agent that was told n notes: at about 25 of them
// the window is full. Everything is stored when it returns.
func chat(o embedded.Options, n int) (db *embedded.DB, a *agent, key store.Key, done func()) {
	o.Engine.Window = 14_000
	db, closeDB := open(o)
	a, closeAPI := newAgent(db)
	for i := range n {
		if err := a.say(note(i)); err != nil {
			log.Fatal(err)
		}
	}
	stored(db)
	cs, err := db.Store().Conversations(context.Background(), store.Filter{})
	if err != nil {
		log.Fatal(err)
	}
	return db, a, cs[0].Key, func() {
		closeAPI()
		closeDB()
	}
}

// stored waits until everything is stored.
func stored(db *embedded.DB) {
	if err := db.Engine().Close(); err != nil {
		log.Fatal(err)
	}
}
