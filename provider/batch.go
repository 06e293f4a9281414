package provider

import (
	"context"
	"time"
)

// A BatchItem is one request of a batch.
type BatchItem struct {
	ID    string   // of 1 to 64 letters, digits, _ and -, unique within its batch
	Body  []byte   // a whole request of the Messages API, without the member "stream"
	Betas []string // that Body needs
}

// A Batch is a batch as its provider shows it.
type Batch struct {
	ID       string
	Created  time.Time
	Expires  time.Time // what has no answer then gets none
	Ended    bool      // the results can be had
	Requests int
}

// A BatchOutcome is what became of a request of a batch.
type BatchOutcome string

// The outcomes.
const (
	BatchSucceeded BatchOutcome = "succeeded"
	BatchErrored   BatchOutcome = "errored"
	BatchExpired   BatchOutcome = "expired"
	BatchCanceled  BatchOutcome = "canceled"
)

// A BatchResult is what became of one request of a batch. Only what has succeeded is paid for.
type BatchResult struct {
	ID      string // of the item
	Outcome BatchOutcome
	Answer  *Answer // of one that succeeded
	Err     error   // of any other; it wraps ErrRefused when the same request would be refused again
}

// A Batcher has a provider answer requests later, at a lower price. The clients of package anthropic do. It may be used by several goroutines
// at once.
type Batcher interface {
	// Submit makes a batch. It makes one attempt: after an error of which nobody knows whether the provider has taken the batch, Batches and
	// Results tell, by the ids of its items.
	Submit(ctx context.Context, items []BatchItem) (*Batch, error)

	// Batch describes a batch.
	Batch(ctx context.Context, id string) (*Batch, error)

	// Batches describes the batches that were made since a time, the newest first.
	Batches(ctx context.Context, since time.Time) ([]Batch, error)

	// Results returns what became of the requests of a batch that has ended, in any order.
	Results(ctx context.Context, id string) ([]BatchResult, error)
}
