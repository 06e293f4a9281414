package dialect

// A Topic is what a refusal of a provider is about, as far as another form of the request may help.
type Topic string

// The topics. Any other refusal is the client's to deal with.
const (
	Size       Topic = "size"       // the request is too large
	Thinking   Topic = "thinking"   // thinking in it does not match the messages before it
	Compacting Topic = "compaction" // a summary by the provider in it, or a request or a rule for one
	Editing    Topic = "editing"    // the clearing that it asks for is not known, or not to be had with this model
)

// A Refusal is a provider's answer to a request that it does not take.
type Refusal struct {
	Topic  Topic  // empty: something else
	Text   string // the provider's message
	Tokens int    // of the request, as the provider has counted; 0: it does not say
	Window int    // tokens that the model takes, 0: it does not say
	Output int    // tokens of output that it has counted in besides, 0: none
	Bytes  int    // most bytes that it takes, 0: it does not say

	// Bound says that the provider has found thinking bound to another conversation, so it does look.
	Bound bool
}

// A LateRefuser is a dialect whose provider may refuse a request in the stream of its answer, after status 200.
type LateRefuser interface {
	// RefusesLate reads the beginning of a streamed answer, event by event. It returns known once it can say whether the
	// request is refused. Refusal is what status 400 would have come with, and nil where the request is answered.
	RefusesLate(name, data []byte) (refusal []byte, known bool)
}

// A Cause is why Decant itself answers a request. Each API has a word of its own for it.
type Cause uint8

// The causes.
const (
	Invalid         Cause = iota // the request is wrong
	Unauthenticated              // it is not known whose it is
	Forbidden                    // it may not be made
	Unpaid                       // a budget is spent
	TooLarge                     // it has too many bytes
	TooMany                      // there were too many in this minute
	Overloaded                   // there is no room for it now
	Failed                       // something has failed that is not the client's fault
	Unsupported                  // Decant does not manage the API
)

// Causes returns all causes.
func Causes() []Cause {
	return []Cause{Invalid, Unauthenticated, Forbidden, Unpaid, TooLarge, TooMany, Overloaded, Failed, Unsupported}
}
