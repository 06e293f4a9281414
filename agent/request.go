package agent

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/internal/jsonspan"
)

// A history is the messages of a session in the bytes of the Messages API. What was sent once is never written anew.
type history []stdjson.RawMessage

// body returns the request of an agent for the next answer. The tools, the instructions and the last message of the user are marked
// for the provider's cache. final switches the tools off; think is what the request says about thinking.
func (a *Agent) body(h history, final bool, think thought) []byte {
	size := 1000 + len(a.opts.System)
	for _, m := range h {
		size += len(m) + 1
	}
	b := append(make([]byte, 0, size), `{"model":`...)
	b = jsonspan.AppendQuote(b, a.opts.Model)
	b = strconv.AppendInt(append(b, `,"max_tokens":`...), int64(think.most), 10)
	b = think.append(b)
	b = a.appendTools(b)
	if a.opts.System != "" {
		b = jsonspan.AppendQuote(append(b, `,"system":[{"type":"text","text":`...), a.opts.System)
		b = append(a.appendMarker(b, a.opts.LongCache || a.opts.LongFixed), `}]`...)
	}
	if final && len(a.opts.Tools) > 0 {
		b = append(b, `,"tool_choice":{"type":"none"}`...)
	}
	b = append(b, `,"messages":[`...)
	for i, m := range h {
		if i > 0 {
			b = append(b, ',')
		}
		if i == len(h)-1 {
			b = a.appendLast(b, m)
			break
		}
		b = append(b, m...)
	}
	return append(b, `]}`...)
}

// appendTools appends the tools, the last of them with a marker.
func (a *Agent) appendTools(b []byte) []byte {
	if len(a.opts.Tools) == 0 {
		return b
	}
	b = append(b, `,"tools":[`...)
	for i := range a.opts.Tools {
		t := &a.opts.Tools[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonspan.AppendQuote(append(b, `{"name":`...), t.Name)
		b = jsonspan.AppendQuote(append(b, `,"description":`...), t.Description)
		b = append(b, `,"input_schema":`...)
		if t.Schema == nil {
			b = append(b, `{"type":"object","properties":{}}`...)
		} else {
			b = append(b, t.Schema...)
		}
		if i == len(a.opts.Tools)-1 {
			b = a.appendMarker(b, a.opts.LongCache || a.opts.LongFixed)
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

// appendMarker appends a cache marker as a further member of an object: for an hour where long is set, else for five minutes.
func (a *Agent) appendMarker(b []byte, long bool) []byte {
	switch {
	case a.opts.Unmarked:
		return b
	case long:
		return append(b, `,"cache_control":{"type":"ephemeral","ttl":"1h"}`...)
	}
	return append(b, `,"cache_control":{"type":"ephemeral"}`...)
}

// appendLast appends the last message. One of the user's gets a marker on its last block; we have written it, so it ends as we write.
func (a *Agent) appendLast(b []byte, m stdjson.RawMessage) []byte {
	inner, ok := bytes.CutSuffix(m, []byte(`}]}`))
	if !ok || !bytes.HasPrefix(m, []byte(userStart)) {
		return append(b, m...)
	}
	return append(a.appendMarker(append(b, inner...), a.opts.LongCache), `}]}`...)
}

// userStart is how each message of the user begins.
const userStart = `{"role":"user","content":[`

// withBlock returns a message of the user with one more block; false, where the message is not the user's.
func withBlock(m stdjson.RawMessage, block []byte) (stdjson.RawMessage, bool) {
	inner, ok := bytes.CutSuffix(m, []byte(`]}`))
	if !ok || !bytes.HasPrefix(m, []byte(userStart)) {
		return nil, false
	}
	out := append(append(make([]byte, 0, len(m)+len(block)+1), inner...), ',')
	return append(append(out, block...), `]}`...), true
}

// wrapped returns a history at whose end the user says text, too.
func wrapped(h history, text string) history {
	end := len(h) - 1
	if m, ok := withBlock(h[end], textBlock(text)); ok {
		return append(slices.Clone(h[:end]), m)
	}
	return append(slices.Clone(h), said(text))
}

// answeredCalls returns the calls whose results the last message has, nil where it has none.
func answeredCalls(h history) []Call {
	if len(h) < 2 || !bytes.HasPrefix(h[len(h)-1], []byte(userStart+`{"type":"tool_result"`)) {
		return nil
	}
	return callsOf(h[len(h)-2])
}

// leftOut returns a history in whose last message the results of calls are left out, and text is all that is said.
func leftOut(h history, calls []Call, text string) history {
	var blocks [][]byte
	for i := range calls {
		blocks = append(blocks, resultBlock(calls[i].ID, Result{Text: "Left out."}))
	}
	return append(slices.Clone(h[:len(h)-1]), userMessage(append(blocks, textBlock(text))))
}

// said returns a message of the user with texts.
func said(texts ...string) stdjson.RawMessage {
	blocks := make([][]byte, len(texts))
	for i, text := range texts {
		blocks[i] = textBlock(text)
	}
	return userMessage(blocks)
}

// userMessage returns a message of the user with blocks.
func userMessage(blocks [][]byte) stdjson.RawMessage {
	b := append([]byte(userStart), bytes.Join(blocks, []byte{','})...)
	return append(b, `]}`...)
}

// textBlock returns a text as a block.
func textBlock(text string) []byte {
	return append(jsonspan.AppendQuote([]byte(`{"type":"text","text":`), text), '}')
}

// resultBlock returns the result of a call as a block.
func resultBlock(id string, r Result) []byte {
	b := jsonspan.AppendQuote([]byte(`{"type":"tool_result","tool_use_id":`), id)
	if r.Error {
		b = append(b, `,"is_error":true`...)
	}
	text := r.Text
	if text == "" {
		text = "(no output)" // an empty text is none to the API
	}
	b = append(append(b, `,"content":[`...), textBlock(text)...)
	for i := range r.Images {
		b = append(append(b, ','), r.Images[i].shown()...)
	}
	return append(b, `]}`...)
}

// mostImage is how many bytes an image of a result may have: the API takes 5 MB of base64.
const mostImage = 3_700_000

// shown returns an image of a result as a block, or a text that says why it cannot be shown. What it is, its bytes tell: an image that is
// none, or is too large, would have the API refuse the conversation from then on.
func (a *Attachment) shown() []byte {
	if len(a.Data) > mostImage {
		return textBlock(fmt.Sprintf("(image %q has %d bytes and is too large to be shown)", a.Name, len(a.Data)))
	}
	is := Attachment{Name: a.Name, MediaType: http.DetectContentType(a.Data), Data: a.Data}
	block, err := is.block()
	if err != nil {
		return textBlock("(" + strings.TrimPrefix(err.Error(), "agent: ") + ")")
	}
	return block
}

// answered returns the message of the model with a content as its API has sent it.
func answered(content []byte) stdjson.RawMessage {
	b := append([]byte(`{"role":"assistant","content":`), content...)
	return append(b, '}')
}

// cutShort is what a model is told whose answer was cut for its length.
const cutShort = "Your answer was cut because it was too long. Go on where it stopped."

// saidNothing is what a model is told whose answer was empty.
const saidNothing = "Your answer was empty. Answer, or say that you are done."

// own reports whether a text in a message of the user is one that the agent itself says there.
func (a *Agent) own(text string) bool {
	return text == cutShort || text == saidNothing || text == a.opts.WrapUp
}

// turnOf returns what the user says in a message, and whether a session could go on before it: whether it answers no calls, and says
// something that is the user's.
func (a *Agent) turnOf(m stdjson.RawMessage) (text string, ok bool) {
	if !bytes.HasPrefix(m, []byte(userStart)) || bytes.HasPrefix(m, []byte(userStart+`{"type":"tool_result"`)) {
		return "", false
	}
	var u struct {
		Blocks []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	}
	if json.Unmarshal(m, &u, lenient) != nil {
		return "", false
	}
	var texts []string
	for _, b := range u.Blocks {
		switch {
		case b.Type == "tool_result":
			return "", false
		case b.Type != "text":
			ok = true // something that the user shows
		case !a.own(b.Text):
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n"), ok || len(texts) > 0
}
