package dialect

import "github.com/decantdev/decant"

// An AnswerReader puts an answer together from what passes by. It is for one answer and one goroutine. What it does not
// understand it passes over.
type AnswerReader interface {
	// Event takes an event of a stream. The name is "message" where the stream gives none. Both slices are good during the
	// call only.
	Event(name, data []byte)

	// Object takes all of an answer that is no stream, as far as it came; nil when it was too large to be kept.
	Object(body []byte)

	// Ended reports whether the stream has come to its end: nothing behind it says more of the answer.
	Ended() bool

	// Answer returns what was read. It is called once, at the end.
	Answer() Answer
}

// An Answer is what a model said, and what the provider said about it.
type Answer struct {
	// of the pass that wrote the answer; Input is what was neither read from the provider's cache nor written
	// to it
	Usage decant.Usage
	// of other passes, which are billed as well: summaries that the provider wrote, advice that it took
	Extra   decant.Usage
	ID      string // by which a later request may name it, see Follower; empty: none may
	Content []byte // for Parts.Answer, in a form of the dialect's own; nil when it was not kept
	Stop    string // why the model stopped, in the API's own word

	Came int // bytes of all that was said in a stream, or in further choices, kept or not

	Broken  bool   // it ended before its end: there is no content
	Partial []byte // what was said in it all the same, as far as it was kept
	Refused bool   // an error came in its place, before anything was said and with no usage

	Edited  bool // it says what was changed of the prompt
	Cleared int  // results that were left out of it
}
