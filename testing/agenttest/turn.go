package agenttest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/provider"
)

// A Turn is one answer of a model.
type Turn struct {
	// Want is what is new in the request since the answer before, as Request.New returns it; empty: anything.
	Want string

	// Check says what is wrong with the request; nil: nothing more than Want.
	Check func(r *Request) error

	Thinking string
	Text     string
	Calls    []Call
	Stop     string       // why it stops; empty: "tool_use" where there are calls, else "end_turn"
	Usage    decant.Usage // zero: what the request and the answer are estimated at

	// Delay is how long the answer takes to begin. It ends early when the context of the request does.
	Delay time.Duration

	// Err makes the request fail: a *provider.Failure is an answer of the API. Where there is a Text, the answer breaks off behind it.
	Err error
}

// A Call is a call of a tool.
type Call struct {
	ID        string // empty: toolu_1_2 is the second call of the first turn of the script
	Tool      string
	Arguments string // a JSON object; empty: one without members
}

// String returns the turn as a test shows it.
func (t *Turn) String() string {
	var out []string
	if t.Text != "" {
		out = append(out, "assistant: "+t.Text)
	}
	for i := range t.Calls {
		out = append(out, callLine(t.Calls[i].Tool, cmp.Or(t.Calls[i].Arguments, "{}")))
	}
	if t.Err != nil {
		out = append(out, "error: "+t.Err.Error())
	}
	return strings.Join(out, "\n")
}

// play says the turn, which has a number in its script, to a request.
func (t *Turn) play(n int, r *Request, heard func(provider.Delta)) (*provider.Answer, error) {
	if heard == nil {
		heard = func(provider.Delta) {}
	}
	tell(heard, decant.KindThinking, t.Thinking)
	tell(heard, decant.KindText, t.Text)
	if t.Err != nil {
		if t.Text == "" {
			return nil, t.Err
		}
		return &provider.Answer{Text: t.Text, Content: list(textBlock(t.Text)), Model: r.Model, Usage: t.used(r)}, t.Err
	}
	var blocks [][]byte
	if t.Thinking != "" {
		blocks = append(blocks, thinkingBlock(t.Thinking))
	}
	if t.Text != "" {
		blocks = append(blocks, textBlock(t.Text))
	}
	for i, c := range t.Calls {
		c.ID, c.Arguments = cmp.Or(c.ID, fmt.Sprintf("toolu_%d_%d", n, i+1)), cmp.Or(c.Arguments, "{}")
		heard(provider.Delta{Kind: decant.KindUse, ID: c.ID, Name: c.Tool, Text: c.Arguments})
		blocks = append(blocks, useBlock(&c))
	}
	stop := "end_turn"
	if len(t.Calls) > 0 {
		stop = "tool_use"
	}
	return &provider.Answer{
		Text: t.Text, Content: list(blocks...), Calls: len(t.Calls), Stop: cmp.Or(t.Stop, stop), Model: r.Model, Usage: t.used(r),
	}, nil
}

// tell tells of a text word by word, as models do.
func tell(heard func(provider.Delta), kind decant.Kind, text string) {
	for _, piece := range strings.SplitAfter(text, " ") {
		if piece != "" {
			heard(provider.Delta{Kind: kind, Text: piece})
		}
	}
}

// used returns the usage of the turn.
func (t *Turn) used(r *Request) decant.Usage {
	if t.Usage != (decant.Usage{}) {
		return t.Usage
	}
	said := t.Thinking + t.Text
	for _, c := range t.Calls {
		said += c.Tool + c.Arguments
	}
	return decant.Usage{Input: r.size, Output: 4 + len(said)/4}
}

// list returns blocks as a JSON list.
func list(blocks ...[]byte) []byte {
	out := []byte{'['}
	for i, b := range blocks {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, b...)
	}
	return append(out, ']')
}

func textBlock(text string) []byte {
	return append(jsonspan.AppendQuote([]byte(`{"type":"text","text":`), text), '}')
}

func thinkingBlock(text string) []byte {
	b := jsonspan.AppendQuote([]byte(`{"type":"thinking","thinking":`), text)
	return append(jsonspan.AppendQuote(append(b, `,"signature":`...), signature(text)), '}')
}

func useBlock(c *Call) []byte {
	b := jsonspan.AppendQuote([]byte(`{"type":"tool_use","id":`), c.ID)
	b = jsonspan.AppendQuote(append(b, `,"name":`...), c.Tool)
	return append(append(append(b, `,"input":`...), c.Arguments...), '}')
}

// signed begins the signatures of fake models.
const signed = "agenttest"

// signature signs thinking, so that it must come back as it was. It has the form of real ones.
func signature(thinking string) string {
	sum := sha256.Sum256([]byte(thinking))
	return signed + hex.EncodeToString(sum[:])
}
