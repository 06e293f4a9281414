package dialect

// A Marker is a dialect whose provider caches only the parts of a prompt before cache markers.
type Marker interface {
	// Mark returns a body with cache markers added where a request that follows can read what this one leaves.
	// Nothing else changes, the client's own markers stay, and there are never more than the provider allows. It
	// returns body itself where no marker pays.
	Mark(body []byte) ([]byte, Marked)
}

// Marked says what markers were added to a request.
type Marked struct {
	Added    int
	Messages bool   // the client has none behind its messages
	Fixed    bool   // it has some on its system prompt or tools
	Turns    int    // answers of the model in the request
	First    []byte // the first message, as the client has written it
}
