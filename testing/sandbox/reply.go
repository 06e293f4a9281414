package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// A reply is a finished answer: complete before its first byte is sent.
type reply struct {
	id      string
	model   string
	blocks  []out
	stop    string
	stopSeq string // the stop sequence that ended it
	usage   decant.Usage
	passes  []pass // where usage.iterations is reported
	tier    string // of service; empty: standard
	thought int    // output tokens of thinking
	changes []byte // member input_transformations, or nothing
	edits   []byte // member context_management, or nothing
	calls   []string
	signed  []string // signatures of its thinking, each with its text
}

// An out is a block of an answer.
type out struct {
	kind      string
	text      string // of text and thinking
	signature string
	json      []byte // the whole block
	input     []byte // of a tool_use
	id, name  string
}

// A pass is one time that a model reads for a request.
type pass struct {
	kind  string // "message" or "compaction"
	usage decant.Usage
}

// billed returns what the request costs: what its passes use.
func (r *reply) billed() decant.Usage {
	if r.passes == nil {
		return r.usage
	}
	var sum decant.Usage
	for _, p := range r.passes {
		sum = sum.Add(p.usage)
	}
	return sum
}

// A composer makes one reply. It knows what is left of its limits and where it is in the chain.
type composer struct {
	meter
	s     *Server
	q     *request
	chain *chain
	n     int // number of the request
	reply *reply
}

// compose makes a reply of what the model said to the n-th request, whose prompt has that many tokens.
func (s *Server) compose(q *request, th *thoughts, a Answer, prompt, n int) (*reply, error) {
	r := &reply{model: q.body.str("model"), changes: th.appendChanges(nil)}
	c := &composer{meter: meter{counter: s.counter}, s: s, q: q, chain: th.chain, n: n, reply: r}
	defer func() { r.usage.Output = c.used }()
	r.id = callName("msg", s.secret, [16]byte(th.chain.before[:16]), n, 0)
	full := "max_tokens"
	if c.room = q.max; q.model.Window-prompt < c.room {
		c.room, full = q.model.Window-prompt, "model_context_window_exceeded"
	}
	r.stop = a.Stop
	for _, b := range q.opening(a.Blocks) {
		whole, err := c.add(b)
		if err != nil {
			return nil, err
		}
		if !whole {
			if r.stop = full; r.stopSeq != "" {
				r.stop = "stop_sequence"
			}
			return r, nil
		}
	}
	if q.max > 0 && len(r.blocks) == 0 && a.Stop == "" { // an empty answer could not be sent back
		if _, err := c.addText(Block{Text: "Done."}); err != nil {
			return nil, err
		}
	}
	if r.stop == "" {
		r.stop = "end_turn"
		if len(r.calls) > 0 {
			r.stop = "tool_use"
		}
	}
	return r, nil
}

// opening puts a thought before an answer that has none where a turn must begin with one: with
// manual thinking (the rule thinking-first). Without it a recording that was made without thinking could
// not be played to a client that has it on.
func (q *request) opening(blocks []Block) []Block {
	if q.mode() != "enabled" || q.currentTurn() != nil || len(blocks) == 0 || blocks[0].Kind == decant.KindThinking && blocks[0].Text != "" {
		return blocks
	}
	return append([]Block{{Kind: decant.KindThinking, Text: "Let me see."}}, blocks...)
}

// add appends a block. It returns false when the block did not fit and the answer ends here.
func (c *composer) add(b Block) (bool, error) {
	switch b.Kind {
	case decant.KindThinking:
		return c.addThinking(b)
	case decant.KindText:
		if strings.TrimSpace(b.Text) == "" {
			return true, nil // the client could not send it back
		}
		return c.addText(b)
	case decant.KindUse:
		return c.addUse(b)
	}
	return false, fmt.Errorf("the model answered with a block of kind %q: want text, thinking or use", b.Kind)
}

func (c *composer) addThinking(b Block) (bool, error) {
	if !c.q.thinks() || b.Text == "" {
		return true, nil
	}
	text, whole := c.fit(b.Text)
	if text == "" {
		return false, nil
	}
	c.reply.thought += c.s.counter.Count(text)
	if b.Redact || c.q.body.get("thinking").str("display") == "omitted" {
		text = ""
	}
	o := out{kind: "thinking", text: text, signature: c.chain.seal(c.q.model.ID, c.q.model.Binds).sign(c.s.secret, text)}
	_, id, ok := unseal(c.s.secret, o.signature, text)
	if !ok {
		return false, errors.New("sign thinking: the signature does not verify")
	}
	if b.Redact {
		o.kind = "redacted_thinking"
		o.json = append(jsonspan.AppendQuote([]byte(`{"type":"redacted_thinking","data":`), o.signature), '}')
	} else {
		o.json = append(jsonspan.AppendQuote([]byte(`{"type":"thinking","thinking":`), text), `,"signature":`...)
		o.json = append(jsonspan.AppendQuote(o.json, o.signature), '}')
	}
	c.chain.accept(id)
	c.reply.signed = append(c.reply.signed, o.signature+"\x00"+text)
	c.reply.blocks = append(c.reply.blocks, o)
	return whole, nil
}

func (c *composer) addText(b Block) (bool, error) {
	text, whole := c.fit(b.Text)
	if at, seq := c.stopAt(text); at >= 0 {
		text, whole, c.reply.stopSeq = text[:at], false, seq
	}
	if strings.TrimSpace(text) == "" {
		return whole, nil
	}
	o := out{kind: "text", text: text}
	o.json = append(jsonspan.AppendQuote([]byte(`{"type":"text","text":`), text), '}')
	return whole, c.put(o)
}

// stopAt finds the first stop sequence in a text.
func (c *composer) stopAt(text string) (at int, seq string) {
	at = -1
	for _, v := range c.q.body.get("stop_sequences").list() {
		if i := strings.Index(text, v.text); i >= 0 && (at < 0 || i < at) {
			at, seq = i, v.text
		}
	}
	return at, seq
}

// addUse appends a tool call, whole or not at all.
func (c *composer) addUse(b Block) (bool, error) {
	o := out{kind: "tool_use", id: b.ID, name: b.Name, input: b.Input}
	if o.input == nil {
		o.input = []byte("{}")
	}
	if n, err := parse(o.input); err != nil || n.kind != '{' {
		return false, fmt.Errorf("the model called %s with arguments that are not a JSON object", b.Name)
	}
	if !callID.MatchString(o.id) || c.q.ids[o.id] || slices.Contains(c.reply.calls, o.id) {
		o.id = callName("toolu", c.s.secret, [16]byte(c.chain.before[:16]), c.n, len(c.reply.blocks)+1)
	}
	size := callFrame + c.s.counter.Count(o.name) + c.s.counter.Count(string(o.input))
	if !c.take(size) {
		return false, nil
	}
	o.json = jsonspan.AppendQuote([]byte(`{"type":"tool_use","id":`), o.id)
	o.json = jsonspan.AppendQuote(append(o.json, `,"name":`...), o.name)
	o.json = append(append(append(o.json, `,"input":`...), o.input...), '}')
	c.reply.calls = append(c.reply.calls, o.id)
	return true, c.put(o)
}

// put appends a block that signatures after it cover.
func (c *composer) put(o out) error {
	n, err := parse(o.json)
	if err != nil {
		return fmt.Errorf("read our own %s block: %w", o.kind, err)
	}
	c.chain.pass("assistant", n)
	c.reply.blocks = append(c.reply.blocks, o)
	return nil
}

// message returns the answer as one JSON object.
func (r *reply) message() []byte {
	b := r.head(nil)
	b = append(b, `,"content":[`...)
	for i, o := range r.blocks {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, o.json...)
	}
	b = append(b, `],`...)
	b = r.appendStop(b)
	b = append(r.appendDetails(b), `,"container":null`...)
	b = append(append(b, r.edits...), r.changes...)
	b = append(b, `,"usage":`...)
	return append(r.appendUsage(b, r.usage.Output), '}')
}

// head begins the message object.
func (r *reply) head(b []byte) []byte {
	b = append(b, `{"id":`...)
	b = jsonspan.AppendQuote(b, r.id)
	b = append(b, `,"type":"message","role":"assistant","model":`...)
	return jsonspan.AppendQuote(b, r.model)
}

func (r *reply) appendStop(b []byte) []byte {
	b = append(b, `"stop_reason":`...)
	b = jsonspan.AppendQuote(b, r.stop)
	b = append(b, `,"stop_sequence":`...)
	if r.stopSeq == "" {
		return append(b, `null`...)
	}
	return jsonspan.AppendQuote(b, r.stopSeq)
}

// appendDetails appends the member stop_details, which says more about a refusal.
func (r *reply) appendDetails(b []byte) []byte {
	if r.stop != "refusal" {
		return append(b, `,"stop_details":null`...)
	}
	return append(b, `,"stop_details":{"type":"refusal","category":"general_harms","explanation":"The request was declined."}`...)
}

// appendUsage appends the usage object (docs/reference/anthropic.md, "Usage").
func (r *reply) appendUsage(b []byte, output int) []byte {
	b = appendCounters(append(b, '{'), r.usage, output)
	b = strconv.AppendInt(append(b, `,"output_tokens_details":{"thinking_tokens":`...), int64(min(r.thought, output)), 10)
	b = append(append(append(b, `},"service_tier":"`...), cmp.Or(r.tier, "standard")...), '"')
	return append(r.appendPasses(b), '}')
}

// appendPasses appends the member iterations, if there is one.
func (r *reply) appendPasses(b []byte) []byte {
	if r.passes == nil {
		return b
	}
	b = append(b, `,"iterations":[`...)
	for i, p := range r.passes {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, `{"type":"`...), p.kind...), `",`...)
		if p.kind == "message" {
			b = append(jsonspan.AppendQuote(append(b, `"model":`...), r.model), ',')
		}
		b = append(appendCounters(b, p.usage, p.usage.Output), '}')
	}
	return append(b, ']')
}

// appendCounters appends the counters of a usage, as members.
func appendCounters(b []byte, u decant.Usage, output int) []byte {
	for _, f := range []struct {
		name string
		n    int
	}{
		{`"input_tokens":`, u.Input},
		{`,"cache_creation_input_tokens":`, u.CacheWrite},
		{`,"cache_read_input_tokens":`, u.CacheRead},
		{`,"cache_creation":{"ephemeral_5m_input_tokens":`, u.CacheWrite - u.Write1h},
		{`,"ephemeral_1h_input_tokens":`, u.Write1h},
		{`},"output_tokens":`, output},
	} {
		b = strconv.AppendInt(append(b, f.name...), int64(f.n), 10)
	}
	return b
}
