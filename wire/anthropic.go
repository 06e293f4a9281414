package wire

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// parseAnthropic reads a request body of the Messages API (anthropic-wire sections 2 and 5).
//
// Every element of messages is a message of its own, also where two of one role follow each other.
// A member that stands twice counts as the server counts it: the last one.
func parseAnthropic(src []byte) (*Document, error) {
	p := anthropicParser{builder: newBuilder(src)}
	var messages, system, tools jsonspan.Span
	sc := jsonspan.Scan(src, 0)
	for sc.Open(); sc.Next(); {
		switch string(sc.Name()) {
		case "model":
			p.conv.Model = p.str(sc.Skip())
		case "max_tokens":
			p.conv.MaxOutput = p.int(sc.Skip())
		case "thinking":
			p.conv.Thinking = decant.Thinking(p.str(p.find(sc.Skip(), "type")))
		case "system":
			system = sc.Skip()
		case "tools":
			tools = sc.Skip()
		case "messages":
			messages = sc.Skip()
		default:
			sc.Skip()
		}
	}
	p.fixed(system, tools)
	if err := p.messages(messages); err != nil {
		return nil, err
	}
	return p.bodyDocument(Anthropic, &p.body), nil
}

type anthropicParser struct {
	*builder
	body body
}

// fixed reads system prompt and tools.
func (p *anthropicParser) fixed(system, tools jsonspan.Span) {
	f := &p.conv.Fixed
	sc := jsonspan.Scan(p.src, system.Start)
	switch {
	case system.IsZero():
	case sc.Kind() == '"':
		f.System = append(f.System, decant.Block{Kind: decant.KindText, Author: decant.AuthorClient, Content: p.text(system)})
	default:
		for sc.Open(); sc.Next(); {
			blk, _ := p.block(&sc)
			blk.Author = decant.AuthorClient
			f.System = append(f.System, blk)
		}
	}
	p.fixedTools(tools)
	p.conv.Agent = bodyAgent(f.System)
}

// messages reads the list of messages.
func (p *anthropicParser) messages(list jsonspan.Span) error {
	if list.IsZero() || p.src[list.Start] != '[' {
		return fieldError(list.Start, "messages", "want a list of messages")
	}
	p.body.list = list
	sc := jsonspan.Scan(p.src, list.Start)
	for sc.Open(); sc.Next(); {
		if err := p.message(&sc); err != nil {
			return err
		}
	}
	return nil
}

// message reads one message. Its members come in any order, so the content is read when the role is
// known.
func (p *anthropicParser) message(sc *jsonspan.Scanner) error {
	it := item{span: jsonspan.Span{Start: sc.Pos()}}
	var role jsonspan.Span
	for sc.Open(); sc.Next(); {
		switch string(sc.Name()) {
		case "role":
			role = sc.Skip()
		case "content":
			it.content = sc.Skip()
		default:
			sc.Skip()
		}
	}
	it.span.End = sc.Pos()
	r := decant.Role(p.str(role))
	if r != decant.RoleUser && r != decant.RoleAssistant && r != decant.RoleSystem {
		return fieldError(it.span.Start, indexed("messages", len(p.body.items))+".role", "want user, assistant or system")
	}
	it.owner = p.start(r).Number
	p.body.items = append(p.body.items, it)
	p.content(it.content)
	return nil
}

// content reads a message's blocks.
func (p *anthropicParser) content(content jsonspan.Span) {
	at := len(p.body.items) - 1
	sc := jsonspan.Scan(p.src, content.Start)
	switch {
	case content.IsZero():
	case sc.Kind() == '"':
		p.add(decant.Block{Kind: decant.KindText, Content: p.text(content)},
			site{span: content, text: content, slot: slotString, item: at})
	default:
		for sc.Open(); sc.Next(); {
			blk, s := p.block(&sc)
			s.slot, s.item = slotPart, at
			if len(p.blocks) == 0 && p.hides(&blk, s) {
				p.current().Compaction = true
			}
			p.add(blk, s)
		}
	}
	if len(p.blocks) == 0 {
		p.add(decant.Block{Kind: decant.KindOpaque}, site{span: content, slot: slotVoid, item: at})
	}
}

// hides reports whether a message's first block is a compaction block with a summary: the server
// ignores everything before it (anthropic-wire section 9). One without is a summary that failed.
func (p *anthropicParser) hides(blk *decant.Block, s site) bool {
	return blk.Kind == decant.KindOpaque && !s.text.IsZero() && p.src[s.text.Start] == '"' &&
		p.is(p.find(s.span, "type"), `"compaction"`)
}

// members are where the known members of a content block stand; zero: absent.
type members struct {
	kind, text, thinking, content, input, id, answers, name, failed, signature, cache, other jsonspan.Span
}

// field returns where the span of the member with a name goes.
func (m *members) field(name []byte) *jsonspan.Span {
	switch string(name) {
	case "type":
		return &m.kind
	case "text":
		return &m.text
	case "thinking":
		return &m.thinking
	case "content":
		return &m.content
	case "input":
		return &m.input
	case "id":
		return &m.id
	case "tool_use_id":
		return &m.answers
	case "name":
		return &m.name
	case "is_error":
		return &m.failed
	case "signature":
		return &m.signature
	case "cache_control":
		return &m.cache
	}
	return &m.other
}

// block consumes a content block.
func (p *anthropicParser) block(sc *jsonspan.Scanner) (decant.Block, site) {
	var m members
	s := site{span: jsonspan.Span{Start: sc.Pos()}}
	for sc.Open(); sc.Next(); {
		*m.field(sc.Name()) = sc.Skip()
	}
	s.span.End = sc.Pos()
	s.cache = m.cache
	blk := p.known(&m, &s)
	blk.Content = p.contentAt(s)
	blk.Cache = p.marker(m.cache)
	return blk, s
}

// known returns a block without its content, and sets in s where the content stands and how.
// What is not known by type is opaque, and its whole source is its content.
func (p *anthropicParser) known(m *members, s *site) decant.Block {
	switch string(m.kind.Of(p.src)) {
	case `"text"`:
		s.text = m.text
		return decant.Block{Kind: decant.KindText}
	case `"tool_use"`:
		s.text, s.form = m.input, formRaw
		return decant.Block{Kind: decant.KindUse, CallID: p.str(m.id), Name: p.str(m.name)}
	case `"tool_result"`:
		s.text = m.content
		return decant.Block{Kind: decant.KindResult, CallID: p.str(m.answers),
			Error: p.is(m.failed, "true"), Media: p.media(m.content)}
	case `"thinking"`:
		s.text = m.thinking
		return decant.Block{Kind: decant.KindThinking, Signed: p.str(m.signature) != ""}
	case `"redacted_thinking"`:
		return decant.Block{Kind: decant.KindThinking, Signed: true}
	case `"image"`, `"document"`:
		return p.picture(s)
	case `"compaction"`:
		s.text = m.content
		return decant.Block{Kind: decant.KindOpaque}
	}
	s.text, s.form = s.span, formRaw
	return decant.Block{Kind: decant.KindOpaque}
}

// picture returns an image or document block. A document of plain text has content and no media.
func (p *anthropicParser) picture(s *site) decant.Block {
	sc := jsonspan.Scan(p.src, s.span.Start)
	part := readPart(&sc, p.src)
	blk := decant.Block{Kind: decant.KindImage}
	switch {
	case part.isMedia():
		blk.Media = part.media(p.src)
	case part.src.text:
		s.text = part.src.data
	default:
		s.text = part.list
		blk.Media = p.media(part.list)
	}
	return blk
}

// marker returns the lifetime of a cache marker, "" when there is none (anthropic-wire section 12).
func (b *builder) marker(cache jsonspan.Span) string {
	if cache.IsZero() || b.src[cache.Start] != '{' {
		return ""
	}
	if ttl := b.str(b.find(cache, "ttl")); ttl != "" {
		return ttl
	}
	return "5m"
}

// media returns the images and documents in a result's content.
func (b *builder) media(content jsonspan.Span) decant.Media {
	if content.IsZero() || b.src[content.Start] != '[' {
		return decant.Media{}
	}
	return partsMedia(content.Of(b.src))
}
