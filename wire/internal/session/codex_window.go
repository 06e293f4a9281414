package session

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/source"
)

// window adds what newer clients note about the context window that a compacted line begins: its number and ids, what was
// said in earlier ones, and how to go on.
func (c *codexWriter) window(o *source.Object) {
	was := c.Members(c.lines.compacted, "window_number", "first_window_id", "window_id")
	first := c.Find(c.Find(c.lines.meta, "context_window"), "window_id")
	if was[1].IsZero() {
		was[1] = first
	}
	if was[2].IsZero() {
		was[2] = first
	}
	o.Raw("retained_context", c.retained()).Raw("window_number", number(c.Number(was[0])+1))
	c.copied(o, "first_window_id", was[1])
	c.copied(o, "previous_window_id", was[2])
	o.Raw("window_id", uuid(c.Conv.ID, string(was[2].Of(c.Src)), c.View.Hash().String()))
	o.Raw("resume_metadata", c.resuming())
}

// or returns the bytes of a value, or what is meant where there is none.
func or(raw []byte, none string) []byte {
	if len(raw) == 0 {
		return []byte(none)
	}
	return raw
}

// copied adds a member of the source, null where it has none.
func (c *codexWriter) copied(o *source.Object, name string, v jsonspan.Span) {
	o.Raw(name, or(v.Of(c.Src), "null"))
}

// resuming returns how the client goes on: with the newest turn and its settings.
func (c *codexWriter) resuming() []byte {
	tools := new(source.Object).Str("thread_id", c.Conv.ID).Raw("tools", or(c.Find(c.lines.meta, "dynamic_tools").Of(c.Src), "[]"))
	turn := c.Members(c.lines.turn, "model", "comp_hash", "realtime_active", "multi_agent_version")
	settings := new(source.Object)
	c.copied(settings, "model", turn[0])
	c.copied(settings, "comp_hash", turn[1])
	settings.Raw("realtime_active", or(turn[2].Of(c.Src), "false"))
	started := c.Members(c.lines.started, "turn_id", "turn_attribution")
	o := new(source.Object).Raw("dynamic_tools", tools.End())
	c.copied(o, "multi_agent_version", turn[3])
	c.copied(o, "last_started_turn_id", started[0])
	c.copied(o, "turn_attribution", started[1])
	return o.Raw("previous_turn_settings", settings.End()).End()
}

// retained returns the messages that the client keeps to search in: those that it kept at its newest compaction, and those
// since then.
func (c *codexWriter) retained() []byte {
	was := c.Members(c.Find(c.lines.compacted, "retained_context"), "verified_answers", "user_messages", "assistant_messages", "next_order")
	said := map[string][][]byte{}
	for k, role := range []string{`"user"`, `"assistant"`} {
		for _, e := range c.List(was[1+k]) {
			said[role] = append(said[role], e.Of(c.Src))
		}
	}
	next := c.Number(was[3])
	for rec := c.lines.behind; rec < len(c.records); rec++ {
		about := c.Members(c.line(rec)[3], "retained_source", "user_input_order")
		if about[0].IsZero() || len(c.held[rec]) == 0 {
			continue
		}
		m := c.Conv.Message(c.Items[c.held[rec][0]].Owner)
		if m == nil || m.Number >= c.tail { // its line is written again
			continue
		}
		role, text := c.source(about, m)
		said[role] = append(said[role], text)
		next = max(next, c.Number(about[1])+1)
	}
	o, no := new(source.Object).Raw("verified_answers", or(was[0].Of(c.Src), "[]")), []byte("false")
	return o.Raw("incomplete", no).Raw("user_messages", source.List(said[`"user"`])).Raw("user_messages_incomplete", no).
		Raw("assistant_messages", source.List(said[`"assistant"`])).Raw("assistant_messages_incomplete", no).
		Raw("next_order", number(next)).End()
}

// source returns one of the messages that the client keeps to search in, and its role.
func (c *codexWriter) source(about []jsonspan.Span, m *decant.Message) (role string, text []byte) {
	from := c.Members(about[0], "revision", "id", "complete")
	id := c.Members(from[1], "turn_id", "message_id", "role")
	o := new(source.Object)
	c.copied(o, "revision", from[0])
	o.Raw("order", number(c.Number(about[1])))
	c.copied(o, "turn_id", id[0])
	c.copied(o, "message_id", id[1])
	o.Str("text", m.Text(decant.KindText))
	c.copied(o, "complete", from[2])
	return string(id[2].Of(c.Src)), o.End()
}
