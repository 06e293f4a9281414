package embedded_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/wire"
)

// viewOf returns what the model is sent of a conversation now.
func viewOf(db *embedded.DB, key store.Key) *decant.Conversation {
	t, err := archive.ReadTranscript(context.Background(), db.Store(), key, store.Newest)
	if err != nil {
		log.Fatal(err)
	}
	view, err := t.View()
	if err != nil {
		log.Fatal(err)
	}
	return view
}

// contains reports whether a text stands in a conversation.
func contains(c *decant.Conversation, text string) bool {
	return strings.Contains(wire.Text(c), strings.TrimSpace(text))
}

// Everything that was ever said can be found, also what the model is no longer sent.
func Example_search() {
	db, _, _, done := chat(embedded.Options{}, 28)
	defer done()
	hits, err := db.Store().Search(context.Background(), store.Query{Text: `"k-39595"`})
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range hits {
		fmt.Printf("m%d: %s\n", h.Entry.Message, h.Snippet[h.Match[0]:h.Match[1]])
	}
	// Output:
	// m11: k-39595
}

// A checkpoint stands for messages that are no longer sent. Its handle leads to them, as they were.
func Example_original() {
	db, _, key, done := chat(embedded.Options{}, 28)
	defer done()
	ctx := context.Background()
	o, err := db.Store().Resolve(ctx, key, "c:1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("it covers several messages:", len(o.Entries) > 1)
	t, err := archive.ReadEntries(ctx, db.Store(), o.Key, o.Entries)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the second note is whole:", contains(t.Conversation, note(1)))
	// Output:
	// it covers several messages: true
	// the second note is whole: true
}

// The whole conversation leaves as the body of a request, so that any other program can go on with it.
func Example_export() {
	db, _, key, done := chat(embedded.Options{}, 28)
	defer done()
	t, err := archive.ReadTranscript(context.Background(), db.Store(), key, store.Newest)
	if err != nil {
		log.Fatal(err)
	}
	body, err := t.Verbatim(t.Conversation)
	if err != nil {
		log.Fatal(err)
	}
	doc, err := wire.Parse(body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(doc.Format, len(doc.Conversation.Messages), "messages")
	// Output:
	// anthropic 56 messages
}

// What each day has cost, with Decant and without.
func Example_report() {
	db, _, _, done := chat(embedded.Options{}, 28)
	defer done()
	days, err := db.Store().Spending(context.Background(), store.SpendQuery{}) // of the local user, since ever
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range days {
		fmt.Println(t.Model, "requests:", t.Calls)
		fmt.Println("saved:", t.Net() > 0, "with known prices:", t.Cost.USD() > 0)
		fmt.Println("some too large for the model without Decant:", t.Over.Calls > 0)
	}
	// Output:
	// claude-sonnet-4-5 requests: 28
	// saved: true with known prices: true
	// some too large for the model without Decant: false
}

// What is forgotten is gone: no file of the database holds a piece of it afterwards. What it cost stays.
func Example_forget() {
	db, _, key, done := chat(embedded.Options{}, 5)
	defer done()
	ctx := context.Background()
	gone, err := db.Store().Forget(ctx, store.Forgetting{Conversations: []string{key.ID}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("conversations removed:", len(gone.Conversations))
	fmt.Println("pieces left of it:", gone.Proof.Left)
	cs, err := db.Store().Conversations(ctx, store.Filter{})
	fmt.Println("conversations:", len(cs), err)
	// Output:
	// conversations removed: 1
	// pieces left of it: 0
	// conversations: 0 <nil>
}
