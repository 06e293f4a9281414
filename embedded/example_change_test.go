package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
)

// Preview says what a pour would do now. Nothing changes unless the change is applied.
func Example_preview() {
	db, _, key, done := chat(embedded.Options{Engine: engine.Options{NoEarlyPours: true}}, 18)
	defer done()
	change, err := db.Engine().Preview(context.Background(), key)
	if err != nil {
		log.Fatal(err)
	}
	p := change.Plan
	fmt.Println("decisions:", len(p.Decisions))
	fmt.Println("smaller:", p.After.Total() < p.Before.Total())
	fmt.Println("saves tokens on every later request:", p.Price.Saved > 0)
	fmt.Println("facts at risk:", len(p.Risk))
	// Output:
	// decisions: 1
	// smaller: true
	// saves tokens on every later request: true
	// facts at risk: 0
}

// Apply carries out a change that was previewed, with the conversation's next request. It is refused when the
// conversation has moved on since, so that what is done is what was shown.
func Example_apply() {
	db, agent, key, done := chat(embedded.Options{Engine: engine.Options{NoEarlyPours: true}}, 18)
	defer done()
	ctx := context.Background()
	change, err := db.Engine().Preview(ctx, key)
	if err != nil {
		log.Fatal(err)
	}
	if err := agent.say("One thing more."); err != nil {
		log.Fatal(err)
	}
	stored(db)
	fmt.Println("too late:", errors.Is(db.Engine().Apply(ctx, change), decant.ErrStale))

	if change, err = db.Engine().Preview(ctx, key); err != nil {
		log.Fatal(err)
	}
	fmt.Println("planned again:", db.Engine().Apply(ctx, change))
	// Output:
	// too late: true
	// planned again: <nil>
}

// Undo takes the newest pour back: what it left out is sent again. The conversation is on hold afterwards, so
// that it is not poured again at once.
func Example_undo() {
	db, _, key, done := chat(embedded.Options{}, 28)
	defer done()
	ctx := context.Background()
	change, err := db.Engine().Undo(ctx, key)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("larger again:", change.Plan.After.Total() > change.Plan.Before.Total())
	fmt.Println("on hold:", change.Hold)
	if err := db.Engine().Apply(ctx, change); err != nil {
		log.Fatal(err)
	}
	if change, err = db.Engine().Release(ctx, key); err != nil { // the hold ends
		log.Fatal(err)
	}
	fmt.Println("on hold:", change.Hold)
	// Output:
	// larger again: true
	// on hold: true
	// on hold: false
}

// What is pinned stays in the view as it was said, whatever happens to the messages around it.
func Example_pin() {
	db, agent, key, done := chat(embedded.Options{}, 5)
	defer done()
	ctx := context.Background()
	change, err := db.Engine().Pin(ctx, key, []decant.Ref{{Message: 3}}, true) // the second note
	if err != nil {
		log.Fatal(err)
	}
	if err := db.Engine().Apply(ctx, change); err != nil {
		log.Fatal(err)
	}
	for n := range 35 {
		if err := agent.say(note(5 + n)); err != nil {
			log.Fatal(err)
		}
	}
	stored(db)
	view := viewOf(db, key)
	fmt.Println("the view is shorter:", len(view.Messages) < len(agent.history))
	fmt.Println("the second note is whole:", contains(view, note(1)))
	fmt.Println("the third one is whole:", contains(view, note(2)))
	// Output:
	// the view is shorter: true
	// the second note is whole: true
	// the third one is whole: false
}
