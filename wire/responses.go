package wire

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/contents"
	"github.com/decantdev/decant/wire/internal/jsonedit"
)

// parseResponses reads a request body of the Responses API (docs/reference/openai.md, "Responses").
//
// Neighbouring items of the assistant's side (reasoning, text, calls) are one message; every output of a
// call is a message of its own, and so is every message of another role. A compaction item begins a
// message and hides what came before. Instructions and the system and developer messages before the
// first other item are the system prompt.
func parseResponses(src []byte) (*parsed, error) {
	src, err := validObject(src)
	if err != nil {
		return nil, err
	}
	p := responsesParser{builder: newBuilder(src), body: requestBody{body: body{to: responsesDialect{}}}}
	var tools, instructions jsonspan.Span
	sc := jsonspan.Scan(src, 0)
	for sc.Open(); sc.Next(); {
		switch string(sc.Name()) {
		case "model":
			p.conv.Model = p.interned(sc.Skip())
		case "prompt_cache_key": // a client's own name for the thread
			p.conv.ID = p.interned(sc.Skip())
		case "max_output_tokens":
			p.conv.MaxOutput = integer(sc.Skip().Of(p.src))
		case "instructions":
			instructions = sc.Skip()
		case "tools":
			tools = sc.Skip()
		case "input":
			if err := p.input(&sc); err != nil {
				return nil, err
			}
		default:
			sc.Skip()
		}
	}
	if p.body.list.IsZero() {
		return nil, fieldError(0, "input", "missing, want a list of items or a text")
	}
	if !instructions.IsZero() && src[instructions.Start] == '"' {
		p.conv.Fixed.System = append([]decant.Block{
			{Kind: decant.KindText, Author: decant.AuthorClient, Content: p.text(instructions)},
		}, p.conv.Fixed.System...)
	}
	p.conv.Agent = agentOf(p.conv.Fixed.System)
	fix(p.builder, tools)
	return p.body.document(p.builder), nil
}

type responsesParser struct {
	*builder
	body requestBody
}

// input consumes the list of items, or the one text that may stand in its place.
func (p *responsesParser) input(sc *jsonspan.Scanner) error {
	p.restart()
	p.conv.Fixed.System = nil
	p.body.list, p.body.bare, p.body.items = jsonspan.Span{Start: sc.Pos()}, false, nil
	switch sc.Kind() {
	case '"':
		v := sc.Skip()
		p.body.list, p.body.bare = v, true
		p.body.items = []item{{span: v, owner: p.start(decant.RoleUser).Number, content: v}}
		p.add(decant.Block{Kind: decant.KindText, Content: p.text(v)}, blockSpan{span: v, text: v, kind: bareString})
		return nil
	case '[':
		p.body.items = make([]item, 0, expected(len(p.src)))
	default:
		return fieldError(sc.Pos(), "input", "want a list of items or a text")
	}
	for sc.Open(); sc.Next(); {
		if sc.Kind() != '{' {
			return fieldError(sc.Pos(), indexed("input", len(p.body.items)), "want an object")
		}
		if err := p.item(sc); err != nil {
			return err
		}
	}
	p.body.list.End = sc.Pos()
	return nil
}

// responseItem is where the known members of an item stand; zero: absent.
type responseItem struct {
	span, kind, role, content, callID, name, arguments, input, action, output, summary, encrypted, other jsonspan.Span
}

// field returns where the span of the member with a name goes.
func (it *responseItem) field(name []byte) *jsonspan.Span {
	switch string(name) {
	case "type":
		return &it.kind
	case "role":
		return &it.role
	case "content":
		return &it.content
	case "call_id":
		return &it.callID
	case "name":
		return &it.name
	case "arguments":
		return &it.arguments
	case "input":
		return &it.input
	case "action":
		return &it.action
	case "output":
		return &it.output
	case "summary":
		return &it.summary
	case "encrypted_content":
		return &it.encrypted
	}
	return &it.other
}

// item consumes one item.
func (p *responsesParser) item(sc *jsonspan.Scanner) error {
	it := responseItem{span: jsonspan.Span{Start: sc.Pos()}}
	for sc.Open(); sc.Next(); {
		*it.field(sc.Name()) = sc.Skip()
	}
	it.span.End = sc.Pos()
	kind := p.interned(it.kind)
	if kind == "" && !it.role.IsZero() {
		kind = "message"
	}
	if kind == "message" {
		return p.message(&it)
	}
	blk, s := p.block(kind, &it)
	p.begin(kind, blk.Kind)
	s.item = p.own(&it)
	p.add(blk, s)
	return nil
}

// own appends the item to the message under construction and returns its index.
func (p *responsesParser) own(it *responseItem) int {
	p.body.items = append(p.body.items, item{span: it.span, owner: p.current().Number, content: it.content})
	return len(p.body.items) - 1
}

// begin begins the message that an item without a role belongs to, unless it goes with the last one.
func (p *responsesParser) begin(kind string, k decant.Kind) {
	switch {
	case k == decant.KindResult:
		p.start(decant.RoleTool)
	case kind == "compaction":
		p.start(decant.RoleAssistant).Compaction = true
	case kind == "compaction_trigger":
		p.start(decant.RoleUser)
	default:
		p.assistant()
	}
}

// assistant makes sure that the message under construction is one of the assistant.
func (p *responsesParser) assistant() {
	if m := p.current(); m == nil || m.Role != decant.RoleAssistant {
		p.start(decant.RoleAssistant)
	}
}

// message adds an item of type message.
func (p *responsesParser) message(it *responseItem) error {
	switch role := p.interned(it.role); role {
	case "assistant":
		p.assistant()
	case "user":
		p.start(decant.RoleUser)
	case "system", "developer":
		if len(p.conv.Messages) == 0 {
			p.system(it)
			return nil
		}
		p.start(decant.RoleSystem)
	default:
		return fieldError(it.span.Start, indexed("input", len(p.body.items))+".role", "want user, assistant, system or developer")
	}
	at, n := p.own(it), p.size()
	for _, e := range p.parts(it.content) {
		e.at.item = at
		p.add(e.block, e.at)
	}
	if p.size() == n {
		p.add(decant.Block{Kind: decant.KindOpaque}, blockSpan{span: it.content, kind: noContent, item: at})
	}
	return nil
}

// system adds an item to the fixed part.
func (p *responsesParser) system(it *responseItem) {
	p.body.items = append(p.body.items, item{span: it.span})
	f := &p.conv.Fixed
	for _, e := range p.parts(it.content) {
		e.block.Author = decant.AuthorClient
		f.System = append(f.System, e.block)
	}
}

// parts returns the blocks of a message's content.
func (p *responsesParser) parts(v jsonspan.Span) []placed {
	if v.IsZero() {
		return nil
	}
	if p.src[v.Start] == '"' {
		return []placed{{decant.Block{Kind: decant.KindText, Content: p.text(v)}, blockSpan{span: v, text: v, kind: bareString}}}
	}
	var out []placed
	sc := jsonspan.Scan(p.src, v.Start)
	for sc.Open(); sc.Next(); {
		out = append(out, nextPart(p.builder, &sc))
	}
	return out
}

// block returns the block that an item of a type other than message is. Calls whose output is text are
// uses and results; those with an output of another shape, and what the server does itself, are opaque,
// both the call and its output, and stay together in one message.
func (p *responsesParser) block(kind string, it *responseItem) (decant.Block, blockSpan) {
	s := blockSpan{span: it.span, kind: wholeItem}
	blk := decant.Block{Author: decant.AuthorModel}
	switch kind {
	case "reasoning":
		blk.Kind, blk.Signed = decant.KindThinking, p.interned(it.encrypted) != ""
		s.text = p.reasoning(it)
	case "function_call":
		blk.Kind, s.text = decant.KindUse, it.arguments
	case "custom_tool_call":
		blk.Kind, s.text = decant.KindUse, it.input
	case "local_shell_call":
		blk.Kind, s.text, s.form = decant.KindUse, it.action, contents.FormRaw
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		blk.Kind, blk.Author, blk.Media = decant.KindResult, decant.AuthorTool, contents.MediaIn(it.output.Of(p.src))
		s.text = it.output
	case "compaction", "compaction_trigger":
		blk.Kind = decant.KindOpaque // encrypted: nothing to read
	default:
		blk.Kind, s.text, s.form = decant.KindOpaque, it.span, contents.FormRaw
	}
	if blk.Kind == decant.KindUse || blk.Kind == decant.KindResult {
		blk.CallID, blk.Name = p.interned(it.callID), p.interned(it.name)
	}
	if kind == "local_shell_call" {
		blk.Name = "local_shell"
	}
	blk.Content = p.contentAt(s)
	return blk, s
}

// reasoning returns where the readable part of a reasoning item stands: its content, or else its
// summary, which is an empty list when the server gave none.
func (p *responsesParser) reasoning(it *responseItem) jsonspan.Span {
	for _, v := range []jsonspan.Span{it.content, it.summary} {
		if !v.IsZero() && p.src[v.Start] == '[' && len(jsonedit.Elements(p.src, v)) > 0 {
			return v
		}
	}
	return jsonspan.Span{}
}
