package anthropic

import (
	"cmp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
)

// An answer is what the model said, put together from what passed by.
type answer struct {
	keep    func(n int) bool
	id      string
	lost    bool // it was too large: nothing of its content is kept
	bytes   int  // of what is kept
	usage   usage
	stop    string
	came    int // bytes of what was said, kept or not
	blocks  []block
	whole   []byte // content of an answer that came in one piece
	edited  *edited
	started bool
	failed  bool // an error has come
	ended   bool
}

// ReadAnswer implements dialect.Answers.
func (Dialect) ReadAnswer(room func(n int) bool) dialect.AnswerReader { return &answer{keep: room} }

// edited is what the provider says about context editing.
type edited struct {
	Applied []struct {
		Uses int `json:"cleared_tool_uses"`
	} `json:"applied_edits"`
}

// block is a content block of a stream.
type block struct {
	start     jsontext.Value // as it began
	kind      string
	text      []byte // of its deltas: text, thinking or arguments
	signature []byte
	summary   *summary // of a compaction, nil: it came whole
}

// event is what matters of an event of a stream.
type event struct {
	Message struct {
		ID    string `json:"id"`
		Usage usage  `json:"usage"`
	} `json:"message"`
	Index int            `json:"index"`
	Block jsontext.Value `json:"content_block"`
	Delta struct {
		Type      string  `json:"type"`
		Text      string  `json:"text"`
		Thinking  string  `json:"thinking"`
		Signature string  `json:"signature"`
		Arguments string  `json:"partial_json"`
		Content   *string `json:"content"`
		Encrypted *string `json:"encrypted_content"`
		Stop      string  `json:"stop_reason"`
	} `json:"delta"`
	Usage  usage   `json:"usage"`
	Edited *edited `json:"context_management"`
}

var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Event implements dialect.AnswerReader.
func (a *answer) Event(name, data []byte) {
	kind := dialect.KindOfEvent(name, data)
	switch kind {
	case "message_start", "content_block_start", "content_block_delta", "message_delta":
	case "message_stop":
		a.ended = true
		return
	case "error":
		a.failed = true
		return
	default:
		return
	}
	var e event
	if json.Unmarshal(data, &e, lenient) != nil {
		return
	}
	switch kind {
	case "message_start":
		a.started, a.id = true, e.Message.ID
		a.usage.take(&e.Message.Usage)
	case "content_block_start":
		a.begin(&e)
	case "content_block_delta":
		a.delta(&e)
	case "message_delta":
		a.stop = e.Delta.Stop
		a.usage.take(&e.Usage)
		a.edited = cmp.Or(e.Edited, a.edited)
	}
}

// Ended implements dialect.AnswerReader.
func (a *answer) Ended() bool { return a.ended }

// maxBlocks bounds the content of one answer, whatever index a stream names.
const maxBlocks = 10_000

func (a *answer) begin(e *event) {
	if e.Index != len(a.blocks) || e.Index >= maxBlocks {
		return
	}
	var head struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(e.Block, &head, lenient) != nil {
		head.Type = ""
	}
	a.came += len(head.Text)
	if !a.room(len(e.Block) + len(head.Text)) {
		return
	}
	a.blocks = append(a.blocks, block{start: e.Block.Clone(), kind: head.Type, text: []byte(head.Text)})
}

// room reports whether n bytes more of content may be kept, and lets go of what there is when they may not.
func (a *answer) room(n int) bool {
	if a.lost || !a.keep(n) {
		a.lost, a.blocks = true, nil
		return false
	}
	a.bytes += n
	return true
}

func (a *answer) delta(e *event) {
	a.came += len(e.Delta.Text) + len(e.Delta.Thinking) + len(e.Delta.Arguments)
	if e.Index < 0 || e.Index >= len(a.blocks) {
		return
	}
	b, d := &a.blocks[e.Index], &e.Delta
	if d.Type == "compaction_delta" {
		a.summarize(b, summary{d.Content, d.Encrypted})
		return
	}
	if !a.room(len(d.Text) + len(d.Thinking) + len(d.Arguments) + len(d.Signature)) {
		return
	}
	if len(b.text) == 0 { // reasoning that is not shown
		a.came += len(d.Signature)
	}
	b.text = append(append(append(b.text, d.Text...), d.Thinking...), d.Arguments...)
	b.signature = append(b.signature, d.Signature...)
}

// Object implements dialect.AnswerReader.
func (a *answer) Object(src []byte) {
	var o struct {
		ID      string         `json:"id"`
		Content jsontext.Value `json:"content"`
		Stop    string         `json:"stop_reason"`
		Usage   usage          `json:"usage"`
		Edited  *edited        `json:"context_management"`
	}
	if json.Unmarshal(src, &o, lenient) != nil {
		a.whole = src // it broke off
		return
	}
	a.whole, a.stop, a.usage, a.edited, a.ended = o.Content.Clone(), o.Stop, o.Usage, o.Edited, true
	a.id = o.ID
}

// Answer implements dialect.AnswerReader. One that broke off has no content, but what was said in it is told: the
// client may send back any part of it, or none, and has received it all the same.
func (a *answer) Answer() dialect.Answer {
	out := dialect.Answer{Edited: a.edited != nil, Came: a.came}
	out.Usage, out.Extra = a.usage.passes()
	if a.edited != nil {
		for _, e := range a.edited.Applied {
			out.Cleared += e.Uses
		}
	}
	if !a.ended {
		out.Broken, out.Partial, out.Refused = true, a.partial(), a.failed && !a.started
		return out
	}
	out.ID, out.Stop, out.Content = a.id, a.stop, a.whole
	if a.started && !a.lost {
		out.Content = a.content()
	}
	return out
}

// partial returns what was said, as far as it was kept.
func (a *answer) partial() []byte {
	out := a.whole
	for i := range a.blocks {
		b := &a.blocks[i]
		if out = append(out, b.text...); len(b.text) == 0 {
			out = append(out, b.signature...)
		}
	}
	return out
}

// content returns the blocks of a stream as a JSON list.
func (a *answer) content() []byte {
	out := append(make([]byte, 0, a.bytes+a.bytes/8+2), '[')
	for i := range a.blocks {
		if i > 0 {
			out = append(out, ',')
		}
		out = a.blocks[i].append(out)
	}
	return append(out, ']')
}

// append appends the block in the form of an unstreamed answer.
func (b *block) append(dst []byte) []byte {
	switch b.kind {
	case "text":
		return append(jsonspan.AppendQuote(b.without(dst, "text"), string(b.text)), '}')
	case "thinking":
		dst = append(jsonspan.AppendQuote(b.without(dst, "thinking"), string(b.text)), `,"signature":`...)
		return append(jsonspan.AppendQuote(dst, string(b.signature)), '}')
	case "compaction":
		return b.compaction(dst)
	case "tool_use", "server_tool_use", "mcp_tool_use":
		if len(b.text) > 0 && jsonspan.Validate(b.text) == nil {
			return append(append(b.without(dst, "input"), b.text...), '}')
		}
	}
	return append(dst, b.start...)
}
