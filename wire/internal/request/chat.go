package request

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/render"
	"github.com/decantdev/decant/wire/internal/source"
)

// ParseChat reads a request body of the Chat Completions API (docs/reference/openai.md, "Chat Completions"), or a request log,
// which is an object that holds messages and tools beside other things.
//
// System and developer messages before the first other message are the system prompt; later ones are
// messages. Reasoning that some servers return beside the content is thinking.
func ParseChat(src []byte) (*source.Document, error) {
	src, err := validObject(src)
	if err != nil {
		return nil, err
	}
	p := newChatParser(source.NewBuilder(src))
	var tools, response jsonspan.Span
	sc := jsonspan.Scan(src, 0)
	for sc.Open(); sc.Next(); {
		switch string(sc.Name()) {
		case "model":
			p.Conv.Model = p.Interned(sc.Skip())
		case "max_completion_tokens", "max_tokens":
			p.Conv.MaxOutput = integer(sc.Skip().Of(p.Src))
		case "tools":
			tools = sc.Skip()
		case "messages":
			if err := p.messages(&sc); err != nil {
				return nil, err
			}
		case "response":
			response = sc.Skip()
		default:
			sc.Skip()
		}
	}
	if p.Conv.Model == "" {
		p.Conv.Model = p.Interned(p.Find(response, "model"))
	}
	if p.body.List.IsZero() {
		return nil, source.FieldError(0, "messages", "missing, want a list of messages")
	}
	fix(p.Builder, tools)
	p.Conv.Agent = source.AgentOf(p.Conv.Fixed.System)
	return p.body.document(p.Builder), nil
}

// ParseChatList reads a bare list of messages of the Chat Completions API, which is valid JSON.
func ParseChatList(src []byte) (*source.Document, error) {
	p := newChatParser(source.NewBuilder(src))
	sc := jsonspan.Scan(src, 0)
	if err := p.messages(&sc); err != nil {
		return nil, err
	}
	p.Conv.Fixed.Version = source.Version(&p.Conv.Fixed)
	p.Conv.Agent = source.AgentOf(p.Conv.Fixed.System)
	return p.body.document(p.Builder), nil
}

type chatParser struct {
	*source.Builder
	body Body
}

func newChatParser(b *source.Builder) chatParser {
	return chatParser{Builder: b, body: Body{Body: render.Body{Dialect: chatDialect{}}}}
}

// messages consumes the list of messages.
func (p *chatParser) messages(sc *jsonspan.Scanner) error {
	p.Restart()
	p.Conv.Fixed.System = nil
	p.body.List, p.body.Items = jsonspan.Span{Start: sc.Pos()}, make([]render.Item, 0, source.Expected(len(p.Src)))
	if sc.Kind() != '[' {
		return source.FieldError(sc.Pos(), "messages", "want a list of messages")
	}
	for sc.Open(); sc.Next(); {
		if err := p.message(sc); err != nil {
			return err
		}
	}
	p.body.List.End = sc.Pos()
	return nil
}

// chatMessage is where the known members of a message stand; zero: absent.
type chatMessage struct {
	item                                                    render.Item
	role, callID, name, reasoning, refusal, function, other jsonspan.Span
}

// field returns where the span of the member with a name goes.
func (m *chatMessage) field(name []byte) *jsonspan.Span {
	switch string(name) {
	case "role":
		return &m.role
	case "content":
		return &m.item.Content
	case "tool_calls":
		return &m.item.Calls
	case "tool_call_id":
		return &m.callID
	case "name":
		return &m.name
	case "reasoning_content", "reasoning":
		return &m.reasoning
	case "refusal":
		return &m.refusal
	case "function_call":
		return &m.function
	}
	return &m.other
}

// message consumes one message.
func (p *chatParser) message(sc *jsonspan.Scanner) error {
	m := chatMessage{item: render.Item{Span: jsonspan.Span{Start: sc.Pos()}}}
	for sc.Open(); sc.Next(); {
		*m.field(sc.Name()) = sc.Skip()
	}
	m.item.Span.End = sc.Pos()
	switch role := p.Interned(m.role); role {
	case "system", "developer":
		if len(p.Conv.Messages) == 0 {
			p.system(&m)
			return nil
		}
		p.Start(decant.RoleSystem).Fixed = true
	case "user":
		p.Start(decant.RoleUser)
	case "assistant":
		p.Start(decant.RoleAssistant)
	case "tool", "function":
		p.Start(decant.RoleTool)
	default:
		return source.FieldError(m.item.Span.Start, source.Indexed("messages", len(p.body.Items))+".role",
			"want system, developer, user, assistant or tool")
	}
	m.item.Owner = p.Current().Number
	p.body.Items = append(p.body.Items, m.item)
	p.fill(&m)
	return nil
}

// system adds a message to the fixed part.
func (p *chatParser) system(m *chatMessage) {
	p.body.Items = append(p.body.Items, m.item)
	f := &p.Conv.Fixed
	for _, e := range p.contentBlocks(m) {
		e.block.Author = decant.AuthorClient
		f.System = append(f.System, e.block)
	}
}

// fill adds the blocks of a message, always in the order in which a model says them: reasoning,
// content, calls.
func (p *chatParser) fill(m *chatMessage) {
	at := len(p.body.Items) - 1
	if p.Current().Role == decant.RoleTool {
		p.Add(decant.Block{Kind: decant.KindResult, CallID: p.Interned(m.callID), Name: p.Interned(m.name),
			Content: p.Text(m.item.Content), Media: source.MediaIn(m.item.Content.Of(p.Src))},
			source.BlockSpan{Span: m.item.Span, Text: m.item.Content, Kind: source.WholeItem, Item: at})
		return
	}
	p.memberBlock(decant.KindThinking, m.reasoning, at)
	for _, e := range p.contentBlocks(m) {
		e.at.Item = at
		p.Add(e.block, e.at)
	}
	p.memberBlock(decant.KindText, m.refusal, at)
	p.calls(m, at)
	if p.Size() == 0 {
		p.Add(decant.Block{Kind: decant.KindOpaque}, source.BlockSpan{Span: m.item.Content, Kind: source.NoContent, Item: at})
	}
}

// memberBlock adds a block that is the value of a member, when that is a string with text in it.
func (p *chatParser) memberBlock(k decant.Kind, v jsonspan.Span, at int) {
	if v.Len() <= len(`""`) || p.Src[v.Start] != '"' {
		return
	}
	p.Add(decant.Block{Kind: k, Content: p.Text(v)}, source.BlockSpan{Span: v, Text: v, Kind: source.MemberValue, Item: at})
}

// contentBlocks returns the blocks of a message's content. Empty text beside calls is none.
func (p *chatParser) contentBlocks(m *chatMessage) []placed {
	v := m.item.Content
	if v.IsZero() {
		return nil
	}
	if p.Src[v.Start] == '"' {
		if v.Len() == len(`""`) && !m.item.Calls.IsZero() {
			return nil
		}
		return []placed{{decant.Block{Kind: decant.KindText, Content: p.Text(v)}, source.BlockSpan{Span: v, Text: v, Kind: source.BareString}}}
	}
	var out []placed
	sc := jsonspan.Scan(p.Src, v.Start)
	for sc.Open(); sc.Next(); {
		out = append(out, nextPart(p.Builder, &sc))
	}
	return out
}

// calls adds the calls of a message, also the one that the old function_call member holds.
func (p *chatParser) calls(m *chatMessage, at int) {
	if !m.item.Calls.IsZero() {
		sc := jsonspan.Scan(p.Src, m.item.Calls.Start)
		for sc.Open(); sc.Next(); {
			v := sc.Skip()
			p.call(v, p.inner(v), source.BlockSpan{Span: v, Kind: source.ListedCall, Item: at})
		}
	}
	if !m.function.IsZero() && p.Src[m.function.Start] == '{' {
		p.call(m.function, m.function, source.BlockSpan{Span: m.function, Kind: source.MemberValue, Item: at})
	}
}

// inner returns the object with the name and the arguments of an element of tool_calls.
func (p *chatParser) inner(v jsonspan.Span) jsonspan.Span {
	if f := p.Find(v, "function"); !f.IsZero() {
		return f
	}
	return p.Find(v, "custom")
}

// call adds a call: its id is in outer, its name and its arguments are in inner.
func (p *chatParser) call(outer, inner jsonspan.Span, s source.BlockSpan) {
	s.Text = p.Find(inner, "arguments")
	if s.Text.IsZero() {
		s.Text = p.Find(inner, "input")
	}
	if !s.Text.IsZero() && p.Src[s.Text.Start] == '{' {
		s.Form = source.FormRaw // some servers do not wrap arguments into a string
	}
	p.Add(decant.Block{Kind: decant.KindUse, CallID: p.Interned(p.Find(outer, "id")), Name: p.Interned(p.Find(inner, "name")),
		Content: p.ContentAt(s)}, s)
}
