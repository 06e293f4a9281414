package session

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/request"
	"github.com/decantdev/decant/wire/internal/source"
)

// item reads one item of the Responses API.
func (p *codexParser) item(rec int, v, time jsonspan.Span) {
	m := p.Members(v, "type", "role", "content")
	kind := p.Interned(m[0])
	if kind == "ghost_snapshot" || kind == "" && m[1].IsZero() { // a git commit of the client's, never sent
		return
	}
	if request.Configures(kind, p.Interned(m[1]), p.Newest()) {
		p.configure(rec, v, kind, m, time)
		return
	}
	if said(kind) {
		p.leads = p.leads && !p.Is(m[1], `"assistant"`)
		p.messageItem(rec, v, kind, m, time)
		return
	}
	p.leads = false
	blk, where := p.codexBlock(kind, v)
	role := decant.RoleAssistant
	switch {
	case blk.Kind == decant.KindResult:
		role = decant.RoleTool
	case request.IsCompaction(kind):
		role = decant.RoleUser
		p.compact = p.compact || p.Current() == nil
	}
	if role == decant.RoleUser {
		p.message(role, time)
		p.Current().Fixed = true
	} else {
		p.side(role, time)
	}
	where.Item = p.hold(rec, v, jsonspan.Span{})
	p.Add(blk, where)
}

// said reports whether items of a type hold a message.
func said(kind string) bool { return kind == "message" || kind == "" || kind == "agent_message" }

// configure reads an item that configures the model, with its members type, role and content. The client writes the
// system prompt of the session_meta line once more as an item: it counts once.
func (p *codexParser) configure(rec int, v jsonspan.Span, kind string, m []jsonspan.Span, time jsonspan.Span) {
	if p.leads {
		p.fixed = append(p.fixed, p.holdFixed(rec, v))
		for _, e := range p.List(m[2]) {
			blk, _ := p.codexPart(e)
			if blk.Author = decant.AuthorClient; len(p.base) == 0 || blk.Hash() != p.base[0].Hash() {
				p.Conv.Fixed.System = append(slices.Clip(p.Conv.Fixed.System), blk)
			}
		}
		p.Tools(p.Find(v, "tools"))
		return
	}
	if said(kind) {
		p.messageItem(rec, v, kind, m, time)
		p.Current().Fixed = true
		return
	}
	p.message(decant.RoleSystem, time)
	p.Current().Fixed = true
	blk, where := p.codexBlock(kind, v)
	where.Item = p.hold(rec, v, jsonspan.Span{})
	p.Add(blk, where)
}

// messageItem reads an item of type message: the developer's (system), the user's or the assistant's. A
// message from another agent counts as the client's.
func (p *codexParser) messageItem(rec int, v jsonspan.Span, kind string, m []jsonspan.Span, time jsonspan.Span) {
	role := decant.RoleUser
	switch p.Interned(m[1]) {
	case "assistant":
		role = decant.RoleAssistant
	case "developer", "system":
		role = decant.RoleSystem
	}
	if role == decant.RoleAssistant {
		p.side(role, time)
	} else {
		p.message(role, time)
	}
	at := p.hold(rec, v, m[2])
	if !m[2].IsZero() && p.Src[m[2].Start] == '"' {
		p.Add(decant.Block{Kind: decant.KindText, Content: p.Text(m[2])}, source.BlockSpan{Span: m[2], Text: m[2], Kind: source.BareString, Item: at})
		return
	}
	for _, e := range p.List(m[2]) {
		blk, where := p.codexPart(e)
		if kind == "agent_message" {
			blk.Author = decant.AuthorClient
		}
		where.Kind, where.Item = source.ListPart, at
		p.Add(blk, where)
	}
}

// codexPart reads an element of a message's content.
func (p *codexParser) codexPart(v jsonspan.Span) (decant.Block, source.BlockSpan) {
	sc := jsonspan.Scan(p.Src, v.Start)
	part := source.NextPart(&sc, p.Src)
	s := source.BlockSpan{Span: v}
	switch {
	case part.IsText():
		s.Text = part.Text
		return decant.Block{Kind: decant.KindText, Content: p.Text(part.Text)}, s
	case part.IsMedia():
		return decant.Block{Kind: decant.KindImage, Media: part.Media(p.Src)}, s
	}
	s.Text, s.Form = v, source.FormRaw
	return decant.Block{Kind: decant.KindOpaque, Content: p.Content(v, source.FormRaw), Signed: part.Kind == "encrypted_content"}, s
}

// codexBlock reads an item that is one block: a call, its output, reasoning, or something else, which
// is opaque. Tools that the provider runs leave a call without an id and no output, what a search
// for tools returns has to stay a list of tools, and a program is no call of a tool, so these are opaque as well. Where they have ids,
// those keep the call and its output together.
func (p *codexParser) codexBlock(kind string, v jsonspan.Span) (decant.Block, source.BlockSpan) {
	m := p.Members(v, "call_id", "name", "arguments", "input", "action", "output", "success", "summary", "encrypted_content")
	s := source.BlockSpan{Span: v, Kind: source.WholeItem}
	id := p.Interned(m[0])
	blk := decant.Block{CallID: id}
	switch {
	case kind == "reasoning":
		s.Text = m[7]
		blk.Kind, blk.Signed = decant.KindThinking, !m[8].IsZero() && !source.IsNull(m[8].Of(p.Src))
	case id != "" && kind == "function_call":
		s.Text = m[2]
		blk.Kind, blk.Name = decant.KindUse, p.Interned(m[1])
	case id != "" && kind == "custom_tool_call":
		s.Text = m[3]
		blk.Kind, blk.Name = decant.KindUse, p.Interned(m[1])
	case id != "" && kind == "local_shell_call":
		s.Text, s.Form = m[4], source.FormRaw
		blk.Kind, blk.Name = decant.KindUse, "local_shell"
	case id != "" && (kind == "function_call_output" || kind == "custom_tool_call_output" || kind == "local_shell_call_output"):
		s.Text = m[5]
		if !s.Text.IsZero() && p.Src[s.Text.Start] == '{' {
			s.Form = source.FormRaw
		}
		blk.Kind, blk.Media = decant.KindResult, source.MediaIn(m[5].Of(p.Src))
		blk.Error = p.failed(m[5], m[6])
	default:
		s.Text, s.Form = v, source.FormRaw
		blk = decant.Block{Kind: decant.KindOpaque, CallID: id, Name: kind, Signed: !m[8].IsZero() && !source.IsNull(m[8].Of(p.Src))}
	}
	blk.Content = p.ContentAt(s)
	return blk, s
}

// failed reports whether a call's output says that the command ended with another status than 0.
func (p *codexParser) failed(output, success jsonspan.Span) bool {
	if p.Is(success, "false") {
		return true
	}
	head := output.Of(p.Src)
	head = head[:min(len(head), 300)]
	for _, mark := range []string{"Process exited with code ", "Exit code: "} {
		_, rest, ok := bytes.Cut(head, []byte(mark))
		if !ok {
			continue
		}
		digits := bytes.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
		if digits > 0 {
			code, err := strconv.Atoi(string(rest[:digits]))
			return err == nil && code != 0
		}
	}
	return false
}
