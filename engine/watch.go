package engine

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
)

// A Watcher is told what happens to conversations, while a request waits: its methods must return at once. They may be
// called by several goroutines.
type Watcher interface {
	// Poured is told of each pour that was committed, and of each that should have been made and was not as wanted.
	Poured(*Pouring)

	// Warned is told once, of each day, month, tenant or conversation, that most of a budget is spent.
	Warned(budget.Warning)
}

// A Pouring is a pour as people are told of it.
type Pouring struct {
	Key     store.Key // of the conversation
	Session string    // of the client, empty when it names none
	Preset  *preset.Preset

	Reason                           policy.Reason // empty: there was none, and Err says why
	Route                            string
	Before, After, Threshold, Window int                // tokens of the request; from which a pour is due; that the model takes
	Decisions                        []decant.Decision  // that are new
	Checkpoint                       *decant.Checkpoint // among them, nil: there is none
	Lost                             int                // facts that should be kept, were in view before and are not after it
	Price                            decant.Price       // zero where it is not known

	// Err says why there was no pour, or why it has not the record that a model wrote. Nil: all is as it was wanted.
	Err error
}
