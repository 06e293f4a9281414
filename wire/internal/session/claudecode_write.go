package session

import (
	"maps"
	"slices"
	"strconv"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/render"
	"github.com/decantdev/decant/wire/internal/request"
	"github.com/decantdev/decant/wire/internal/source"
)

// claudeCode writes sessions of Claude Code.
type claudeCode struct {
	left  map[int]bool // records on branches that the user left, whether or not they hold a message
	queue []int        // records of the queue that tell of messages
	whole bool         // each line stands in the file once and the client finds all messages
}

func (claudeCode) dialect() render.Dialect { return request.AnthropicDialect{} }

// edits is so for a file in which nothing has to be mended.
func (f claudeCode) edits() bool { return f.whole }

// rewrite writes what the client resumes from: a boundary, and behind it the messages of the view with
// the summary among them, each line linked to the one before. The client follows parentUuid from the
// last line to the boundary, whose own parentUuid is null.
func (f claudeCode) rewrite(w *writer) []byte {
	c := claudeWriter{writer: w, left: maps.Clone(f.left), chain: newChain()}
	c.unqueue(f.queue)
	c.survey()
	for rec := range w.records {
		if len(c.held[rec]) > 0 {
			c.message(rec)
		} else {
			c.other(rec)
		}
	}
	c.add(w.fresh[0])
	return c.out.text
}

type claudeWriter struct {
	*writer
	chain chain
	left  map[int]bool // records on branches that the user left, and of the queue
	cover claudeHead   // of the newest line that the checkpoint covers, or of the first line that stays
	kept  bool         // the newest line that holds a message stayed
	began bool         // the boundary is written
}

// A claudeHead is what the lines of a session say about themselves.
type claudeHead struct {
	uuid, parent, side, user, cwd, session, version, branch, slug, kind, subtype, time jsonspan.Span
}

func (c *claudeWriter) head(rec int) claudeHead {
	m := source.Members(c.Src, c.records[rec].At, "uuid", "parentUuid", "isSidechain", "userType", "cwd", "sessionId",
		"version", "gitBranch", "slug", "type", "subtype", "timestamp")
	return claudeHead{m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9], m[10], m[11]}
}

// survey finds the line that the new lines take their place from, and whether what stands before the
// first message stays.
func (c *claudeWriter) survey() {
	until := c.behind(c.point)
	first := true
	for rec, items := range c.held {
		if len(items) == 0 {
			continue
		}
		stays := c.stays(rec)
		if first {
			c.kept, c.cover, first = stays, c.head(rec), false
		}
		if !stays && c.Items[items[0]].Owner < until {
			c.cover = c.head(rec)
		}
	}
}

// stays reports whether the record holds a part of a message that stays.
func (c *claudeWriter) stays(rec int) bool {
	for _, i := range c.held[rec] {
		if c.keep[i] {
			return true
		}
	}
	return false
}

// message writes the line in record rec, which holds a message, if that stays, and before it what is
// new there.
func (c *claudeWriter) message(rec int) {
	number := c.Items[c.held[rec][0]].Owner
	c.add(c.fresh[number])
	delete(c.fresh, number)
	h := c.head(rec)
	id := h.uuid.Of(c.Src)
	c.chain.take(id)
	if c.kept = c.stays(rec); !c.kept {
		return
	}
	c.begin()
	c.line(rec, h, c.chain.tip[string(h.parent.Of(c.Src))])
	c.chain.follow(id)
}

// other writes a line that holds no message if it belongs to what stays: it shares the lot of the
// message before it, the boundary of an earlier compaction that of the message behind it. A line that stands in the file
// twice is written once.
func (c *claudeWriter) other(rec int) {
	h := c.head(rec)
	id, parent := h.uuid.Of(c.Src), string(h.parent.Of(c.Src))
	if _, left := c.left[rec]; left || !c.chain.take(id) {
		return
	}
	stays, boundary := c.kept, string(h.subtype.Of(c.Src)) == `"compact_boundary"`
	if boundary {
		stays = c.point == nil && c.nextStays(rec)
	}
	switch {
	case !stays && !c.whole:
	case boundary:
		c.line(rec, h, true)
		c.chain.follow(id)
	case string(h.side.Of(c.Src)) == "true":
		c.line(rec, h, true)
	case parent == "" || parent == "null": // it begins nothing that the client follows
		c.line(rec, h, true)
	default:
		c.line(rec, h, c.chain.tip[parent])
		c.chain.join(id)
	}
}

// nextStays reports whether the first message behind record rec stays.
func (c *claudeWriter) nextStays(rec int) bool {
	for rec++; rec < len(c.records); rec++ {
		if len(c.held[rec]) > 0 {
			return c.stays(rec)
		}
	}
	return false
}

// line writes the line in record rec. It names the newest line of the chain as its parent, unless the one that it names
// is in its place.
func (c *claudeWriter) line(rec int, h claudeHead, placed bool) {
	at := c.records[rec].At
	switch {
	case placed:
		c.out.line(c.at(at))
	case h.parent.IsZero():
		begin := jsonspan.Span{Start: at.Start + 1, End: at.Start + 1}
		c.out.line(c.at(at, source.Edit{At: begin, Text: slices.Concat([]byte(`"parentUuid":`), c.chain.last, []byte(","))}))
	default:
		c.out.line(c.at(at, source.Edit{At: h.parent, Text: c.chain.last}))
	}
}

// begin writes the boundary before the first message.
func (c *claudeWriter) begin() {
	if c.began || c.point == nil {
		return
	}
	c.began = true
	h := c.cover
	id := c.uuid("boundary", c.point.Text())
	o := c.open([]byte("null"), func(o *source.Object) { o.Raw("logicalParentUuid", or(h.uuid.Of(c.Src), "null")) })
	o.Str("type", "system").Str("subtype", "compact_boundary").Str("content", "Conversation compacted")
	o.Raw("isMeta", []byte("false")).Raw("timestamp", or(c.moment(), "null")).Raw("uuid", id).Str("level", "info")
	meta := new(source.Object).Str("trigger", "manual").Raw("preTokens", strconv.AppendInt(nil, int64(c.before()), 10)).End()
	c.out.line(o.Raw("compactMetadata", meta).End())
	c.chain.follow(id)
}

// add writes messages that are not in the source.
func (c *claudeWriter) add(ms []*decant.Message) {
	for _, m := range ms {
		content, role := c.content(m)
		if content == nil {
			continue
		}
		c.begin()
		id := c.uuid(string(m.Role), m.Text())
		o, time := c.open(c.chain.last, nil), c.cover.time.Of(c.Src)
		o.Str("type", role)
		if role == "assistant" {
			o.Raw("message", answerOf(id, content))
		} else {
			o.Raw("message", new(source.Object).Str("role", role).Raw("content", content).End())
		}
		switch {
		case m == c.point:
			time = c.moment()
			o.Raw("isVisibleInTranscriptOnly", []byte("true")).Raw("isCompactSummary", []byte("true"))
		case role == "user" && m.Number == 0:
			o.Raw("isMeta", []byte("true"))
		}
		c.out.line(o.Raw("uuid", id).Raw("timestamp", or(time, "null")).End())
		c.chain.follow(id)
	}
}

// content returns the content of a new message, nil when nothing of it has a form here, and its role.
func (c *claudeWriter) content(m *decant.Message) (content []byte, role string) {
	role = "user"
	if m.Role == decant.RoleAssistant {
		role = "assistant"
	}
	if len(m.Blocks) == 1 && m.Blocks[0].Kind == decant.KindText && role == "user" {
		return source.Quote(m.Blocks[0].Text()), role
	}
	var parts [][]byte
	for i := range m.Blocks {
		b := &m.Blocks[i]
		text := c.Copied(b)
		if text == nil {
			text = request.AnthropicDialect{}.Part(b, m.Role)
		}
		if text != nil {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return nil, role
	}
	return source.List(parts), role
}

// answerOf returns an answer as the client writes those that it gives itself in the model's place.
func answerOf(id, content []byte) []byte {
	usage := new(source.Object).Raw("input_tokens", []byte("0")).Raw("output_tokens", []byte("0")).End()
	return new(source.Object).Str("model", "<synthetic>").Raw("id", id).Str("type", "message").Str("role", "assistant").
		Raw("content", content).Str("stop_reason", "end_turn").Raw("stop_sequence", []byte("null")).Raw("usage", usage).End()
}

// open begins a line that repeats what its neighbours say about the session.
func (c *claudeWriter) open(parent []byte, more func(*source.Object)) *source.Object {
	o := new(source.Object).Raw("parentUuid", parent)
	if more != nil {
		more(o)
	}
	side := []byte("false")
	if string(c.cover.side.Of(c.Src)) == "true" {
		side = []byte("true")
	}
	o.Raw("isSidechain", side)
	for _, f := range []struct {
		name string
		at   jsonspan.Span
	}{
		{"userType", c.cover.user}, {"cwd", c.cover.cwd}, {"sessionId", c.cover.session},
		{"version", c.cover.version}, {"gitBranch", c.cover.branch}, {"slug", c.cover.slug},
	} {
		if !f.at.IsZero() {
			o.Raw(f.name, f.at.Of(c.Src))
		}
	}
	return o
}

// uuid returns the id of a new line as a JSON string.
func (c *claudeWriter) uuid(kind, text string) []byte {
	return uuid(c.Conv.ID, string(c.chain.last), kind, text)
}
