package session

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/typed"
	"github.com/decantdev/decant/wire/internal/request"
	"github.com/decantdev/decant/wire/internal/source"
)

// ParseClaudeCode reads a session file of Claude Code.
//
// Lines of type user and assistant hold messages of the Messages API. An answer of the model is
// spread over several lines with one message id, one block on each; they are one message here, at the
// place of the first. What the user typed while the agent worked stands in lines of the queue or in attachments. Lines of
// other types (progress, snapshots) and the lines of sub-agents are no part of the conversation and stay where they are. A file that has nothing but
// the lines of a sub-agent is that agent's own session.
//
// Lines name their parents. Where the user went back and said something else, what was said in between
// hangs on another branch of the same parent: it is left out.
//
// The first message behind a compact_boundary record is what the client put in place of everything
// before it.
func ParseClaudeCode(src []byte) (*source.Document, error) {
	s, err := openSession(src, typed.ClaudeCode)
	if err != nil {
		return nil, err
	}
	p := claudeParser{session: s}
	p.read()
	for i := range p.groups {
		p.message(&p.groups[i])
	}
	if len(p.groups) == 0 {
		return nil, fmt.Errorf("no line holds a message of a user or an assistant: %w", source.ErrFormat)
	}
	whole := p.followed() && p.repeated == source.Tally{}
	return s.close(claudeCode{left: p.left, queue: p.queue.lines, whole: whole}), nil
}

type claudeParser struct {
	*session
	groups  []claudeGroup
	links   []claudeLink   // of all records
	answers map[string]int // message id → index of its group

	queue    claudeQueue
	known    map[string]bool // uuids of lines that were read, and lines of the queue
	left     map[int]bool    // records on branches that the user left
	side     source.Tally    // lines of sub-agents
	repeated source.Tally    // lines that stand in the file twice
	gone     source.Tally    // lines with messages on branches that the user left
	boundary bool            // the next message follows a compaction
	bounded  bool            // there was a compaction
}

// A claudeGroup is the lines that make up one message.
type claudeGroup struct {
	role       decant.Role
	compaction bool
	lines      []claudeLine
}

// A claudeLine is what a line says: members of the line, and of the message on it.
type claudeLine struct {
	record                                     int
	link                                       claudeLink
	kind, subtype, side, meta, summary, failed jsonspan.Span
	session, time                              jsonspan.Span
	message, id, model, usage, content         jsonspan.Span
	operation, words, reason, attachment       jsonspan.Span // of the queue, and of what the client gives along
	sender                                     claudeSender
}

// member returns where the value of a line's member goes, nil when nobody needs it.
func (l *claudeLine) member(name []byte) *jsonspan.Span {
	switch string(name) {
	case "type":
		return &l.kind
	case "subtype":
		return &l.subtype
	case "uuid":
		return &l.link.uuid
	case "parentUuid":
		return &l.link.parent
	case "isSidechain":
		return &l.side
	case "isMeta":
		return &l.meta
	case "isCompactSummary":
		return &l.summary
	case "isApiErrorMessage":
		return &l.failed
	case "sessionId":
		return &l.session
	case "timestamp":
		return &l.time
	case "operation":
		return &l.operation
	case "content":
		return &l.words
	case "reason":
		return &l.reason
	case "attachment":
		return &l.attachment
	}
	return l.sender.member(name)
}

// scan reads the line in record rec, its message included.
func (p *claudeParser) scan(rec int) claudeLine {
	l := claudeLine{record: rec}
	sc := jsonspan.Scan(p.Src, p.Records[rec].At.Start)
	for sc.Open(); sc.Next(); {
		name := sc.Name()
		if to := l.member(name); to != nil {
			*to = sc.Skip()
		} else if string(name) == "message" {
			p.head(&sc, &l)
		} else {
			sc.Skip()
		}
	}
	return l
}

// head reads the message on a line up to its content.
func (p *claudeParser) head(sc *jsonspan.Scanner, l *claudeLine) {
	l.message = jsonspan.Span{Start: sc.Pos()}
	object := sc.Kind() == '{'
	for sc.Open(); sc.Next() && object; {
		switch string(sc.Name()) {
		case "id":
			l.id = sc.Skip()
		case "model":
			l.model = sc.Skip()
		case "usage":
			l.usage = sc.Skip()
		case "content":
			l.content = sc.Skip()
		default:
			sc.Skip()
		}
	}
	if l.message.End = sc.Pos(); !object {
		l.message = jsonspan.Span{}
	}
}

// client reports whether the client or somebody else than the user wrote the line, whatever role it has.
func (p *claudeParser) client(l *claudeLine) bool {
	return p.Is(l.meta, "true") || p.Is(l.summary, "true") || p.Is(l.failed, "true") || !p.person(l.sender.origin)
}

// read groups the lines of the file into messages.
func (p *claudeParser) read() {
	p.known, p.answers, p.queue.attached = map[string]bool{}, map[string]int{}, map[string]int{}
	var lines []claudeLine
	links := make([]claudeLink, len(p.Records))
	p.links = links
	main := false
	for i := range p.Records {
		l := p.scan(i)
		links[i] = l.link
		message := (p.Is(l.kind, `"user"`) || p.Is(l.kind, `"assistant"`)) && !l.message.IsZero() || p.attachment(&l)
		boundary := p.Is(l.kind, `"system"`) && p.Is(l.subtype, `"compact_boundary"`)
		if message || boundary || p.Is(l.kind, queueOperation) {
			lines = append(lines, l)
			main = main || message && !p.Is(l.side, "true")
		}
	}
	p.branches(lines, links)
	for i := range lines {
		p.line(&lines[i], main)
	}
	p.say(len(p.queue.given))
	p.report()
}

// line takes one line in. Lines of sub-agents count in a file that has no others.
func (p *claudeParser) line(l *claudeLine, main bool) {
	switch {
	case p.Is(l.kind, queueOperation):
		p.queued(l)
	case p.left[l.record]:
		p.gone.Add(l.record)
		p.queue.off = true
	case main && p.Is(l.side, "true"):
		p.side.Add(l.record)
	case p.Is(l.kind, `"system"`):
		p.settle(l)
		p.boundary, p.bounded = true, true
	case p.seen(l.link.uuid):
		p.repeated.Add(l.record)
	default:
		p.settle(l)
		p.Conv.ID = p.Interned(l.session)
		p.group(l)
	}
}

// seen reports whether a line with that uuid was read before.
func (p *claudeParser) seen(uuid jsonspan.Span) bool {
	if uuid.IsZero() {
		return false
	}
	id := string(uuid.Of(p.Src))
	was := p.known[id]
	p.known[id] = true
	return was
}

// group adds a line to the message that it belongs to.
func (p *claudeParser) group(l *claudeLine) {
	role := decant.RoleUser
	if p.Is(l.kind, `"assistant"`) {
		role = decant.RoleAssistant
		id := p.Decoded(l.id)
		if g, ok := p.answers[id]; ok && id != "" {
			p.groups[g].lines = append(p.groups[g].lines, *l)
			return
		}
		p.answers[id] = len(p.groups)
	}
	// A summary without a boundary right before it is one only where no boundary came at all: behind
	// one there may be messages that were kept in front of the summary.
	summary := p.Is(l.summary, "true") && !p.bounded
	p.groups = append(p.groups, claudeGroup{role, p.boundary || summary, []claudeLine{*l}})
	p.boundary = false
}

// report says what was left out of the conversation.
func (p *claudeParser) report() {
	p.NoteAll(p.side, "lines of sub-agents from here on are not part of this conversation")
	p.NoteAll(p.gone, "lines from here on are on branches that the user left and not part of this conversation")
	p.NoteAll(p.repeated, "lines from here on stand in the file twice: the first counts")
}

// message adds the message that a group of lines makes up.
func (p *claudeParser) message(g *claudeGroup) {
	m := p.Start(g.role)
	m.Compaction = g.compaction
	m.Time = p.Time(g.lines[0].time)
	for i := range g.lines {
		l := &g.lines[i]
		if g.role == decant.RoleAssistant {
			m.ID = p.Decoded(l.id)
			p.answer(m, l.model, l.usage)
		} else {
			m.ID, m.Scripted = p.identity(l), p.scripted(l)
		}
		p.content(l)
	}
}

// answer notes the model and the usage on a line of the model's answer. Every line of an answer
// repeats the usage, as it was when the line was written.
func (p *claudeParser) answer(m *decant.Message, model, usage jsonspan.Span) {
	name := p.Interned(model)
	if name == "<synthetic>" { // the client answered in the model's place
		return
	}
	m.Model, p.Conv.Model = name, name
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
	m := p.Members(v, "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens", "cache_creation")
	return decant.Usage{
		Input:      p.Number(m[0]),
		CacheRead:  p.Number(m[1]),
		CacheWrite: p.Number(m[2]),
		Write1h:    p.Number(p.Find(m[4], "ephemeral_1h_input_tokens")),
		Output:     p.Number(m[3]),
	}
}

// content adds the blocks of one line.
func (p *claudeParser) content(l *claudeLine) {
	at := p.hold(l.record, p.Records[l.record].At, l.content)
	if l.content.IsZero() {
		return
	}
	client := p.client(l)
	sc := jsonspan.Scan(p.Src, l.content.Start)
	if sc.Kind() == '"' {
		blk := decant.Block{Kind: decant.KindText, Content: p.Text(l.content)}
		p.put(blk, source.BlockSpan{Span: l.content, Text: l.content, Kind: source.BareString, Item: at}, client)
		return
	}
	if sc.Kind() != '[' {
		return
	}
	for sc.Open(); sc.Next(); {
		blk, where := request.AnthropicBlock(p.Builder, &sc)
		where.Kind, where.Item = source.ListPart, at
		p.put(blk, where, client)
	}
}

// put adds a block of a line.
func (p *claudeParser) put(blk decant.Block, where source.BlockSpan, client bool) {
	if client && blk.Kind == decant.KindText && !typed.Queued(typed.ClaudeCode, blk.Text()) {
		blk.Author = decant.AuthorClient
	}
	p.Add(blk, where)
}
