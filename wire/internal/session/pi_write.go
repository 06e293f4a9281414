package session

import (
	"strconv"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/render"
	"github.com/decantdev/decant/wire/internal/source"
)

// pi writes sessions of pi.
type pi struct {
	off    map[int]bool // records on branches that the user left
	linear bool         // the file is of the first version: entries have no ids
}

func (pi) edits() bool { return true }

func (pi) dialect() render.Dialect { return piDialect{} }

// rewrite writes the entries that stay, each with the one before as its parent where its own is left
// out, and at the end a compaction entry that holds the summary and names the first message that was
// kept, by id or, in a file of the first version, by position. The client puts the summary first, so
// messages that stand before it in the view come behind it.
func (c pi) rewrite(w *writer) []byte {
	p := piWriter{writer: w, pi: c, chain: newChain()}
	for rec := range w.records {
		p.record(rec)
	}
	p.add(w.fresh[0])
	p.compaction()
	return p.out.text
}

type piWriter struct {
	*writer
	pi
	chain  chain
	older  []int         // items that are older compactions, in front of the checkpoint in the view
	first  *firstEntry   // the first entry with a message, nil before it is written
	time   jsonspan.Span // of the newest entry
	answer jsonspan.Span // the newest answer's message
}

// A firstEntry is where the messages begin that the client keeps behind a compaction.
type firstEntry struct {
	id   []byte // as it is written
	line int    // counted from 0
}

// record writes the entry in record rec if it stays.
func (p *piWriter) record(rec int) {
	at := p.records[rec].At
	m := source.Members(p.Src, at, "type", "id", "parentId", "timestamp", "targetId", "message")
	kind := string(m[0].Of(p.Src))
	if kind == `"session"` {
		p.out.line(p.at(at))
		return
	}
	if m[1].IsZero() || p.Src[m[1].Start] != '"' { // an id is a string
		m[1] = jsonspan.Span{}
	}
	p.time = m[3]
	stays := p.stays(kind, m[4]) && (p.whole || !p.off[rec])
	if items := p.held[rec]; len(items) > 0 {
		number := p.Items[items[0]].Owner
		if kind != `"compaction"` {
			p.add(p.fresh[number])
			delete(p.fresh, number)
		}
		stays = p.keep[items[0]]
		if kind == `"compaction"` && p.point != nil {
			p.older = append(p.older, items[0])
			stays = false
		}
	}
	if !stays {
		if !m[1].IsZero() {
			p.chain.leave(m[1].Of(p.Src))
		}
		return
	}
	if len(p.held[rec]) > 0 && kind == `"message"` {
		p.answer = m[5]
	}
	p.entry(rec, m, len(p.held[rec]) > 0 && kind != `"compaction"`)
}

// stays reports whether an entry that holds no message stays. Settings and what extensions store do;
// answers without a word, messages on branches that were left, and labels of what is left out go
// with the rest.
func (p *piWriter) stays(kind string, target jsonspan.Span) bool {
	switch kind {
	case `"message"`, `"branch_summary"`, `"custom_message"`, `"compaction"`:
		return p.whole
	case `"label"`:
		return !p.chain.gone[string(target.Of(p.Src))]
	}
	return true
}

// entry writes an entry of the source.
func (p *piWriter) entry(rec int, m []jsonspan.Span, message bool) {
	at := p.records[rec].At
	id, parent := m[1], m[2]
	p.begin(message, id.Of(p.Src))
	if raw := string(parent.Of(p.Src)); p.chain.gone[raw] || raw != "" && p.chain.begun() && !p.whole && raw != string(p.chain.last) {
		p.out.line(p.at(at, source.Edit{At: parent, Text: p.chain.last}))
	} else {
		p.out.line(p.at(at))
	}
	if !id.IsZero() {
		p.chain.last = id.Of(p.Src)
	}
}

// begin notes the first entry that holds a message.
func (p *piWriter) begin(message bool, id []byte) {
	if message && p.first == nil && (p.linear || len(id) > 0) {
		p.first = &firstEntry{id, p.out.lines}
	}
}

// add writes messages that are not in the source, but for the checkpoint.
func (p *piWriter) add(ms []*decant.Message) {
	for _, m := range ms {
		if m == p.point {
			continue
		}
		for _, it := range p.Dialect.Items(m, p.Copied) {
			id := p.id(string(m.Role) + "\x00" + m.Text())
			p.begin(true, id)
			p.out.line(p.open("message", id, p.time.Of(p.Src)).Raw("message", p.complete(m, it)).End())
			p.chain.last = id
		}
	}
}

// complete adds to a message written anew what the client expects every message to have.
func (p *piWriter) complete(m *decant.Message, item []byte) []byte {
	o := source.Reopened(item)
	if m.Role == decant.RoleAssistant {
		was := source.Members(p.Src, p.answer, "api", "provider", "model")
		for i, name := range []string{"api", "provider", "model"} {
			if !was[i].IsZero() {
				o.Raw(name, was[i].Of(p.Src))
			}
		}
		o.Raw("usage", []byte(`{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,`+
			`"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`)).Str("stopReason", "stop")
	}
	if ms := millis(p.Src, p.time); ms != "" {
		o.Raw("timestamp", []byte(ms))
	}
	return o.End()
}

// compaction writes the compaction entry.
func (p *piWriter) compaction() {
	if p.point == nil {
		return
	}
	text := p.summary()
	id := p.id("compaction\x00" + text)
	o := p.open("compaction", id, p.moment()).Str("summary", text)
	switch {
	case p.linear && p.first == nil: // nothing was kept: its own place
		o.Raw("firstKeptEntryIndex", strconv.AppendInt(nil, int64(p.out.lines), 10))
	case p.linear:
		o.Raw("firstKeptEntryIndex", strconv.AppendInt(nil, int64(p.first.line), 10))
	case p.first == nil:
		o.Raw("firstKeptEntryId", id)
	default:
		o.Raw("firstKeptEntryId", p.first.id)
	}
	p.out.line(o.Raw("tokensBefore", strconv.AppendInt(nil, int64(p.before()), 10)).End())
}

// summary returns the text of the compaction entry: that of the checkpoint, behind those of older
// compactions that the view still holds. The client reads the newest entry only.
func (p *piWriter) summary() string {
	text := p.point.Text()
	for i := len(p.older) - 1; i >= 0; i-- {
		if k := p.older[i]; p.keep[k] {
			text = p.viewed(p.Items[k].Owner).Text() + "\n\n" + text
		}
	}
	return text
}

// open begins an entry of a time.
func (p *piWriter) open(kind string, id, time []byte) *source.Object {
	o := new(source.Object).Str("type", kind)
	if !p.linear {
		o.Raw("id", id).Raw("parentId", p.chain.last)
	}
	if len(time) > 0 {
		o.Raw("timestamp", time)
	}
	return o
}

// id returns the id of a new entry as a JSON string. It follows from the session, the entry's place
// and what it says, so that the same view gives the same file.
func (p *piWriter) id(what string) []byte {
	return source.Quote(decant.HashText("decant\x00" + p.Conv.ID + "\x00" + string(p.chain.last) + "\x00" + what).Short())
}

// millis returns the time at v in milliseconds since 1970, "" when unknown.
func millis(src []byte, v jsonspan.Span) string {
	t := source.TimeOf(v.Of(src))
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}

// piDialect writes messages as pi's sessions hold them.
type piDialect struct{}

// Items returns each result as a message of its own, and everything else as one message.
func (d piDialect) Items(m *decant.Message, copied render.Copier) [][]byte {
	var out, parts [][]byte
	for i := range m.Blocks {
		b := &m.Blocks[i]
		if b.Kind == decant.KindResult {
			out = append(out, new(source.Object).Str("role", "toolResult").Str("toolCallId", b.CallID).Str("toolName", b.Name).
				Raw("content", source.List([][]byte{textPart(b.Text())})).Raw("isError", strconv.AppendBool(nil, b.Error)).End())
			continue
		}
		if p := copied.Part(b); p != nil {
			parts = append(parts, p)
		} else if p := d.Part(b, m.Role); p != nil {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		return out
	}
	role := "user"
	if m.Role == decant.RoleAssistant {
		role = "assistant"
	}
	return append(out, new(source.Object).Str("role", role).Raw("content", source.List(parts)).End())
}

// Part returns a text or a call as a part of a content.
func (d piDialect) Part(b *decant.Block, _ decant.Role) []byte {
	switch b.Kind {
	case decant.KindText, decant.KindImage:
		return textPart(source.Readable(b))
	case decant.KindUse:
		return new(source.Object).Str("type", "toolCall").Str("id", b.CallID).Str("name", b.Name).Raw("arguments", d.Arguments(b.Text())).End()
	}
	return nil
}

// Arguments returns arguments as an object.
func (piDialect) Arguments(text string) []byte { return source.AsObject(text) }

func textPart(text string) []byte {
	return new(source.Object).Str("type", "text").Str("text", text).End()
}
