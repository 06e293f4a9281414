package session

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/jsonedit"
	"github.com/decantdev/decant/wire/internal/parsing"
	"github.com/decantdev/decant/wire/internal/render"
	"github.com/decantdev/decant/wire/internal/request"
)

// codex writes rollouts of the Codex command line.
type codex struct{}

func (codex) dialect() render.Dialect { return request.ResponsesDialect{} }

// rewrite writes what the client resumes from: a compacted record, whose replacement_history holds
// the messages of the view up to the checkpoint, and the lines of the messages behind it. Lines of type
// session_meta always stay; of those of type turn_context that go with what is left out the newest
// stays, because it holds the model.
func (codex) rewrite(w *writer) []byte {
	c := codexWriter{writer: w, turn: -1}
	if c.point != nil {
		c.until = w.behind(c.point)
	}
	for rec := range w.records {
		c.record(rec)
	}
	c.compacted()
	c.add(w.fresh[0])
	return c.out.text
}

type codexWriter struct {
	*writer
	until int           // Number of the first message behind the checkpoint
	done  bool          // the compacted record is written
	kept  bool          // the newest line that holds an item stayed
	turn  int           // the newest turn_context that was left out and may be needed, -1: none
	time  jsonspan.Span // of the newest line that holds an item
}

// record writes the line in record rec if it stays.
func (c *codexWriter) record(rec int) {
	m := jsonedit.Members(c.Src, c.records[rec].At, "type", "timestamp")
	if len(c.held[rec]) == 0 {
		c.other(rec, string(m[0].Of(c.Src)))
		return
	}
	c.kept = false
	entire := c.entire(rec, string(m[0].Of(c.Src)))
	for _, i := range c.held[rec] {
		number := c.Items[i].Owner
		if number < c.until {
			continue // in the compacted record
		}
		c.compacted()
		c.add(c.fresh[number])
		delete(c.fresh, number)
		c.time = m[1]
		if !c.keep[i] {
			continue
		}
		c.context()
		if !entire {
			c.put(c.source(i)...)
		} else if !c.kept {
			c.out.line(c.at(c.records[rec].At))
		}
		c.kept = true
	}
	c.time = m[1]
}

// entire reports whether a line stays as it is: all of its items stay, nothing comes between them, and
// it is not the compacted record of an earlier compaction behind a newer one.
func (c *codexWriter) entire(rec int, kind string) bool {
	if kind == `"compacted"` && c.point != nil {
		return false
	}
	for k, i := range c.held[rec] {
		number := c.Items[i].Owner
		if !c.keep[i] || number < c.until || k > 0 && c.fresh[number] != nil {
			return false
		}
	}
	return true
}

// other writes a line that holds no item if it stays.
func (c *codexWriter) other(rec int, kind string) {
	switch {
	case kind == `"session_meta"` || c.whole || c.kept:
		c.out.line(c.at(c.records[rec].At))
	case kind == `"turn_context"`:
		c.turn = rec
	}
}

// context writes the turn_context that was left out last.
func (c *codexWriter) context() {
	if c.turn >= 0 {
		c.out.line(c.at(c.records[c.turn].At))
		c.turn = -1
	}
}

// source returns an item of the source as items of the API. The summary of a compacted record without
// a history is none yet.
func (c *codexWriter) source(i int) [][]byte {
	it := c.Items[i]
	if c.Spans[it.Owner-1] != nil && c.Spans[it.Owner-1][0].Kind == parsing.MemberValue {
		return c.Dialect.Items(c.viewed(it.Owner), nil)
	}
	return [][]byte{c.at(it.Span)}
}

// compacted writes the compacted record, once.
func (c *codexWriter) compacted() {
	if c.done || c.point == nil {
		return
	}
	c.done = true
	var history [][]byte
	for i := range c.View.Messages {
		m := &c.View.Messages[i]
		history = append(history, c.history(m)...)
		if m == c.point {
			break
		}
	}
	payload := new(jsonedit.Object).Str("message", c.point.Text()).Raw("replacement_history", jsonedit.List(history)).End()
	c.out.line(c.open("compacted", c.moment()).Raw("payload", payload).End())
	c.context()
}

// history returns the items that a message before the checkpoint has in the compacted record.
func (c *codexWriter) history(m *decant.Message) [][]byte {
	var out [][]byte
	for i, it := range c.Items {
		if it.Owner == m.Number && c.keep[i] {
			out = append(out, c.source(i)...)
		}
	}
	if out == nil {
		return c.Dialect.Items(m, c.Copied)
	}
	return out
}

// add writes messages that are not in the source.
func (c *codexWriter) add(ms []*decant.Message) {
	for _, m := range ms {
		if m == c.point || c.until > 0 && m.Number > 0 && m.Number < c.until {
			continue
		}
		c.put(c.Dialect.Items(m, c.Copied)...)
	}
}

// put writes a line for each item.
func (c *codexWriter) put(items ...[]byte) {
	for _, it := range items {
		c.out.line(c.open("response_item", c.time.Of(c.Src)).Raw("payload", it).End())
	}
}

// open begins a line of a time: new items take that of the newest item before them.
func (c *codexWriter) open(kind string, time []byte) *jsonedit.Object {
	o := new(jsonedit.Object)
	if len(time) > 0 {
		o.Raw("timestamp", time)
	}
	return o.Str("type", kind)
}
