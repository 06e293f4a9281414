package provider

import (
	"context"

	"github.com/decantdev/decant"
)

// A Turn asks a model to go on with a conversation, with tools.
type Turn struct {
	// Body is a whole request of the Messages API, without the member "stream". A client of another API translates it.
	Body  []byte
	Betas []string // that Body needs

	Backoff Backoff // for this turn; zero: the client's
}

// A Delta is a piece of an answer as it comes.
type Delta struct {
	Kind decant.Kind // KindText, KindThinking or KindUse
	Text string      // of a use: a piece of its arguments
	ID   string      // of a use, in its first piece
	Name string      // of the tool, in the first piece of a use
}

// A Speaker goes on with conversations over one API. It tries again what is worth trying again, as long as nothing was heard,
// and returns when ctx is done. It may be used by several goroutines at once.
type Speaker interface {
	// Speak returns the answer to a turn. The content of the answer has the form of the Messages API whatever the API is.
	// heard is told of each piece while it comes, and must return soon; nil: nobody listens. The errors are those of Client;
	// where the answer broke off, or ctx was done in the middle of it, the answer beside the error holds what has come:
	// the texts, as far as they came.
	Speak(ctx context.Context, t *Turn, heard func(Delta)) (*Answer, error)
}
