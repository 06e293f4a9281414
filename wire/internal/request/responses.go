package request

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/render"
	"github.com/decantdev/decant/wire/internal/source"
)

// ParseResponses reads a request body of the Responses API (docs/reference/openai.md, "Responses").
//
// Neighbouring items of the assistant's side (reasoning, text, calls) are one message; every output of a
// call is a message of its own, and so is every message of another role. What configures the model (see [Configures]) is
// the fixed part where it stands before the first item of the model, and a message that every view has behind that. So is a
// compaction item: only the provider can read what it stands for.
func ParseResponses(src []byte) (*source.Document, error) {
	src, err := validObject(src)
	if err != nil {
		return nil, err
	}
	p := responsesParser{Builder: source.NewBuilder(src), body: Body{Body: render.Body{Dialect: ResponsesDialect{}}}}
	var tools, instructions jsonspan.Span
	sc := jsonspan.Scan(src, 0)
	for sc.Open(); sc.Next(); {
		switch string(sc.Name()) {
		case "model":
			p.Conv.Model = p.Interned(sc.Skip())
		case "prompt_cache_key": // a client's own name for the thread
			p.Conv.ID = p.Interned(sc.Skip())
		case "max_output_tokens":
			p.Conv.MaxOutput = integer(sc.Skip().Of(p.Src))
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
	if p.body.List.IsZero() {
		return nil, source.FieldError(0, "input", "missing, want a list of items or a text")
	}
	if !instructions.IsZero() && src[instructions.Start] == '"' {
		p.Conv.Fixed.System = append([]decant.Block{
			{Kind: decant.KindText, Author: decant.AuthorClient, Content: p.Text(instructions)},
		}, p.Conv.Fixed.System...)
	}
	p.Conv.Agent = source.AgentOf(p.Conv.Fixed.System)
	fix(p.Builder, tools)
	return p.body.document(p.Builder), nil
}

type responsesParser struct {
	*source.Builder
	body  Body
	works bool // an item of the model was read
}

// input consumes the list of items, or the one text that may stand in its place.
func (p *responsesParser) input(sc *jsonspan.Scanner) error {
	p.Restart()
	p.works = false
	p.Conv.Fixed.System, p.Conv.Fixed.Tools = nil, nil
	p.body.List, p.body.Bare, p.body.Items = jsonspan.Span{Start: sc.Pos()}, false, nil
	switch sc.Kind() {
	case '"':
		v := sc.Skip()
		p.body.List, p.body.Bare = v, true
		p.body.Items = []render.Item{{Span: v, Owner: p.Start(decant.RoleUser).Number, Content: v}}
		p.Add(decant.Block{Kind: decant.KindText, Content: p.Text(v)}, source.BlockSpan{Span: v, Text: v, Kind: source.BareString})
		return nil
	case '[':
		p.body.Items = make([]render.Item, 0, source.Expected(len(p.Src)))
	default:
		return source.FieldError(sc.Pos(), "input", "want a list of items or a text")
	}
	for sc.Open(); sc.Next(); {
		if sc.Kind() != '{' {
			return source.FieldError(sc.Pos(), source.Indexed("input", len(p.body.Items)), "want an object")
		}
		if err := p.item(sc); err != nil {
			return err
		}
	}
	p.body.List.End = sc.Pos()
	return nil
}

// responseItem is where the known members of an item stand; zero: absent.
type responseItem struct {
	span, kind, role, content, callID, name, arguments, input, action, output, summary, encrypted, tools, other jsonspan.Span
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
	case "tools":
		return &it.tools
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
	kind := p.Interned(it.kind)
	if kind == "" && !it.role.IsZero() {
		kind = "message"
	}
	if Configures(kind, p.Interned(it.role), p.Newest()) {
		p.configure(kind, &it)
		return nil
	}
	if kind == "message" {
		return p.message(&it)
	}
	blk, s := p.block(kind, &it)
	p.works = true
	p.begin(kind, blk.Kind)
	s.Item = p.own(&it)
	p.Add(blk, s)
	return nil
}

// own appends the item to the message under construction and returns its index.
func (p *responsesParser) own(it *responseItem) int {
	p.body.Items = append(p.body.Items, render.Item{Span: it.span, Owner: p.Current().Number, Content: it.content})
	return len(p.body.Items) - 1
}

// begin begins the message that an item without a role belongs to, unless it goes with the last one.
func (p *responsesParser) begin(kind string, k decant.Kind) {
	switch {
	case k == decant.KindResult:
		p.Start(decant.RoleTool)
	case IsCompaction(kind):
		m := p.Start(decant.RoleAssistant)
		m.Fixed, m.Compaction = true, m.Number == 1
	case kind == "compaction_trigger":
		p.Start(decant.RoleUser).Fixed = true
	default:
		p.assistant()
	}
}

// assistant makes sure that the message under construction is one of the assistant.
func (p *responsesParser) assistant() {
	if m := p.Current(); m == nil || m.Role != decant.RoleAssistant || m.Fixed {
		p.Start(decant.RoleAssistant)
	}
}

// message adds an item of type message.
func (p *responsesParser) message(it *responseItem) error {
	switch role := p.Interned(it.role); role {
	case "assistant":
		p.works = true
		p.assistant()
	case "user":
		p.Start(decant.RoleUser)
	default:
		return source.FieldError(it.span.Start, source.Indexed("input", len(p.body.Items))+".role", "want user, assistant, system or developer")
	}
	p.content(it)
	return nil
}

// content adds the content of an item to the message under construction. An item in which the model says one text is that
// block as a whole: its id, its phase and whatever else it has stay with the text.
func (p *responsesParser) content(it *responseItem) {
	at, n := p.own(it), p.Size()
	parts := p.parts(it.content)
	for _, e := range parts {
		e.at.Item = at
		if len(parts) == 1 && e.block.Kind == decant.KindText && p.Current().Role == decant.RoleAssistant {
			e.at.Span, e.at.Kind = it.span, source.WholeItem
		}
		p.Add(e.block, e.at)
	}
	if p.Size() == n {
		p.Add(decant.Block{Kind: decant.KindOpaque}, source.BlockSpan{Span: it.content, Kind: source.NoContent, Item: at})
	}
}

// configure adds an item that configures the model: to the fixed part, or as a message behind the first item of the model.
func (p *responsesParser) configure(kind string, it *responseItem) {
	if p.works {
		p.Start(decant.RoleSystem).Fixed = true
		if kind == "message" {
			p.content(it)
			return
		}
		blk, s := p.block(kind, it)
		s.Item = p.own(it)
		p.Add(blk, s)
		return
	}
	p.body.Items = append(p.body.Items, render.Item{Span: it.span})
	f := &p.Conv.Fixed
	for _, e := range p.parts(it.content) {
		e.block.Author = decant.AuthorClient
		f.System = append(f.System, e.block)
	}
	p.Tools(it.tools)
}

// parts returns the blocks of a message's content.
func (p *responsesParser) parts(v jsonspan.Span) []placed {
	if v.IsZero() {
		return nil
	}
	if p.Src[v.Start] == '"' {
		return []placed{{decant.Block{Kind: decant.KindText, Content: p.Text(v)}, source.BlockSpan{Span: v, Text: v, Kind: source.BareString}}}
	}
	var out []placed
	sc := jsonspan.Scan(p.Src, v.Start)
	for sc.Open(); sc.Next(); {
		out = append(out, nextPart(p.Builder, &sc))
	}
	return out
}

// block returns the block that an item of a type other than message is. Calls whose output is text are
// uses and results; those with an output of another shape, and what the server does itself, are opaque,
// both the call and its output. Their ids keep them together, also with what stands between: a program
// makes calls of its own before its output comes.
func (p *responsesParser) block(kind string, it *responseItem) (decant.Block, source.BlockSpan) {
	s := source.BlockSpan{Span: it.span, Kind: source.WholeItem}
	blk := decant.Block{Author: decant.AuthorModel}
	switch kind {
	case "reasoning":
		blk.Kind, blk.Signed = decant.KindThinking, p.Interned(it.encrypted) != ""
		s.Text = p.reasoning(it)
	case "function_call":
		blk.Kind, s.Text = decant.KindUse, it.arguments
	case "custom_tool_call":
		blk.Kind, s.Text = decant.KindUse, it.input
	case "local_shell_call":
		blk.Kind, s.Text, s.Form = decant.KindUse, it.action, source.FormRaw
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		blk.Kind, blk.Author, blk.Media = decant.KindResult, decant.AuthorTool, source.MediaIn(it.output.Of(p.Src))
		s.Text = it.output
	case "compaction_trigger":
		blk.Kind = decant.KindOpaque // it says nothing
	default:
		blk.Kind, s.Text, s.Form = decant.KindOpaque, it.span, source.FormRaw
	}
	blk.CallID = p.Interned(it.callID)
	if blk.Kind == decant.KindUse || blk.Kind == decant.KindResult {
		blk.Name = p.Interned(it.name)
	}
	if kind == "local_shell_call" {
		blk.Name = "local_shell"
	}
	blk.Content = p.ContentAt(s)
	return blk, s
}

// reasoning returns where the readable part of a reasoning item stands: its content, or else its
// summary, which is an empty list when the server gave none.
func (p *responsesParser) reasoning(it *responseItem) jsonspan.Span {
	for _, v := range []jsonspan.Span{it.content, it.summary} {
		if !v.IsZero() && p.Src[v.Start] == '[' && len(source.Elements(p.Src, v)) > 0 {
			return v
		}
	}
	return jsonspan.Span{}
}
