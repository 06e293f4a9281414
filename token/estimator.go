package token

import (
	"math"

	"github.com/decantdev/decant"
)

// An Estimator counts what text, blocks and conversations take in one model's window. Counts for
// OpenAI models are exact except for the framing; counts for other models are estimates. It is safe
// for concurrent use. Keep it: an exact one remembers what it has counted.
type Estimator struct {
	model  Model
	exact  *exact   // nil: by the weights of characters
	weight weights  // used when exact is nil
	scale  float64  // from the weights to the model's vocabulary, calibration included
	frame  overhead // tokens around content
}

// overhead is what an API puts around content, in tokens.
type overhead struct {
	message  int // role and separators
	use      int // around a call's name and arguments
	result   int // around what it returned
	tool     int // around a tool's definition
	toolset  int // once, when there are tools at all
	thinking int // around a thinking block
}

// The framings. Real steps were billed 65 tokens for a call with its result on Claude and 31 on
// OpenAI's models; how this divides between call and result is our choice.
var (
	claudeFrame = overhead{message: 4, use: 40, result: 25, tool: 8, toolset: 320, thinking: 4}
	openaiFrame = overhead{message: 4, use: 19, result: 12, tool: 7, toolset: 8, thinking: 4}
)

var _ decant.Counter = (*Estimator)(nil)

// For returns the estimator for a model.
func For(m Model) *Estimator {
	if m.Provider == OpenAI {
		return &Estimator{model: m, exact: newExact(), scale: 1, frame: openaiFrame}
	}
	e := &Estimator{model: m, weight: claude, scale: 1, frame: claudeFrame}
	if m.Since(4, 7) {
		e.scale = newTokenizer
	}
	return e
}

// Model returns the model that e counts for.
func (e *Estimator) Model() Model { return e.model }

// Exact reports whether text is counted in the model's own vocabulary.
func (e *Estimator) Exact() bool { return e.exact != nil }

// with returns an estimator that applies what was learned about one conversation. Exact counts of
// text do not change.
func (e *Estimator) with(c Calibration) *Estimator {
	if e.exact != nil {
		return e
	}
	out := *e
	out.scale *= c.factor()
	return &out
}

// Count returns the number of tokens in text, without any framing.
func (e *Estimator) Count(text string) int {
	if text == "" {
		return 0
	}
	if e.exact != nil {
		return e.exact.count(text)
	}
	return int(math.Ceil(e.weight.estimate(text) * e.scale))
}

// Block returns the tokens of a block: its text, its images and documents, and the framing of calls
// and results.
func (e *Estimator) Block(b *decant.Block) int {
	n := e.Count(b.Text()) + mediaTokens(e.model.Provider, b.Media)
	switch b.Kind {
	case decant.KindUse:
		return n + e.Count(b.Name) + e.frame.use
	case decant.KindResult:
		return n + e.frame.result
	case decant.KindThinking:
		return n + e.frame.thinking
	case decant.KindImage:
		if n == 0 {
			return imageTokens(e.model.Provider, 0, 0)
		}
	}
	return n
}

// Message returns the tokens of a message with its framing.
func (e *Estimator) Message(m *decant.Message) int {
	n := e.frame.message
	for i := range m.Blocks {
		n += e.Block(&m.Blocks[i])
	}
	return n
}

// Messages returns the tokens of all messages of ms.
func (e *Estimator) Messages(ms []decant.Message) (n int) {
	for i := range ms {
		n += e.Message(&ms[i])
	}
	return n
}

// Fixed returns the tokens of the system prompt and the tool definitions.
func (e *Estimator) Fixed(f *decant.Fixed) (n int) {
	for i := range f.System {
		n += e.Block(&f.System[i])
	}
	for i := range f.Tools {
		n += e.Tool(&f.Tools[i])
	}
	if len(f.Tools) > 0 {
		n += e.frame.toolset
	}
	return n
}

// Tool returns the tokens of one tool's definition. Fixed adds the tokens that having tools at all
// takes.
func (e *Estimator) Tool(t *decant.Tool) int {
	if t.Schema == nil {
		return e.frame.tool + e.Count(t.Name)
	}
	return e.frame.tool + e.Count(t.Schema.Text())
}

// Conversation returns the size of c, including messages from before a client's own compaction.
// Leave these out with c.With(c.Live()).
func (e *Estimator) Conversation(c *decant.Conversation) decant.Size {
	return decant.Size{Fixed: e.Fixed(&c.Fixed), Messages: e.Messages(c.Messages)}
}
