package wire

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// parseChat reads a request body of the Chat Completions API (docs/reference/openai.md, "Chat Completions"), or a request log,
// which is an object that holds messages and tools beside other things.
//
// System and developer messages before the first other message are the system prompt; later ones are
// messages. Reasoning that some servers return beside the content is thinking.
func parseChat(src []byte) (*Document, error) {
	p := chatParser{builder: newBuilder(src)}
	var tools, response jsonspan.Span
	sc := jsonspan.Scan(src, 0)
	for sc.Open(); sc.Next(); {
		switch string(sc.Name()) {
		case "model":
			p.conv.Model = p.str(sc.Skip())
		case "max_completion_tokens", "max_tokens":
			p.conv.MaxOutput = p.int(sc.Skip())
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
	if p.conv.Model == "" {
		p.conv.Model = p.str(p.find(response, "model"))
	}
	if p.body.list.IsZero() {
		return nil, fieldError(0, "messages", "missing, want a list of messages")
	}
	p.fixedTools(tools)
	p.conv.Agent = bodyAgent(p.conv.Fixed.System)
	return p.bodyDocument(OpenAIChat, p.body), nil
}

type chatParser struct {
	*builder
	body body
}

// messages consumes the list of messages.
func (p *chatParser) messages(sc *jsonspan.Scanner) error {
	p.restart()
	p.conv.Fixed.System = nil
	p.body = body{list: jsonspan.Span{Start: sc.Pos()}, items: make([]item, 0, expected(p.src))}
	if sc.Kind() != '[' {
		return fieldError(sc.Pos(), "messages", "want a list of messages")
	}
	for sc.Open(); sc.Next(); {
		if err := p.message(sc); err != nil {
			return err
		}
	}
	p.body.list.End = sc.Pos()
	return nil
}

// chatMessage is where the known members of a message stand; zero: absent.
type chatMessage struct {
	item                                                    item
	role, callID, name, reasoning, refusal, function, other jsonspan.Span
	callIDs                                                 jsonspan.Span // a list of one, as SWE-agent writes it
}

// answers returns where the id of the call stands that a result answers.
func (m *chatMessage) answers(src []byte) jsonspan.Span {
	if !m.callID.IsZero() || !starts(src, m.callIDs, "[") {
		return m.callID
	}
	sc := jsonspan.Scan(src, m.callIDs.Start)
	if sc.Open(); sc.Next() {
		return sc.Skip()
	}
	return jsonspan.Span{}
}

// field returns where the span of the member with a name goes.
func (m *chatMessage) field(name []byte) *jsonspan.Span {
	switch string(name) {
	case "role":
		return &m.role
	case "content":
		return &m.item.content
	case "tool_calls":
		return &m.item.calls
	case "tool_call_id":
		return &m.callID
	case "tool_call_ids":
		return &m.callIDs
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
	m := chatMessage{item: item{span: jsonspan.Span{Start: sc.Pos()}}}
	for sc.Open(); sc.Next(); {
		*m.field(sc.Name()) = sc.Skip()
	}
	m.item.span.End = sc.Pos()
	switch role := p.str(m.role); role {
	case "system", "developer":
		if len(p.conv.Messages) == 0 {
			p.system(&m)
			return nil
		}
		p.start(decant.RoleSystem)
	case "user":
		p.start(decant.RoleUser)
	case "assistant":
		p.start(decant.RoleAssistant)
	case "tool", "function":
		p.start(decant.RoleTool)
	default:
		return fieldError(m.item.span.Start, indexed("messages", len(p.body.items))+".role",
			"want system, developer, user, assistant or tool")
	}
	m.item.owner = p.current().Number
	p.body.items = append(p.body.items, m.item)
	p.fill(&m)
	return nil
}

// system adds a message to the fixed part.
func (p *chatParser) system(m *chatMessage) {
	p.body.items = append(p.body.items, m.item)
	f := &p.conv.Fixed
	for _, e := range p.contentBlocks(m) {
		e.block.Author = decant.AuthorClient
		f.System = append(f.System, e.block)
	}
}

// A placed block is one that is not yet added to its message.
type placed struct {
	block decant.Block
	site  site
}

// fill adds the blocks of a message, always in the order in which a model says them: reasoning,
// content, calls.
func (p *chatParser) fill(m *chatMessage) {
	at := len(p.body.items) - 1
	if p.current().Role == decant.RoleTool {
		p.add(decant.Block{Kind: decant.KindResult, CallID: p.str(m.answers(p.src)), Name: p.str(m.name),
			Content: p.text(m.item.content), Media: p.media(m.item.content)},
			site{span: m.item.span, text: m.item.content, slot: slotItem, item: at})
		return
	}
	p.memberBlock(decant.KindThinking, m.reasoning, at)
	for _, e := range p.contentBlocks(m) {
		e.site.item = at
		p.add(e.block, e.site)
	}
	p.memberBlock(decant.KindText, m.refusal, at)
	p.calls(m, at)
	if p.empty() {
		p.add(decant.Block{Kind: decant.KindOpaque}, site{span: m.item.content, slot: slotVoid, item: at})
	}
}

// memberBlock adds a block that is the value of a member, when that is a string with text in it.
func (p *chatParser) memberBlock(k decant.Kind, v jsonspan.Span, at int) {
	if v.Len() <= len(`""`) || p.src[v.Start] != '"' {
		return
	}
	p.add(decant.Block{Kind: k, Content: p.text(v)}, site{span: v, text: v, slot: slotMember, item: at})
}

// contentBlocks returns the blocks of a message's content. Empty text beside calls is none.
func (p *chatParser) contentBlocks(m *chatMessage) []placed {
	v := m.item.content
	if v.IsZero() {
		return nil
	}
	if p.src[v.Start] == '"' {
		if v.Len() == len(`""`) && !m.item.calls.IsZero() {
			return nil
		}
		return []placed{{decant.Block{Kind: decant.KindText, Content: p.text(v)}, site{span: v, text: v, slot: slotString}}}
	}
	var out []placed
	sc := jsonspan.Scan(p.src, v.Start)
	for sc.Open(); sc.Next(); {
		out = append(out, p.part(&sc))
	}
	return out
}

// part consumes an element of a content list, of this API or of the Responses API.
func (b *builder) part(sc *jsonspan.Scanner) placed {
	part := readPart(sc, b.src)
	s := site{span: part.span, slot: slotPart}
	switch {
	case part.isText() && !part.text.IsZero():
		s.text = part.text
		return placed{decant.Block{Kind: decant.KindText, Content: b.text(part.text)}, s}
	case part.isMedia():
		return placed{decant.Block{Kind: decant.KindImage, Media: part.media(b.src)}, s}
	}
	s.text, s.form = s.span, formRaw
	return placed{decant.Block{Kind: decant.KindOpaque, Content: b.contentAt(s)}, s}
}

// calls adds the calls of a message, also the one that the old function_call member holds.
func (p *chatParser) calls(m *chatMessage, at int) {
	if !m.item.calls.IsZero() {
		sc := jsonspan.Scan(p.src, m.item.calls.Start)
		for sc.Open(); sc.Next(); {
			v := sc.Skip()
			p.call(v, p.inner(v), site{span: v, slot: slotCall, item: at})
		}
	}
	if !m.function.IsZero() && p.src[m.function.Start] == '{' {
		p.call(m.function, m.function, site{span: m.function, slot: slotMember, item: at})
	}
}

// inner returns the object with the name and the arguments of an element of tool_calls.
func (p *chatParser) inner(v jsonspan.Span) jsonspan.Span {
	if f := p.find(v, "function"); !f.IsZero() {
		return f
	}
	return p.find(v, "custom")
}

// call adds a call: its id is in outer, its name and its arguments are in inner.
func (p *chatParser) call(outer, inner jsonspan.Span, s site) {
	s.text = p.find(inner, "arguments")
	if s.text.IsZero() {
		s.text = p.find(inner, "input")
	}
	if !s.text.IsZero() && p.src[s.text.Start] == '{' {
		s.form = formRaw // some servers do not wrap arguments into a string
	}
	p.add(decant.Block{Kind: decant.KindUse, CallID: p.str(p.find(outer, "id")), Name: p.str(p.find(inner, "name")),
		Content: p.contentAt(s)}, s)
}
