package session

import (
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/typed"
	"github.com/decantdev/decant/wire/internal/source"
)

// ParseOpencode reads what "opencode export" writes: {info, messages: [{info, parts}]}.
//
// A message of the assistant holds one answer, or several where steps are marked; a part of type tool
// holds a call together with its result. A compaction is a message of the user's with a part of that
// type; what it stands for is in the answer behind it.
func ParseOpencode(src []byte) (*source.Document, error) {
	s, err := openValue(src, typed.Opencode)
	if err != nil {
		return nil, err
	}
	p := opencodeParser{export: s}
	whole := outer(s.Src)
	p.Conv.ID = p.Decoded(p.Find(p.Find(whole, "info"), "id"))
	for _, m := range p.List(p.Find(whole, "messages")) {
		p.message(m)
	}
	return p.finished()
}

type opencodeParser struct {
	*export
	results []jsonspan.Span // parts whose results are still to be added
}

// message adds a message.
func (p *opencodeParser) message(v jsonspan.Span) {
	m := p.Members(v, "info", "parts")
	info := p.Members(m[0], "role", "time")
	created := p.Find(info[1], "created")
	switch p.Interned(info[0]) {
	case "user":
		p.Start(decant.RoleUser).Time = p.Time(created)
		for _, part := range p.List(m[1]) {
			p.said(part)
		}
	case "assistant":
		p.answer(m[0], p.List(m[1]), created)
	}
}

// said adds a part of what the user said.
func (p *opencodeParser) said(part jsonspan.Span) {
	m := p.Members(part, "type", "text", "synthetic", "ignored", "mime", "url")
	switch p.Interned(m[0]) {
	case "text":
		blk := decant.Block{Kind: decant.KindText}
		if p.Is(m[2], "true") {
			blk.Author = decant.AuthorClient
		}
		if !p.Is(m[3], "true") {
			p.put(blk, m[1])
		}
	case "file":
		mime := p.Interned(m[4])
		if mime != "text/plain" && !strings.HasPrefix(mime, "application/x-directory") { // these are in a text beside it
			p.Add(decant.Block{Kind: decant.KindImage, Media: decant.Media{Type: mime, Count: 1, Bytes: m[5].Len() / 4 * 3}}, source.BlockSpan{Span: part})
		}
	case "compaction":
		p.Current().Compaction = true
		p.Add(decant.Block{Kind: decant.KindText, Author: decant.AuthorClient, Content: decant.Text("What did we do so far?")}, source.BlockSpan{Span: part})
	}
}

// answer adds an answer of the model, or the steps of one, each followed by the results of its calls.
func (p *opencodeParser) answer(info jsonspan.Span, parts []jsonspan.Span, created jsonspan.Span) {
	m := p.Members(info, "id", "modelID", "tokens")
	open := false
	begin := func() {
		if !open {
			msg := p.Start(decant.RoleAssistant)
			msg.ID, msg.Model, msg.Time = p.Decoded(m[0]), p.Interned(m[1]), p.Time(created)
			p.Conv.Model, open = msg.Model, true
		}
	}
	for _, part := range parts {
		d := p.Members(part, "type", "text", "tool", "callID", "state")
		switch p.Interned(d[0]) {
		case "text", "reasoning":
			if !p.blank(d[1]) {
				begin()
				p.put(decant.Block{Kind: kindOfPart(p.Interned(d[0]))}, d[1])
			}
		case "tool":
			begin()
			p.put(decant.Block{Kind: decant.KindUse, CallID: p.Interned(d[3]), Name: p.Interned(d[2])}, p.Find(d[4], "input"))
			p.results = append(p.results, part)
		case "step-start":
			if len(p.results) > 0 {
				p.returned()
				open = false
			}
		}
	}
	if open {
		p.Current().Usage = p.usage(m[2])
	}
	p.returned()
}

// kindOfPart returns the kind of a part that the model wrote.
func kindOfPart(part string) decant.Kind {
	if part == "reasoning" {
		return decant.KindThinking
	}
	return decant.KindText
}

// returned adds the results that are still to be added.
func (p *opencodeParser) returned() {
	for _, part := range p.results {
		m := p.Members(part, "callID", "tool", "state")
		st := p.Members(m[2], "output", "error", "time", "status")
		blk := decant.Block{Kind: decant.KindResult, CallID: p.Interned(m[0]), Name: p.Interned(m[1]), Error: p.Is(st[3], `"error"`)}
		text := st[0]
		if p.blank(text) {
			text = st[1]
		}
		switch compacted := p.Find(st[2], "compacted"); {
		case p.Is(st[3], `"pending"`), p.Is(st[3], `"running"`):
			continue // it was interrupted
		case !compacted.IsZero():
			blk.Content = decant.Text("[Old tool result content cleared]") // as the client sends it
		default:
			blk.Content = p.Text(text)
		}
		p.Start(decant.RoleTool)
		p.Add(blk, source.BlockSpan{Span: part, Text: text})
	}
	p.results = p.results[:0]
}

// usage reads the counts of an answer.
func (p *opencodeParser) usage(v jsonspan.Span) *decant.Usage {
	m := p.Members(v, "input", "output", "reasoning", "cache")
	c := p.Members(m[3], "read", "write")
	u := decant.Usage{Input: p.Number(m[0]), Output: p.Number(m[1]) + p.Number(m[2]), CacheRead: p.Number(c[0]), CacheWrite: p.Number(c[1])}
	if u == (decant.Usage{}) {
		return nil
	}
	return &u
}
