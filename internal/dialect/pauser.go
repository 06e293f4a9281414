package dialect

import "github.com/decantdev/decant/wire"

// A Pauser is a dialect whose provider can be given rules for the prompt of a request: what is old is left
// out of it, and once it has reached a size the model writes a summary and pauses behind it, in place of an
// answer. The client continues from the summary with another request.
type Pauser interface {
	// TakesRules reports whether request r goes with rules of ours: the client has none, and nothing in it runs on the
	// provider's side, where a summary may come in the midst of an answer.
	TakesRules(r *wire.Document) bool

	// Rule returns a body that asks for rules, behind those already in it.
	Rule(body []byte, r Rules) ([]byte, error)

	// RuleBetas returns the betas that such a request needs.
	RuleBetas(r Rules) []string

	// Opens reads the beginning of a streamed answer, event by event. It returns known once it can say whether the answer
	// begins with a summary.
	Opens(name, data []byte) (summary, known bool)

	// Paused reads the content of an answer and reports whether it begins with a summary. The summary is empty
	// where the model was to write one and has not.
	Paused(content []byte) (s ProviderSummary, paused bool)

	// Unsigned reports whether a summary, by its source, came in place of an answer: each request that has it
	// must have a rule for summaries as well.
	Unsigned(source string) bool
}

// Rules say what a provider does with a prompt by itself. The zero value asks for nothing.
type Rules struct {
	Thinking int // newest turns that keep their thinking; 0: no rule

	Results   int // old results go once the prompt has more tokens; 0: no rule
	KeepCalls int // newest calls whose results stay
	Least     int // tokens; nothing goes unless that many do

	// tokens at which the model writes a summary and pauses, or the least that the provider takes; 0: no rule
	Summary      int
	Instructions string // what the summary is to hold, empty for the provider's own words
}

// Any reports whether r asks for anything.
func (r Rules) Any() bool { return r != Rules{} }

// Clears reports whether what is left out of a prompt by r is another part of it with each request.
func (r Rules) Clears() bool { return r.Thinking > 0 || r.Results > 0 }
