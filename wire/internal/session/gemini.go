package session

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/typed"
	"github.com/decantdev/decant/wire/internal/source"
)

// ParseGemini reads a chat of the Gemini CLI: an object with a list of messages, or, in newer versions,
// lines that hold a message each, of which a later one with the same id counts, and lines that take
// messages back.
//
// A message of type gemini holds an answer and, under toolCalls, its calls together with their results.
// Messages of other types but user (info, error) were shown to the user only.
func ParseGemini(src []byte) (*source.Document, error) {
	s, err := openValue(src, typed.Gemini)
	lines := err != nil
	if lines {
		s, err = openLog(src, typed.Gemini)
	}
	if err != nil {
		return nil, err
	}
	p := geminiParser{export: s}
	whole := outer(s.Src)
	messages := p.List(p.Find(whole, "messages"))
	if lines {
		whole, messages = p.Records[0].At, p.lines()
	}
	p.Conv.ID = p.Decoded(p.Find(whole, "sessionId"))
	for _, m := range messages {
		p.message(m)
	}
	return p.finished()
}

type geminiParser struct{ *export }

// lines returns the messages of a file of lines that still stand, in order.
func (p *geminiParser) lines() (out []jsonspan.Span) {
	place := map[string]int{} // of the message with an id
	for i := range p.Records {
		at := p.Records[i].At
		m := p.Members(at, "id", "$rewindTo", "$set", "type")
		if back := p.Decoded(m[1]); back != "" {
			out = out[:min(len(out), place[back])] // an id that is not known takes all back, as for the client
			continue
		}
		id := p.Decoded(m[0])
		if id == "" || m[3].IsZero() {
			continue
		}
		if k, ok := place[id]; ok && k < len(out) && p.Decoded(p.Find(out[k], "id")) == id {
			out[k] = at
			continue
		}
		place[id] = len(out)
		out = append(out, at)
	}
	return out
}

// message adds a message.
func (p *geminiParser) message(v jsonspan.Span) {
	m := p.Members(v, "type", "content", "parts", "timestamp")
	content := m[1]
	if p.blank(content) {
		content = m[2]
	}
	switch p.Interned(m[0]) {
	case "user":
		p.Start(decant.RoleUser).Time = p.Time(m[3])
		p.parts(content)
	case "gemini", "model":
		p.answer(v, content, m[3])
	}
}

// parts adds a content: a string, or a list of parts.
func (p *geminiParser) parts(v jsonspan.Span) {
	if !v.IsZero() && p.Src[v.Start] == '"' {
		p.put(decant.Block{Kind: decant.KindText}, v)
		return
	}
	for _, part := range p.List(v) {
		m := p.Members(part, "text", "inlineData")
		p.put(decant.Block{Kind: decant.KindText}, m[0])
		if !m[1].IsZero() {
			d := p.Members(m[1], "mimeType", "data")
			p.Add(decant.Block{Kind: decant.KindImage, Media: decant.Media{Type: p.Interned(d[0]), Count: 1, Bytes: d[1].Len() / 4 * 3}}, source.BlockSpan{Span: part})
		}
	}
}

// answer adds an answer of the model, and behind it the results of its calls. One without a word and
// without a call is none.
func (p *geminiParser) answer(v, content, time jsonspan.Span) {
	m := p.Members(v, "model", "tokens", "thoughts", "toolCalls", "id")
	if p.blank(content) && p.blank(m[3]) {
		return
	}
	msg := p.Start(decant.RoleAssistant)
	msg.Time, msg.ID, msg.Model, msg.Usage = p.Time(time), p.Decoded(m[4]), p.Interned(m[0]), p.usage(m[1])
	if msg.Model != "" {
		p.Conv.Model = msg.Model
	}
	for _, t := range p.List(m[2]) {
		p.put(decant.Block{Kind: decant.KindThinking}, p.Find(t, "description"))
	}
	p.parts(content)
	calls := p.List(m[3])
	for _, c := range calls {
		d := p.Members(c, "id", "name", "args")
		p.put(decant.Block{Kind: decant.KindUse, CallID: p.Interned(d[0]), Name: p.Interned(d[1])}, d[2])
	}
	for _, c := range calls {
		p.result(c)
	}
}

// result adds the result of a call, if there is one.
func (p *geminiParser) result(call jsonspan.Span) {
	m := p.Members(call, "id", "name", "result", "resultDisplay", "status", "timestamp")
	text := m[3]
	for _, part := range p.List(m[2]) {
		r := p.Find(p.Find(part, "functionResponse"), "response")
		for _, name := range []string{"output", "error"} {
			if v := p.Find(r, name); !p.blank(v) {
				text = v
			}
		}
	}
	if text.IsZero() || p.Src[text.Start] != '"' {
		return
	}
	p.Start(decant.RoleTool).Time = p.Time(m[5])
	failed := p.Is(m[4], `"error"`) || p.Is(m[4], `"cancelled"`)
	p.put(decant.Block{Kind: decant.KindResult, CallID: p.Interned(m[0]), Name: p.Interned(m[1]), Error: failed}, text)
}

// usage reads the counts of an answer. Those of the prompt include what was read from the cache.
func (p *geminiParser) usage(v jsonspan.Span) *decant.Usage {
	m := p.Members(v, "input", "cached", "output", "thoughts")
	u := decant.Usage{CacheRead: p.Number(m[1]), Output: p.Number(m[2]) + p.Number(m[3])}
	u.Input = max(0, p.Number(m[0])-u.CacheRead)
	if u == (decant.Usage{}) {
		return nil
	}
	return &u
}
