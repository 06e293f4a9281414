package dialect

import "strings"

// A Door is a place of an API at which requests arrive.
type Door struct {
	Kind  Kind
	Name  string // as metrics have it, one of a few; empty: like any other
	Route string // its path as the API's documents have it, empty where there are many
	Base  string // prefix of the request's path before the API's own: the client's base URL ends with it
	Batch string // id of the batch that the request is about
}

// A Kind is what requests at a door are for.
type Kind uint8

// The kinds.
const (
	Unknown      Kind = iota // another API's, or nothing is known about it
	Unmanaged                // the API's, and nothing for Decant
	Free                     // something is sent that costs nothing
	Prompt                   // a model is asked for an answer: this is what Decant manages
	Count                    // the same body, of which only the size is asked for
	Batch                    // a batch is made, see Batcher
	BatchState               // the answer says what has become of a batch
	BatchResults             // the answer has its results
)

// Ambiguous reports whether servers may differ in what a path means.
func Ambiguous(path string) bool {
	return strings.Contains(path, "//") || strings.ContainsAny(path, `;?#%\`) ||
		strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r > '~' })
}
