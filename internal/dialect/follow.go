package dialect

// A Follower is a dialect whose clients may send what is new alone, behind an answer that they name.
type Follower interface {
	// Follows returns the id of the answer that a request goes on from. It is empty when the request holds all of its
	// conversation, or cannot be read.
	Follows(body []byte) string

	// Whole returns such a request with all of its conversation. before is the body of the request that was answered, with
	// the answer behind it (Parts.Answer).
	Whole(body, before []byte) []byte

	// Unknown returns how the API answers a request that goes on from an answer which nobody knows, so that its clients
	// send all of the conversation: status and body.
	Unknown(id string) (status int, body []byte)
}
