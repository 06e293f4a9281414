package request

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/render"
	"github.com/decantdev/decant/wire/internal/source"
)

// ParseAnthropic reads a request body of the Messages API (docs/reference/anthropic.md, "The request"
// and "Content blocks").
//
// Every element of messages is a message of its own, also where two of one role follow each other.
// A member that stands twice counts as the server counts it: the last one.
func ParseAnthropic(src []byte) (*source.Document, error) {
	if d := (earlier{}).parse(src); d != nil {
		return d, nil
	}
	return parseAnthropicTwice(src)
}

// parseAnthropicTwice checks the text as a whole before it reads it. So it can say what is wrong.
func parseAnthropicTwice(src []byte) (*source.Document, error) {
	src, err := validObject(src)
	if err != nil {
		return nil, err
	}
	p := newAnthropicParser(source.NewBuilder(src))
	sc := jsonspan.Scan(src, 0)
	if err := p.request(&sc); err != nil {
		return nil, err
	}
	return p.finished(), nil
}

// ParseAnthropicList reads a bare list of messages of the Messages API, which is valid JSON.
func ParseAnthropicList(src []byte) (*source.Document, error) {
	p := newAnthropicParser(source.NewBuilder(src))
	sc := jsonspan.Scan(src, 0)
	if err := p.messages(&sc); err != nil {
		return nil, err
	}
	return p.body.document(p.Builder), nil
}

// An anthropicParser reads a request of the Messages API, from scratch or after an earlier one.
type anthropicParser struct {
	*source.Builder
	body  Body
	tools jsonspan.Span // the list of tools

	was                   earlier
	sameSystem, sameTools bool // the earlier request has the same, or neither has one
}

func newAnthropicParser(b *source.Builder) anthropicParser {
	return anthropicParser{Builder: b, body: Body{Body: render.Body{Dialect: AnthropicDialect{}}}}
}

// request consumes the whole request.
func (p *anthropicParser) request(sc *jsonspan.Scanner) error {
	for sc.Open(); sc.Next(); {
		if err := p.member(sc); err != nil {
			return err
		}
	}
	if p.body.List.IsZero() {
		return source.FieldError(0, "messages", "missing, want a list of messages")
	}
	return nil
}

// finished returns the document of a request that is consumed.
func (p *anthropicParser) finished() *source.Document {
	p.fixed()
	if p.was.Body != nil && p.Conv.Agent != p.was.read.Agent {
		p.ForgetAuthors()
	}
	return p.body.document(p.Builder)
}

// member consumes a member of the request.
func (p *anthropicParser) member(sc *jsonspan.Scanner) error {
	m := member{name: sc.Pos()}
	name := sc.Name()
	m.value.Start = sc.Pos()
	var err error
	switch string(name) {
	case "model":
		p.Conv.Model = p.Interned(sc.Skip())
	case "max_tokens":
		p.Conv.MaxOutput = integer(sc.Skip().Of(p.Src))
	case "thinking":
		p.Conv.Thinking = decant.Thinking(p.Interned(p.Find(sc.Skip(), "type")))
	case "metadata":
		p.Conv.ID = sessionOf(p.Interned(p.Find(sc.Skip(), "user_id")))
	case "cache_control":
		p.Conv.Cache = p.Marker(sc.Skip())
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
	p.Conv.Fixed.System, p.body.system = nil, nil
	at := sc.Pos()
	if p.sameSystem = p.repeats(sc, "system"); p.sameSystem {
		p.keepSystem(at - p.was.member("system").Start)
		return
	}
	if sc.Kind() == '"' {
		s := source.BlockSpan{Text: sc.Skip()}
		p.Conv.Fixed.System = []decant.Block{{Kind: decant.KindText, Author: decant.AuthorClient, Content: p.ContentAt(s)}}
		p.body.system = []source.BlockSpan{s}
		return
	}
	for sc.Open(); sc.Next(); {
		blk, s := AnthropicBlock(p.Builder, sc)
		blk.Author = decant.AuthorClient
		p.Conv.Fixed.System = append(p.Conv.Fixed.System, blk)
		p.body.system = append(p.body.system, s)
	}
}

// fixed completes the fixed part: with the last list of tools, where there are several.
func (p *anthropicParser) fixed() {
	f, was := &p.Conv.Fixed, &p.was
	if p.sameTools {
		p.keepTools(p.tools.Start - was.member("tools").Start)
	} else {
		p.body.tools = p.Builder.Tools(p.tools)
	}
	if p.sameSystem {
		p.Conv.Agent = was.read.Agent
	} else {
		p.Conv.Agent = source.AgentOf(f.System)
	}
	if p.sameSystem && p.sameTools {
		f.Version = was.read.Fixed.Version
	} else {
		f.Version = source.Version(f)
	}
}

// messages consumes the list of messages.
func (p *anthropicParser) messages(sc *jsonspan.Scanner) error {
	p.Restart()
	p.body.List, p.body.Items = jsonspan.Span{Start: sc.Pos()}, nil
	if sc.Kind() != '[' {
		return source.FieldError(sc.Pos(), "messages", "want a list of messages")
	}
	sc.Open()
	if n := p.unchanged(); n > 0 {
		p.keepMessages(n)
		sc.Jump(p.body.Items[n-1].Span.End)
	} else {
		p.body.Items = make([]render.Item, 0, source.Expected(len(p.Src)))
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
	p.body.List.End = sc.Pos()
	return nil
}

// message consumes one message. Its members come in any order.
func (p *anthropicParser) message(sc *jsonspan.Scanner) error {
	it := render.Item{Span: jsonspan.Span{Start: sc.Pos()}, Owner: p.Start("").Number}
	for sc.Open(); sc.Next(); {
		switch string(sc.Name()) {
		case "role":
			p.Current().Role = roleAt(&p.Source, sc.Skip())
		case "content":
			it.Content = p.content(sc)
		default:
			sc.Skip()
		}
	}
	it.Span.End = sc.Pos()
	if p.Size() == 0 {
		p.Add(decant.Block{Kind: decant.KindOpaque}, source.BlockSpan{Span: it.Content, Kind: source.NoContent, Item: len(p.body.Items)})
	}
	p.body.Items = append(p.body.Items, it)
	switch p.Current().Role {
	case decant.RoleUser, decant.RoleAssistant, decant.RoleSystem:
		return nil
	}
	return source.FieldError(it.Span.Start, source.Indexed("messages", len(p.body.Items)-1)+".role", "want user, assistant or system")
}

// content consumes a message's content and adds its blocks.
func (p *anthropicParser) content(sc *jsonspan.Scanner) jsonspan.Span {
	v, at := jsonspan.Span{Start: sc.Pos()}, len(p.body.Items)
	p.body.twice = p.body.twice || p.Size() > 0
	p.DropBlocks()
	if sc.Kind() == '"' {
		v = sc.Skip()
		p.Add(decant.Block{Kind: decant.KindText, Content: p.Builder.Text(v)}, source.BlockSpan{Span: v, Text: v, Kind: source.BareString, Item: at})
		return v
	}
	if sc.Kind() != '[' { // nothing that the API knows
		return sc.Skip()
	}
	for sc.Open(); sc.Next(); {
		blk, s := AnthropicBlock(p.Builder, sc)
		s.Kind, s.Item = source.ListPart, at
		if p.Size() == 0 && p.hides(&blk, s) {
			p.Current().Compaction = true
		}
		p.Add(blk, s)
	}
	v.End = sc.Pos()
	return v
}

// hides reports whether a message's first block is a compaction block with a summary: the server
// ignores everything before it (docs/reference/anthropic.md, "Compaction"). One without is a summary that failed.
func (p *anthropicParser) hides(blk *decant.Block, s source.BlockSpan) bool {
	return blk.Kind == decant.KindOpaque && !s.Text.IsZero() && p.Src[s.Text.Start] == '"' &&
		p.Is(p.Find(s.Span, "type"), `"compaction"`)
}

// roleAt returns the role at s.
func roleAt(in *source.Source, s jsonspan.Span) decant.Role {
	switch string(s.Of(in.Src)) {
	case `"user"`:
		return decant.RoleUser
	case `"assistant"`:
		return decant.RoleAssistant
	}
	return decant.Role(in.Interned(s))
}
