package dialect

// A Continuer is a dialect in whose requests the user can say something more.
type Continuer interface {
	// Continue returns a request with an answer to it, unless that is nil, and something that the user says then. All that
	// the provider has in its cache of the request is found there again. An answer that waits for results is left out.
	Continue(body, answer []byte, text string) ([]byte, error)
}
