package dialect

// A Follower is a dialect whose clients may send what is new alone, behind an answer that they name.
type Follower interface {
	// Follows reports whether a later request may go on from the answer to a request, and returns the id of the answer that
	// it goes on from itself: empty when it holds all of its conversation, or cannot be read.
	Follows(body []byte) (id string, held bool)

	// Whole returns such a request with all of its conversation, for a provider that holds none. before is the body of the
	// request that was answered, with the answer behind it (Parts.Answer); nil where the request goes on from none.
	Whole(body, before []byte) []byte

	// Unknown returns how the API answers a request that goes on from an answer which nobody knows, so that its clients
	// send all of the conversation: status and body.
	Unknown(id string) (status int, body []byte)
}
