package store

import (
	"context"
	"time"
)

// Journals keeps the sessions of agents that you build: what happened in each, step by step, in the words of its writer.
// With the journal another process can continue the session. A journal goes with its conversation: Collector removes both.
type Journals interface {
	// AddSteps adds steps to the end of a journal, all of them or none. When it returns nil, they survive the death of the process.
	//
	// The errors to branch on: ErrConflict when the journal does not have a.Length steps, because somebody else has gone on
	// with the session; ErrNotFound when a.Length is not 0 and there is no such journal, or the conversation that
	// it names is not there; ErrInvalid when a journal would begin without a step.
	AddSteps(ctx context.Context, a *Addition) error

	// Journal describes a journal, without its steps. An unknown one is ErrNotFound.
	Journal(ctx context.Context, k Key) (*Journal, error)

	// Journals describes the journals that q selects, last changed first.
	Journals(ctx context.Context, q JournalQuery) ([]Journal, error)

	// Steps returns the steps of a journal behind the first after ones, at most limit; 0: all. An unknown journal is ErrNotFound.
	Steps(ctx context.Context, k Key, after, limit int) ([][]byte, error)

	// DropJournal removes a journal. What is stored of its conversation stays. An unknown one is ErrNotFound.
	DropJournal(ctx context.Context, k Key) error
}

// A Journal describes the journal of a session.
type Journal struct {
	Key
	Kind         string // what it is about: "session", or what its writer keeps beside; it never changes
	Conversation string // id of the newest conversation that the session was sent as; empty until there is one
	Head         []byte // what its writer says of the session as a whole, such as a title; opaque to the store
	Length       int    // steps
	Created      time.Time
	Updated      time.Time
}

// An Addition is what is added to a journal. A change of the head alone needs no agreement on the length: the last one counts.
type Addition struct {
	Key
	Length       int       // steps that the journal has; 0 begins it
	Kind         string    // of a journal that begins
	Conversation string    // empty: as before
	Head         []byte    // nil: as before
	Time         time.Time // zero: the store's clock
	Steps        [][]byte  // opaque to the store
}

// A JournalQuery selects journals. The zero value selects all of the tenant "".
type JournalQuery struct {
	Tenant string
	Kind   string    // empty: any
	Name   string    // the beginning of an id, as people type it; empty: any
	Before time.Time // changed before; zero: any
	Limit  int       // 0: 1000
}
