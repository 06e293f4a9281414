package wire

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// parseClaudeCode reads a session file of Claude Code.
//
// Lines of type user and assistant hold messages of the Messages API. An answer of the model is
// spread over several lines with one message id, one block on each; they are one message here, at the
// place of the first. Lines of other types (progress, snapshots, the queue) and the lines of
// sub-agents are no part of the conversation and stay where they are. A file that has nothing but
// the lines of a sub-agent is that agent's own session.
//
// The first message behind a compact_boundary record is what the client put in place of everything
// before it.
func parseClaudeCode(src []byte) (*Document, error) {
	s, err := openSession(src, AgentClaudeCode)
	if err != nil {
		return nil, err
	}
	p := claudeParser{session: s, anthropic: anthropicParser{builder: s.builder}}
	p.read()
	for i := range p.groups {
		p.message(&p.groups[i])
	}
	if len(p.groups) == 0 {
		return nil, fmt.Errorf("no line holds a message of a user or an assistant: %w", ErrFormat)
	}
	return s.close(ClaudeCode, claudeCode{}), nil
}

type claudeParser struct {
	*session
	anthropic anthropicParser
	groups    []claudeGroup
	answers   map[string]int // message id → index of its group

	known    map[string]bool // uuids of lines that were read
	side     int             // lines of sub-agents
	repeated int             // lines that stand in the file twice
	boundary bool            // the next message follows a compaction
	bounded  bool            // there was a compaction
}

// A claudeGroup is the lines that make up one message.
type claudeGroup struct {
	role       decant.Role
	compaction bool
	lines      []claudeLine
}

// A claudeLine is a line that holds a message or a part of one.
type claudeLine struct {
	record  int
	message jsonspan.Span
	time    jsonspan.Span
	client  bool // the client wrote it, whatever role it has
}

// The members of a line, by their places in claudeNames.
const (
	ccType = iota
	ccSubtype
	ccUUID
	ccSidechain
	ccMeta
	ccSummary
	ccMessage
	ccTime
	ccSession
	ccAPIError
)

var claudeNames = []string{
	"type", "subtype", "uuid", "isSidechain", "isMeta", "isCompactSummary", "message", "timestamp", "sessionId", "isApiErrorMessage",
}

// read groups the lines of the file into messages.
func (p *claudeParser) read() {
	p.known, p.answers = map[string]bool{}, map[string]int{}
	skipSide := p.hasMainLine()
	var last jsonspan.Span
	for i := range p.records {
		m := p.members(p.records[i].at, claudeNames...)
		switch {
		case p.is(m[ccType], `"system"`) && p.is(m[ccSubtype], `"compact_boundary"`):
			p.boundary, p.bounded = true, true
			continue
		case !p.is(m[ccType], `"user"`) && !p.is(m[ccType], `"assistant"`) || m[ccMessage].IsZero():
			continue
		case skipSide && p.is(m[ccSidechain], "true"):
			p.side++
			continue
		case p.seen(m[ccUUID]):
			p.repeated++
			continue
		}
		last = m[ccSession]
		p.line(i, m)
	}
	p.conv.ID = p.string(last)
	p.report()
}

// hasMainLine reports whether any message of the file is not a sub-agent's.
func (p *claudeParser) hasMainLine() bool {
	for i := range p.records {
		m := p.members(p.records[i].at, "type", "isSidechain")
		if (p.is(m[0], `"user"`) || p.is(m[0], `"assistant"`)) && !p.is(m[1], "true") {
			return true
		}
	}
	return false
}

// seen reports whether a line with that uuid was read before.
func (p *claudeParser) seen(uuid jsonspan.Span) bool {
	if uuid.IsZero() {
		return false
	}
	raw := string(uuid.Of(p.src))
	was := p.known[raw]
	p.known[raw] = true
	return was
}

// line adds the line in record rec to the message that it belongs to.
func (p *claudeParser) line(rec int, m []jsonspan.Span) {
	l := claudeLine{
		record:  rec,
		message: m[ccMessage],
		time:    m[ccTime],
		client:  p.is(m[ccMeta], "true") || p.is(m[ccSummary], "true") || p.is(m[ccAPIError], "true"),
	}
	role := decant.RoleUser
	if p.is(m[ccType], `"assistant"`) {
		role = decant.RoleAssistant
		id := p.string(p.find(l.message, "id"))
		if g, ok := p.answers[id]; ok && id != "" {
			p.groups[g].lines = append(p.groups[g].lines, l)
			return
		}
		p.answers[id] = len(p.groups)
	}
	// A summary without a boundary right before it is one only where no boundary came at all: behind
	// one there may be messages that were kept in front of the summary.
	summary := p.is(m[ccSummary], "true") && !p.bounded
	p.groups = append(p.groups, claudeGroup{role, p.boundary || summary, []claudeLine{l}})
	p.boundary = false
}

// report says what was left out of the conversation.
func (p *claudeParser) report() {
	if p.side > 0 {
		p.note(0, "%d lines of sub-agents are not part of this conversation", p.side)
	}
	if p.repeated > 0 {
		p.note(0, "%d lines stand in the file twice: the first counts", p.repeated)
	}
}

// message adds the message that a group of lines makes up.
func (p *claudeParser) message(g *claudeGroup) {
	m := p.start(g.role)
	m.Compaction = g.compaction
	m.Time = p.time(g.lines[0].time)
	for _, l := range g.lines {
		head := p.members(l.message, "id", "model", "usage", "content")
		if g.role == decant.RoleAssistant {
			m.ID = p.string(head[0])
			p.answer(m, head[1], head[2])
		}
		p.content(l, head[3])
	}
}

// answer notes the model and the usage on a line of the model's answer. Every line of an answer
// repeats the usage, as it was when the line was written.
func (p *claudeParser) answer(m *decant.Message, model, usage jsonspan.Span) {
	name := p.str(model)
	if name == "<synthetic>" { // the client answered in the model's place
		return
	}
	m.Model, p.conv.Model = name, name
	if usage.IsZero() {
		return
	}
	u := p.usage(usage)
	if m.Usage != nil {
		u.Output = max(u.Output, m.Usage.Output)
	}
	m.Usage = &u
}

// usage reads a usage object of the Messages API.
func (p *claudeParser) usage(v jsonspan.Span) decant.Usage {
	m := p.members(v, "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens", "cache_creation")
	return decant.Usage{
		Input:      p.number(m[0]),
		CacheRead:  p.number(m[1]),
		CacheWrite: p.number(m[2]),
		Write1h:    p.number(p.find(m[4], "ephemeral_1h_input_tokens")),
		Output:     p.number(m[3]),
	}
}

// content adds the blocks of one line.
func (p *claudeParser) content(l claudeLine, content jsonspan.Span) {
	at := p.hold(l.record, p.records[l.record].at, content)
	if content.IsZero() || isNull(content.Of(p.src)) {
		return
	}
	sc := jsonspan.Scan(p.src, content.Start)
	if sc.Kind() == '"' {
		blk := decant.Block{Kind: decant.KindText, Content: p.text(content)}
		p.put(l, blk, site{span: content, text: content, slot: slotString, item: at})
		return
	}
	for sc.Open(); sc.Next(); {
		blk, where := p.anthropic.block(&sc)
		where.slot, where.item = slotPart, at
		p.put(l, blk, where)
	}
}

// put adds a block of one line.
func (p *claudeParser) put(l claudeLine, blk decant.Block, where site) {
	if l.client && blk.Kind == decant.KindText {
		blk.Author = decant.AuthorClient
	}
	p.add(blk, where)
}
