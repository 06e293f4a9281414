package wire

import (
	"bytes"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// parseAnthropic reads a valid request body of the Messages API (docs/reference/anthropic.md, "The request"
// and "Content blocks").
//
// Every element of messages is a message of its own, also where two of one role follow each other.
// A member that stands twice counts as the server counts it: the last one.
func parseAnthropic(src []byte) (*Document, error) {
	p := anthropicParser{builder: newBuilder(src)}
	sc := jsonspan.Scan(src, 0)
	if err := p.request(&sc); err != nil {
		return nil, err
	}
	return p.finished(), nil
}

// An anthropicParser reads a request of the Messages API, from scratch or after an earlier one.
type anthropicParser struct {
	*builder
	body  body
	tools jsonspan.Span // the list of tools

	was                   earlier
	sameSystem, sameTools bool // the earlier request has the same, or neither has one
}

// request consumes the whole request.
func (p *anthropicParser) request(sc *jsonspan.Scanner) error {
	for sc.Open(); sc.Next(); {
		if err := p.member(sc); err != nil {
			return err
		}
	}
	if p.body.list.IsZero() {
		return fieldError(0, "messages", "missing, want a list of messages")
	}
	return nil
}

// finished returns the document of a request that is consumed.
func (p *anthropicParser) finished() *Document {
	p.fixed()
	if p.kept > 0 && p.conv.Agent != p.was.read.Agent {
		p.forgetAuthors()
	}
	d := p.bodyDocument(Anthropic, p.body)
	d.Kept = p.kept
	return d
}

// member consumes a member of the request.
func (p *anthropicParser) member(sc *jsonspan.Scanner) error {
	m := member{name: sc.Pos()}
	name := sc.Name()
	m.value.Start = sc.Pos()
	var err error
	switch string(name) {
	case "model":
		p.conv.Model = p.str(sc.Skip())
	case "max_tokens":
		p.conv.MaxOutput = p.int(sc.Skip())
	case "thinking":
		p.conv.Thinking = decant.Thinking(p.str(p.find(sc.Skip(), "type")))
	case "metadata":
		p.conv.ID = sessionOf(p.str(p.find(sc.Skip(), "user_id")))
	case "cache_control":
		p.conv.Cache = p.marker(sc.Skip())
	case "system":
		p.system(sc)
	case "tools":
		p.tools = jsonspan.Span{Start: sc.Pos()}
		if p.sameTools = p.repeats(sc, "tools"); !p.sameTools {
			sc.Skip()
		}
		p.tools.End = sc.Pos()
	case "messages":
		err = p.messages(sc)
	default:
		sc.Skip()
	}
	m.value.End = sc.Pos()
	p.body.members = append(p.body.members, m)
	return err
}

// system consumes the system prompt.
func (p *anthropicParser) system(sc *jsonspan.Scanner) {
	p.conv.Fixed.System, p.body.system = nil, nil
	at := sc.Pos()
	if p.sameSystem = p.repeats(sc, "system"); p.sameSystem {
		p.keepSystem(at - p.was.member("system").Start)
		return
	}
	if sc.Kind() == '"' {
		s := site{text: sc.Skip()}
		p.conv.Fixed.System = []decant.Block{{Kind: decant.KindText, Author: decant.AuthorClient, Content: p.contentAt(s)}}
		p.body.system = []site{s}
		return
	}
	for sc.Open(); sc.Next(); {
		blk, s := p.block(sc)
		blk.Author = decant.AuthorClient
		p.conv.Fixed.System = append(p.conv.Fixed.System, blk)
		p.body.system = append(p.body.system, s)
	}
}

// fixed completes the fixed part: with the last list of tools, where there are several.
func (p *anthropicParser) fixed() {
	f, was := &p.conv.Fixed, &p.was
	if p.sameTools {
		p.keepTools(p.tools.Start - was.member("tools").Start)
	} else {
		p.body.tools = p.toolsIn(p.tools)
	}
	if p.sameSystem {
		p.conv.Agent = was.read.Agent
	} else {
		p.conv.Agent = bodyAgent(f.System)
	}
	if p.sameSystem && p.sameTools {
		f.Version = was.read.Fixed.Version
	} else {
		f.Version = version(f)
	}
}

// messages consumes the list of messages.
func (p *anthropicParser) messages(sc *jsonspan.Scanner) error {
	p.restart()
	p.body.list, p.body.items = jsonspan.Span{Start: sc.Pos()}, nil
	if sc.Kind() != '[' {
		return fieldError(sc.Pos(), "messages", "want a list of messages")
	}
	sc.Open()
	if n := p.unchanged(); n > 0 {
		p.keepMessages(n)
		sc.Jump(p.body.items[n-1].span.End)
	} else {
		p.body.items = make([]item, 0, expected(p.src))
	}
	return p.elements(sc)
}

// elements consumes the rest of the list of messages.
func (p *anthropicParser) elements(sc *jsonspan.Scanner) error {
	for sc.Next() {
		if err := p.message(sc); err != nil {
			return err
		}
	}
	p.body.list.End = sc.Pos()
	return nil
}

// message consumes one message. Its members come in any order.
func (p *anthropicParser) message(sc *jsonspan.Scanner) error {
	it := item{span: jsonspan.Span{Start: sc.Pos()}, owner: p.start("").Number}
	for sc.Open(); sc.Next(); {
		switch string(sc.Name()) {
		case "role":
			p.current().Role = p.role(sc.Skip())
		case "content":
			it.content = p.content(sc)
		default:
			sc.Skip()
		}
	}
	it.span.End = sc.Pos()
	if p.empty() {
		p.add(decant.Block{Kind: decant.KindOpaque}, site{span: it.content, slot: slotVoid, item: len(p.body.items)})
	}
	p.body.items = append(p.body.items, it)
	switch p.current().Role {
	case decant.RoleUser, decant.RoleAssistant, decant.RoleSystem:
		return nil
	}
	return fieldError(it.span.Start, indexed("messages", len(p.body.items)-1)+".role", "want user, assistant or system")
}

// content consumes a message's content and adds its blocks.
func (p *anthropicParser) content(sc *jsonspan.Scanner) jsonspan.Span {
	v, at := jsonspan.Span{Start: sc.Pos()}, len(p.body.items)
	p.body.twice = p.body.twice || !p.empty()
	p.blocks.drop() // of a content that stands twice
	p.places.drop()
	if sc.Kind() == '"' {
		v = sc.Skip()
		p.add(decant.Block{Kind: decant.KindText, Content: p.text(v)}, site{span: v, text: v, slot: slotString, item: at})
		return v
	}
	if sc.Kind() != '[' { // nothing that the API knows
		return sc.Skip()
	}
	for sc.Open(); sc.Next(); {
		blk, s := p.block(sc)
		s.slot, s.item = slotPart, at
		if p.empty() && p.hides(&blk, s) {
			p.current().Compaction = true
		}
		p.add(blk, s)
	}
	v.End = sc.Pos()
	return v
}

// hides reports whether a message's first block is a compaction block with a summary: the server
// ignores everything before it (docs/reference/anthropic.md, "Compaction"). One without is a summary that failed.
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
	if sc.Failed() {
		return decant.Block{}, s
	}
	s.cache = m.cache
	blk := p.known(&m, &s)
	blk.Content = p.contentAt(s)
	blk.Cache = p.marker(m.cache)
	blk.Inside = p.markersIn(m.content, 0)
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
			Error: p.is(m.failed, "true"), Media: p.media(m.content), Loads: p.loads(m.content)}
	case `"thinking"`:
		s.text = m.thinking
		return decant.Block{Kind: decant.KindThinking, Signed: m.signature.Len() > len(`""`)}
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

// marker returns the lifetime of a cache marker, "" when there is none (docs/reference/anthropic.md, "The prompt cache").
func (b *builder) marker(cache jsonspan.Span) string {
	if cache.IsZero() || b.src[cache.Start] != '{' {
		return ""
	}
	if ttl := b.str(b.find(cache, "ttl")); ttl != "" {
		return ttl
	}
	return "5m"
}

// markersIn returns the lifetimes of the cache markers on the blocks in a list, and on those within them,
// in order.
func (b *builder) markersIn(list jsonspan.Span, depth int) (out []string) {
	if list.IsZero() || b.src[list.Start] != '[' || depth > maxNesting || !bytes.Contains(list.Of(b.src), []byte("cache_control")) {
		return nil
	}
	sc := jsonspan.Scan(b.src, list.Start)
	for sc.Open(); sc.Next(); {
		part := sc.Skip()
		out = append(out, b.markersIn(b.find(part, "content"), depth+1)...)
		if life := b.marker(b.find(part, "cache_control")); life != "" {
			out = append(out, life)
		}
	}
	return out
}

// media returns the images and documents in a result's content.
func (b *builder) media(content jsonspan.Span) decant.Media {
	if content.IsZero() || b.src[content.Start] != '[' {
		return decant.Media{}
	}
	return partsMedia(content.Of(b.src))
}
