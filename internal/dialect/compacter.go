package dialect

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire"
)

// A Compacter is a dialect whose provider writes a summary of a conversation when it is asked to, which then stands in
// the place of what it is about, and leaves the thinking behind it valid.
type Compacter interface {
	// Compacts reports whether request r goes with such a summary: nothing in it asks for what excludes one.
	Compacts(r *wire.Document) bool

	// AskCompaction returns a request for a summary of all messages of a body, with the model's own instructions in place
	// of the provider's unless they are empty.
	AskCompaction(body []byte, instructions string) []byte

	// Compaction reads the content of an answer to such a request. It returns false where there is no summary in it.
	Compaction(content []byte) (ProviderSummary, bool)

	// NoCompaction reports whether the text of a refusal says that the provider does not know such requests, or
	// the model does not, whatever their content.
	NoCompaction(refusal string) bool

	// CompactionBeta returns the beta that such a request needs, and every request that has a summary.
	CompactionBeta() string
}

// A ProviderSummary is a summary that a provider has written.
type ProviderSummary struct {
	Source string // the block in the provider's own bytes, as it must come back
	Text   string // what can be read of it
}

// Summarised reports whether a view begins with a summary that its provider has written for Decant.
func Summarised(view *decant.Conversation) bool {
	if len(view.Messages) == 0 {
		return false
	}
	m := &view.Messages[0]
	return m.Number == 0 && m.Compaction
}
