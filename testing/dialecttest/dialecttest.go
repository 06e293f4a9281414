// Package dialecttest defines what a dialect.Dialect does, as a test suite that every implementation runs
// over what really goes over the wire of its API. A failure says which rule is broken. Whoever adds an API
// reads it as the specification.
package dialecttest

import (
	"maps"
	"slices"
	"testing"

	"github.com/decantdev/decant/internal/dialect"
)

// A Sample is a dialect with what its API's clients and provider send.
type Sample struct {
	Dialect  dialect.Dialect
	Bodies   map[string][]byte // of real requests for a model's answer, by a name of the test
	Doors    []Door
	Answers  map[string]Answer // by a name of the test
	Refusals []Refusal
	Batch    *Batch // nil: the dialect is no dialect.Batcher

	// ReadError reads an error body as the API's official client does. It returns the error's message, and false when the
	// client does not know it for an error of the API.
	ReadError func(t *testing.T, status int, body []byte) (message string, ok bool)
}

// A Door is a request and what it is for.
type Door struct {
	Method, Path string
	Want         dialect.Door // its Base is empty: the suite puts base URLs before the path
}

// An Answer is one answer of a model, as a stream and as one JSON object.
type Answer struct{ Stream, Object []byte }

// A Refusal is how the provider refuses a request. The wanted text is not looked at.
type Refusal struct {
	Status int
	Body   []byte
	Want   dialect.Refusal
}

// A Batch is a batch and what the provider says to it.
type Batch struct {
	Body, Made   []byte   // the request, and the answer to it
	ID           string   // that the answer names
	Unused, Used []byte   // what is said of a batch of which nothing was answered, and of another one
	Results      []byte   // in lines
	Models       []string // of the answers among the results, in order
}

// Run runs the suite.
func Run(t *testing.T, s Sample) {
	for _, name := range slices.Sorted(maps.Keys(s.Bodies)) {
		t.Run("Body/"+name, func(t *testing.T) { runBody(t, s.Dialect, s.Bodies[name]) })
	}
	for _, name := range slices.Sorted(maps.Keys(s.Answers)) {
		t.Run("Answer/"+name, func(t *testing.T) { runAnswer(t, s.Dialect, s.Answers[name]) })
	}
	t.Run("NoBody", func(t *testing.T) { noBody(t, s.Dialect) })
	t.Run("Doors", func(t *testing.T) { doors(t, s.Dialect, s.Doors) })
	t.Run("Refusals", func(t *testing.T) { refusals(t, s.Dialect, s.Refusals) })
	t.Run("Refuse", func(t *testing.T) { refuse(t, &s) })
	t.Run("Batch", func(t *testing.T) { runBatch(t, s.Dialect, s.Batch) })
}
