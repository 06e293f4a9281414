package session

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/source"
)

// message adds the message of an entry of type message.
func (p *piParser) message(e *piEntry) {
	m := p.Members(e.at[piMessage], "role", "content", "model", "usage", "responseId", "toolCallId", "toolName", "isError", "excludeFromContext")
	switch p.Interned(m[0]) {
	case "user":
		p.begin(e, decant.RoleUser, m[1])
		p.content(e, m[1], "")
	case "custom", "hookMessage":
		p.begin(e, decant.RoleUser, m[1])
		p.content(e, m[1], decant.AuthorClient)
	case "assistant":
		p.assistant(e, m)
	case "toolResult", "tool":
		p.begin(e, decant.RoleTool, jsonspan.Span{})
		p.Add(decant.Block{
			Kind: decant.KindResult, CallID: p.Interned(m[5]), Name: p.Interned(m[6]), Error: p.Is(m[7], "true"),
			Content: p.Text(m[1]), Media: source.MediaIn(m[1].Of(p.Src)),
		}, source.BlockSpan{Span: e.at[piMessage], Text: m[1], Kind: source.WholeItem, Item: len(p.items) - 1})
	case "bashExecution":
		if !p.Is(m[8], "true") {
			p.shell(e)
		}
	case "branchSummary", "compactionSummary":
		e.at[piSummary] = p.Find(e.at[piMessage], "summary")
		p.summary(e)
	}
}

// assistant adds an answer of the model. One that was aborted before its first word has no blocks
// and is left out, as the client leaves it out.
func (p *piParser) assistant(e *piEntry, m []jsonspan.Span) {
	if model := p.Interned(m[2]); model != "" {
		p.Conv.Model = model
	}
	if len(p.List(m[1])) == 0 && (m[1].IsZero() || p.Src[m[1].Start] != '"') {
		return
	}
	msg := p.begin(e, decant.RoleAssistant, m[1])
	msg.ID, msg.Model = p.Decoded(m[4]), p.Interned(m[2])
	msg.Usage = p.usage(m[3])
	p.content(e, m[1], "")
}

// usage reads a usage object; nil when nothing was used, as in an answer that was aborted.
func (p *piParser) usage(v jsonspan.Span) *decant.Usage {
	m := p.Members(v, "input", "cacheRead", "cacheWrite", "output")
	u := decant.Usage{Input: p.Number(m[0]), CacheRead: p.Number(m[1]), CacheWrite: p.Number(m[2]), Output: p.Number(m[3])}
	if u == (decant.Usage{}) {
		return nil
	}
	return &u
}

// shell adds a command that the user ran himself, with what it printed. The model reads both in one
// text; here the command is a text of the client's and its output another.
func (p *piParser) shell(e *piEntry) {
	p.begin(e, decant.RoleUser, jsonspan.Span{})
	for _, text := range p.Members(e.at[piMessage], "command", "output") {
		if p.Decoded(text) == "" {
			continue
		}
		p.Add(decant.Block{Kind: decant.KindText, Author: decant.AuthorClient, Content: p.Text(text)},
			source.BlockSpan{Span: text, Text: text, Kind: source.MemberValue, Item: len(p.items) - 1})
	}
}

// content adds the blocks of a message. An author that is given wrote all its texts.
func (p *piParser) content(e *piEntry, v jsonspan.Span, author decant.Author) {
	at := len(p.items) - 1
	if !v.IsZero() && p.Src[v.Start] == '"' {
		p.Add(decant.Block{Kind: decant.KindText, Author: author, Content: p.Text(v)}, source.BlockSpan{Span: v, Text: v, Kind: source.BareString, Item: at})
		return
	}
	for _, elem := range p.List(v) {
		blk, where := p.block(elem)
		if blk.Kind == decant.KindText && author != "" {
			blk.Author = author
		}
		where.Kind, where.Item = source.ListPart, at
		p.Add(blk, where)
	}
}

// block reads an element of a message's content.
func (p *piParser) block(v jsonspan.Span) (decant.Block, source.BlockSpan) {
	m := p.Members(v, "type", "text", "thinking", "thinkingSignature", "id", "name", "arguments")
	s := source.BlockSpan{Span: v}
	var blk decant.Block
	switch p.Interned(m[0]) {
	case "text":
		s.Text = m[1]
		blk = decant.Block{Kind: decant.KindText}
	case "thinking":
		s.Text = m[2]
		blk = decant.Block{Kind: decant.KindThinking, Signed: p.Decoded(m[3]) != ""}
	case "toolCall":
		s.Text, s.Form = m[6], source.FormRaw
		blk = decant.Block{Kind: decant.KindUse, CallID: p.Interned(m[4]), Name: p.Interned(m[5])}
	case "image":
		sc := jsonspan.Scan(p.Src, v.Start)
		part := source.NextPart(&sc, p.Src)
		return decant.Block{Kind: decant.KindImage, Media: part.Media(p.Src)}, s
	default:
		s.Text, s.Form = v, source.FormRaw
		blk = decant.Block{Kind: decant.KindOpaque}
	}
	blk.Content = p.ContentAt(s)
	return blk, s
}
