// Package provider asks models: a [Client] for one answer, a [Speaker] for the next one of a conversation with tools.
//
// Each speaks one API; packages anthropic and openai have one each. Nothing that is asked for here becomes part of a
// conversation, and no credential is stored, logged or part of an identity.
package provider

import (
	"context"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// A Request asks a model for one answer, without tools. It has either a prompt or a body.
type Request struct {
	Model     string // id, as its provider names it
	System    string // what the model is told to do
	Prompt    string // what it is given, as one message of the user
	MaxTokens int    // of the answer
	Cool      bool   // temperature 0, where the model takes one

	// Body is a whole request in the bytes of the API, which is sent as it stands in place of all of the above but Model. It is for
	// calls that go on from what a client has sent, so that the provider finds it in its cache.
	Body  []byte
	Betas []string // that Body needs

	Backoff Backoff // for this request; zero: the client's
}

// A Backoff says how often a call is made and how long to wait in between. The zero value means three attempts with the
// pauses of the official clients: as long as the provider asks for, up to a minute; else half a second, doubled each time,
// and at most eight. The pauses of another value are for a provider that has too many calls (status 429 or 529); other failures
// are followed by those of the zero value. A provider that asks for more than an hour is not asked again.
type Backoff struct {
	Attempts int           // in all; 0 means three
	Least    time.Duration // before the second attempt; doubled before each further one
	Most     time.Duration // the longest pause, unless the provider asks for a longer one
	Jitter   time.Duration // a random part up to this is added
}

// An Answer is what a model said.
type Answer struct {
	Text    string       // all text, without thinking
	Content []byte       // the content as the API sent it: for the Messages API a JSON list of blocks
	Calls   int          // calls of tools in it, which nobody makes
	Stop    string       // why it stopped, in the words of the Messages API
	Model   string       // that answered
	Usage   decant.Usage // of the call, all that it is billed for
	Batch   bool         // it came with a batch, at the price of batches
	Item    string       // id of its request in that batch, see BatchItem; empty: not known
}

// A Client asks models over one API. It tries again what is worth trying again, and returns when ctx is done. It may be used by several
// goroutines at once.
type Client interface {
	// Ask returns the answer to a request. An error that wraps [ErrRefused] means that the same request would be refused again.
	// An answer beside an error has only what is known of what it cost.
	Ask(ctx context.Context, r *Request) (*Answer, error)
}

// A Checker finds out without a charge whether a model may be asked with a client's credential. The clients of packages
// anthropic and openai are.
type Checker interface {
	// Check returns nil when the model is there and the credential is taken.
	Check(ctx context.Context, model string) error
}

// An Account is a client with a credential, and what it may be asked for.
type Account struct {
	Client   Client
	Upstream string // base URL that it calls
	Model    string // that it asks where a request names none

	// Shared says that the provider keeps one prompt cache for this account and for the clients of Upstream, as it does for keys of one
	// workspace. Only then it is asked to go on from what a client has sent: with another key that costs the whole
	// prompt once more.
	Shared bool
}

// A Lister says what its provider tells about the models that there are. It costs nothing. The client of package anthropic is one.
type Lister interface {
	Models(ctx context.Context) ([]token.Facts, error)
}
