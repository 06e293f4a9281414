package session

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/render"
	"github.com/decantdev/decant/wire/internal/request"
	"github.com/decantdev/decant/wire/internal/source"
)

// codex writes rollouts of the Codex command line.
type codex struct {
	fixed    []int // items of the newest history that are the fixed part
	numbered bool  // lines have ordinals
}

func (codex) dialect() render.Dialect { return request.ResponsesDialect{} }

// edits is so for rollouts without ordinals. The client has an index of the others.
func (f codex) edits() bool { return !f.numbered }

// rewrite writes what the client writes when it compacts: a compacted line behind everything that there is. The client
// reads back to the newest one. It never makes a rollout shorter, and its index of the rollout cannot follow one that is.
//
// The line's replacement_history holds what configures the model and the messages of the view up to the checkpoint. Those
// behind it follow as lines. Between them stand the settings, without which the client would configure the model anew.
func (f codex) rewrite(w *writer) []byte {
	c := codexWriter{writer: w, Source: source.NewSource(w.Src, 0), codex: f, tail: len(w.Conv.Messages) + 1}
	if w.point != nil {
		c.tail = w.behind(w.point)
	}
	c.survey()
	if c.out.text = slices.Clone(w.Src); !bytes.HasSuffix(w.Src, []byte("\n")) {
		c.out.text = append(c.out.text, c.out.lineBreak...)
	}
	ms := w.View.Live()
	head := len(ms)
	for i := range ms {
		if &ms[i] == w.point {
			head = i + 1
		}
	}
	c.compacted(ms[:head])
	c.settings()
	for i := range ms[head:] {
		c.message(&ms[head+i])
	}
	return c.out.text
}

type codexWriter struct {
	*writer
	source.Source
	codex
	tail     int // Number of the first message behind the checkpoint
	lines    codexLines
	ordinal  int // of the next line, where lines have one
	sequence int // newest number of an item, where items have one
}

// codexLines are the payloads and records that a compacted line follows from; zero: there is none.
type codexLines struct {
	meta, compacted, turn, started jsonspan.Span
	behind                         int   // the first record behind the compacted line
	world                          []int // records of the newest state and of its changes
	context, usage                 []int // the newest record of that kind
}

// survey finds the lines that what is written follows from.
func (c *codexWriter) survey() {
	for rec := range c.records {
		m := c.line(rec)
		if !m[2].IsZero() {
			c.ordinal = max(c.ordinal, c.Number(m[2])+1)
		}
		c.sequence = max(c.sequence, c.Number(c.Find(m[3], "history_sequence")))
		switch string(m[0].Of(c.Src)) {
		case `"session_meta"`:
			if c.lines.meta.IsZero() {
				c.lines.meta = m[1]
			}
		case `"compacted"`:
			c.lines.compacted, c.lines.behind, c.lines.world = m[1], rec+1, nil
			for _, e := range c.List(c.Find(m[1], "replacement_history_metadata")) {
				c.sequence = max(c.sequence, c.Number(c.Find(e, "history_sequence")))
			}
		case `"world_state"`:
			if c.Is(c.Find(m[1], "full"), "true") {
				c.lines.world = nil
			}
			c.lines.world = append(c.lines.world, rec)
		case `"turn_context"`:
			c.lines.turn, c.lines.context = m[1], []int{rec}
		case `"event_msg"`:
			c.event(rec, m[1])
		}
	}
}

func (c *codexWriter) event(rec int, payload jsonspan.Span) {
	switch string(c.Find(payload, "type").Of(c.Src)) {
	case `"task_started"`:
		c.lines.started = payload
	case `"token_count"`:
		if !c.Find(c.Find(payload, "info"), "last_token_usage").IsZero() {
			c.lines.usage = []int{rec}
		}
	}
}

// line returns the members of a record: type, payload, ordinal and metadata.
func (c *codexWriter) line(rec int) []jsonspan.Span {
	return c.Members(c.records[rec].At, "type", "payload", "ordinal", "metadata")
}

// compacted writes the compacted line with the messages that it replaces the history by.
func (c *codexWriter) compacted(ms []decant.Message) {
	var items, about [][]byte
	fixed, first := c.fixed, render.FirstItems(c.Items)
	for i := range ms {
		for next := render.Next(first, len(c.Items), ms[i:]); len(fixed) > 0 && fixed[0] < next; fixed = fixed[1:] {
			items, about = append(items, c.at(c.Items[fixed[0]].Span)), append(about, c.about(fixed[0]))
		}
		for _, it := range c.items(&ms[i]) {
			items, about = append(items, it.text), append(about, it.about)
		}
	}
	message := ""
	if c.point != nil {
		message = c.point.Text()
	}
	payload := new(source.Object).Str("message", message).Raw("replacement_history", source.List(items))
	if c.numbered {
		c.window(payload.Raw("replacement_history_metadata", source.List(about)))
	}
	c.out.line(c.open("compacted", c.moment()).Raw("payload", payload.End()).End())
}

// A codexItem is an item as it is written, with what the client notes about it.
type codexItem struct {
	text, about []byte
	rec         int // the line that holds the item and nothing else, -1: there is none
}

// items returns the items of a message of the view.
func (c *codexWriter) items(m *decant.Message) (out []codexItem) {
	for i, it := range c.Items {
		if m.Number == 0 || it.Owner != m.Number || !c.keep[i] {
			continue
		}
		if c.Spans[it.Owner-1] != nil && c.Spans[it.Owner-1][0].Kind == source.MemberValue {
			break // the summary of a compacted line without a history is no item yet
		}
		rec := c.recordOf[i]
		if !c.Is(c.line(rec)[0], `"response_item"`) {
			rec = -1
		}
		out = append(out, codexItem{c.at(it.Span), c.about(i), rec})
	}
	if out != nil {
		return out
	}
	for _, text := range c.Dialect.Items(m, c.Copied) {
		out = append(out, codexItem{text, c.news(), -1})
	}
	return out
}

// about returns what the client has noted about an item of the source.
func (c *codexWriter) about(i int) []byte {
	m := c.line(c.recordOf[i])
	if !m[3].IsZero() {
		return m[3].Of(c.Src)
	}
	notes := c.List(c.Find(m[1], "replacement_history_metadata"))
	for k, e := range c.List(c.Find(m[1], "replacement_history")) {
		if e == c.Items[i].Span && k < len(notes) {
			return notes[k].Of(c.Src)
		}
	}
	return c.news()
}

// news returns what the client would note about a new item.
func (c *codexWriter) news() []byte {
	c.sequence++
	return new(source.Object).Raw("history_sequence", number(c.sequence)).Raw("sampled_through_sequence", number(c.sequence-1)).
		Raw("client_authored", []byte("false")).Str("model_search_state", "unused").End()
}

// message writes the lines of a message behind the checkpoint.
func (c *codexWriter) message(m *decant.Message) {
	for _, it := range c.items(m) {
		if it.rec >= 0 {
			c.again(it.rec)
			continue
		}
		at := c.moment()
		if !m.Time.IsZero() {
			at = source.Quote(m.Time.UTC().Format("2006-01-02T15:04:05.000Z"))
		}
		o := c.open("response_item", at)
		if c.numbered {
			o.Raw("metadata", it.about)
		}
		c.out.line(o.Raw("payload", it.text).End())
	}
}

// settings writes the settings, and that what the provider reported last is no longer the size of the context.
func (c *codexWriter) settings() {
	for _, rec := range slices.Concat(c.lines.world, c.lines.context) {
		c.again(rec)
	}
	for _, rec := range c.lines.usage {
		m := c.line(rec)
		usage := c.Find(c.Find(m[1], "info"), "last_token_usage")
		o := new(source.Object)
		for _, name := range []string{"input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens"} {
			o.Raw(name, []byte("0"))
		}
		o.Raw("total_tokens", number((len(c.out.text)-len(c.Src))/bytesPerToken))
		c.again(rec, source.Edit{At: usage, Text: o.End()})
	}
}

// bytesPerToken is what the client reckons with where nobody has counted.
const bytesPerToken = 4

// again writes the line in a record once more, with its edits and some more.
func (c *codexWriter) again(rec int, more ...source.Edit) {
	if at := c.line(rec)[2]; !at.IsZero() {
		more = append(more, source.Edit{At: at, Text: number(c.ordinal)})
		c.ordinal++
	}
	c.out.line(c.at(c.records[rec].At, more...))
}

// open begins a line of a time.
func (c *codexWriter) open(kind string, time []byte) *source.Object {
	o := new(source.Object)
	if len(time) > 0 {
		o.Raw("timestamp", time)
	}
	if c.numbered {
		o.Raw("ordinal", number(c.ordinal))
		c.ordinal++
	}
	return o.Str("type", kind)
}

func number(n int) []byte { return strconv.AppendInt(nil, int64(n), 10) }
