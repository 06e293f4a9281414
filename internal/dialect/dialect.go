package dialect

import (
	"errors"
	"net/http"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// An API is what must be known of an API to tell its requests from others and to refuse them in a way that its clients
// understand. Its methods may be called at the same time.
type API interface {
	// About describes the API.
	About() About

	// Door returns what a request is for, by its method, path and headers. Its body is not looked at.
	Door(r *http.Request) Door

	// Refuse returns the body of an answer by which Decant refuses a request, as the API's clients expect it.
	Refuse(why Cause, message string) []byte
}

// A Dialect is everything that is particular to one API: an API whose requests Decant manages. Implementations are
// values without state, and may be compared.
type Dialect interface {
	API
	Requests
	Answers
}

// ErrElsewhere is in the error of a request some of whose conversation only the provider has.
var ErrElsewhere = errors.New("the provider has a part of this conversation, so it is not managed; send all of it")

// Requests is how the requests of an API are read.
type Requests interface {
	// Parse reads the body of a request for an answer of a model, without its content encoding. An error says why the
	// request cannot be managed: it is not one, or it does not hold the whole conversation, which is ErrElsewhere and
	// comes with what it holds. Then it passes as it came, unless a budget applies. Body must not change afterwards.
	Parse(body []byte) (*wire.Document, error)

	// Session returns the client's own id of the conversation, where a body names one; otherwise nothing.
	Session(r *wire.Document) string

	// Identity returns the identity of a block by its bytes: [wire.Document.Raw]. Two blocks have the same if
	// and only if they say the same to the model, however they are written: spacing, escapes, the order of
	// members, cache markers and names that the provider gives by itself do not count. It is stored, so it never
	// changes; and no two dialects may have an identity in common, so that no conversation continues in another
	// API.
	Identity(block []byte) decant.Hash

	// Edits returns what the client itself asks the provider to change of its prompt.
	Edits(r *wire.Document) Edits

	// Fixed returns the system prompt and the tools in the client's bytes, or nil.
	Fixed(r *wire.Document) (system, tools []byte)

	// Assemble returns the body of a request that is made of parts. Parse takes it.
	Assemble(p *Parts) []byte
}

// Answers is how the answers to requests for a model's answer are read.
type Answers interface {
	// ReadAnswer returns a reader of an answer. room reports whether n bytes more of its content may be kept; once it does
	// not, nothing of the content is kept.
	ReadAnswer(room func(n int) bool) AnswerReader

	// ReadRefusal returns what an answer with another status than 200 is about. A refusal that comes in a stream, after
	// status 200, is the client's.
	ReadRefusal(status int, body []byte) Refusal
}

// About describes an API.
type About struct {
	Format   wire.Format    // of its requests, whose name is the API's in a store and in package legal
	Provider token.Provider // who makes it
	Metered  []string       // paths at which what a request costs can be counted

	// of a request: what it asks for that is in beta, by names with commas between; empty: there is none
	BetaHeader         string
	HeldBeta           string // of BetaHeader: the provider holds the conversation; it is for requests as the client sent them
	OrganizationHeader string // of an answer: whom the provider has answered; empty: it does not say
	RequestHeader      string // of an answer: the provider's own id of the request
}

// Edits is what a client asks the provider to change of its prompt before the model reads it.
type Edits uint8

// The edits.
const (
	NoEdits    Edits = iota // the prompt is what is sent
	Compaction              // the provider may write a summary
	Clearing                // the provider may leave something out: its prompt may be smaller than what is sent
)

// Parts are a request in pieces, as it is stored. The slices belong to the caller.
type Parts struct {
	Model    string // when there are no parameters
	Params   []byte // [wire.Document.Frame]; nil: not known
	System   []byte // with Tools, as [Requests.Fixed] returned it
	Tools    []byte
	Messages []Message
	Answer   []byte // content of the model's newest answer, see [Answer]; nil: none
}

// A Message is a message of Parts.
type Message struct {
	Role   decant.Role
	Blocks []Block
}

// A Block is a block of a message.
type Block struct {
	Kind  decant.Kind // the bytes alone need not say it
	Bytes []byte      // [wire.Document.Raw]
}
