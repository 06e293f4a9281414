package dialect

import "github.com/decantdev/decant"

// A Batcher is a dialect that has doors for batches. The bodies and answers come from there.
type Batcher interface {
	// BatchItems takes the body of a batch apart. What another reader could read differently, as names that come
	// twice, is an error, and so is a batch whose requests are elsewhere.
	BatchItems(body []byte) ([]BatchItem, error)

	// BatchID returns the id that the provider has given a batch, from its answer; empty when it is not understood.
	BatchID(answer []byte) string

	// BatchUnused reads what is said of a batch, and reports whether it has ended and nothing in it was answered.
	BatchUnused(answer []byte) bool

	// BatchResult reads a line of the results. It returns false for one that it does not understand.
	BatchResult(line []byte) (BatchResult, bool)
}

// A BatchItem is one request of a batch.
type BatchItem struct {
	ID     string // the client's own
	Params []byte // body of a request
}

// A BatchResult is the outcome of one request of a batch.
type BatchResult struct {
	Answered bool // otherwise it has used nothing
	Model    string
	Usage    decant.Usage
}
