package anthropic

import (
	"cmp"
	"context"
	"errors"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/modelhttp"
	"github.com/decantdev/decant/provider"
)

// Speak implements provider.Speaker.
func (c *Client) Speak(ctx context.Context, t *provider.Turn, heard func(provider.Delta)) (*provider.Answer, error) {
	body, err := streamed(t.Body)
	if err != nil {
		return nil, err
	}
	return modelhttp.Retry(ctx, cmp.Or(t.Backoff, c.opts.Backoff), func() (*provider.Answer, error) {
		l := &listener{tell: heard}
		a, err := c.once(ctx, body, t.Betas, l)
		if err != nil && l.any {
			err = errors.Join(provider.ErrBroken, err) // what was heard cannot be taken back: no other try
		}
		return a, err
	})
}

// streamed returns the body of a request whose answer comes as a stream.
func streamed(body []byte) ([]byte, error) {
	if err := jsonspan.Validate(body); err != nil {
		return nil, err
	}
	if len(body) < 2 || body[0] != '{' || !jsonspan.Member(body, 0, "stream").IsZero() {
		return nil, errors.New("a turn must be a JSON object without the member stream")
	}
	out := append(make([]byte, 0, len(body)+16), `{"stream":true,`...)
	return append(out, body[1:]...), nil
}

// A listener tells of an answer while it comes, and keeps the texts of it. A nil one does nothing.
type listener struct {
	tell   func(provider.Delta)
	any    bool
	blocks []heardBlock
}

// A heardBlock is a block of an answer that comes.
type heardBlock struct {
	kind decant.Kind
	text []byte // of a text
}

// spoken is what matters of the events that bring content.
type spoken struct {
	Index int `json:"index"`
	Block struct {
		Type string `json:"type"`
		ID   string `json:"id"`
		Name string `json:"name"`
		Text string `json:"text"`
	} `json:"content_block"`
	Delta struct {
		Text      string `json:"text"`
		Thinking  string `json:"thinking"`
		Arguments string `json:"partial_json"`
	} `json:"delta"`
}

// heardKinds are the blocks that are told of while they come.
var heardKinds = map[string]decant.Kind{"text": decant.KindText, "thinking": decant.KindThinking, "tool_use": decant.KindUse}

// event takes an event of a stream.
func (l *listener) event(name string, data []byte) {
	if l == nil || name != "content_block_start" && name != "content_block_delta" {
		return
	}
	var e spoken
	if json.Unmarshal(data, &e, lenient) != nil {
		return
	}
	if name == "content_block_start" {
		b := heardBlock{kind: heardKinds[e.Block.Type]}
		l.blocks = append(l.blocks, b)
		l.say(len(l.blocks)-1, provider.Delta{Kind: b.kind, Text: e.Block.Text, ID: e.Block.ID, Name: e.Block.Name})
		return
	}
	if e.Index >= 0 && e.Index < len(l.blocks) {
		l.say(e.Index, provider.Delta{Kind: l.blocks[e.Index].kind, Text: e.Delta.Text + e.Delta.Thinking + e.Delta.Arguments})
	}
}

// say tells of a piece of a block.
func (l *listener) say(i int, d provider.Delta) {
	if d.Kind == "" || d.Text == "" && d.ID == "" {
		return
	}
	l.any = true
	if d.Kind == decant.KindText {
		l.blocks[i].text = append(l.blocks[i].text, d.Text...)
	}
	if l.tell != nil {
		l.tell(d)
	}
}

// text returns the texts that came.
func (l *listener) text() (out string) {
	if l == nil {
		return ""
	}
	for _, b := range l.blocks {
		out += string(b.text)
	}
	return out
}

// content returns the texts that came as a JSON list of blocks, nil when none did. Calls and thinking of an answer that broke
// off are left out: the API would take neither back, a call because it has no end, thinking because it has no signature.
func (l *listener) content() []byte {
	if l == nil {
		return nil
	}
	out := []byte{'['}
	for _, b := range l.blocks {
		if len(b.text) == 0 {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(jsonspan.AppendQuote(append(out, `{"type":"text","text":`...), string(b.text)), '}')
	}
	if len(out) == 1 {
		return nil
	}
	return append(out, ']')
}
