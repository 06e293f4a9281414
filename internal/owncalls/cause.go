package owncalls

import (
	"context"
	"errors"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
)

// Conditions that callers branch on. Test with errors.Is.
var (
	// ErrResting means that own calls have reached their limit of rate or cost, and none is made for a while.
	ErrResting = errors.New("own calls have reached their limit")

	// ErrNoCredential means that there is no credential which may be used for the conversation.
	ErrNoCredential = errors.New("no credential for own calls")
)

// A Purpose is what an own call is for. It is told apart in the ledger, in limits and in metrics.
type Purpose string

// The purposes.
const (
	ForRecord     Purpose = "record"       // of a pour, or of a part of a conversation before it
	ForMemory     Purpose = "memory"       // what is worth remembering, before it leaves the view
	ForCompaction Purpose = "compaction"   // the provider's own
	ForCache      Purpose = store.ForCache // to keep it warm
)

// A Cause says on whose behalf a call is made. Its tenant pays, and nobody else's credential is ever used for it.
type Cause struct {
	Conversation store.Key
	Upstream     string // base URL of the provider that the conversation is held with; empty: no client is behind it
	Purpose      Purpose
}

// An Asker makes own calls on behalf of conversations, within limits and budgets, and books what they cost. An answer
// beside an error has only what is known of what it cost.
type Asker interface {
	Ask(ctx context.Context, c Cause, r *provider.Request) (*provider.Answer, error)
}

// A Call is what became of an own call.
type Call struct {
	Cause
	Model   string // as the catalogue names it
	Outcome string // "answered", "unusable", "refused", "failed", "resting", "budget", "no credential"
	Usage   decant.Usage
	Cost    store.Money
	Took    time.Duration
}
