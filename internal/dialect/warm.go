package dialect

// A Warmer is a dialect whose provider can be had to use a prompt in its cache once more, so that it stays there.
type Warmer interface {
	// Warm returns a request with the prompt of another one, byte for byte, that is answered with nothing or
	// with one token. It reports false where the provider takes no such request, or would do more than read the
	// prompt.
	Warm(body []byte) ([]byte, bool)
}
