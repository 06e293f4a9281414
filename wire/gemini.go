package wire

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/typed"
)

// parseGemini reads a chat of the Gemini CLI: an object with a list of messages, or, in newer versions,
// lines that hold a message each, of which a later one with the same id counts, and lines that take
// messages back.
//
// A message of type gemini holds an answer and, under toolCalls, its calls together with their results.
// Messages of other types but user (info, error) were shown to the user only.
func parseGemini(src []byte) (*parsed, error) {
	s, err := openValue(src, typed.Gemini)
	lines := err != nil
	if lines {
		s, err = openLog(src, typed.Gemini)
	}
	if err != nil {
		return nil, err
	}
	p := geminiParser{export: s}
	whole := outer(s.src)
	messages := p.list(p.find(whole, "messages"))
	if lines {
		whole, messages = p.records[0].at, p.lines()
	}
	p.conv.ID = p.decoded(p.find(whole, "sessionId"))
	for _, m := range messages {
		p.message(m)
	}
	return p.finished()
}

type geminiParser struct{ *export }

// lines returns the messages of a file of lines that still stand, in order.
func (p *geminiParser) lines() (out []jsonspan.Span) {
	place := map[string]int{} // of the message with an id
	for i := range p.records {
		at := p.records[i].at
		m := p.members(at, "id", "$rewindTo", "$set", "type")
		if back := p.decoded(m[1]); back != "" {
			out = out[:min(len(out), place[back])] // an id that is not known takes all back, as for the client
			continue
		}
		id := p.decoded(m[0])
		if id == "" || m[3].IsZero() {
			continue
		}
		if k, ok := place[id]; ok && k < len(out) && p.decoded(p.find(out[k], "id")) == id {
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
	m := p.members(v, "type", "content", "parts", "timestamp")
	content := m[1]
	if p.blank(content) {
		content = m[2]
	}
	switch p.interned(m[0]) {
	case "user":
		p.start(decant.RoleUser).Time = p.time(m[3])
		p.parts(content)
	case "gemini", "model":
		p.answer(v, content, m[3])
	}
}

// parts adds a content: a string, or a list of parts.
func (p *geminiParser) parts(v jsonspan.Span) {
	if !v.IsZero() && p.src[v.Start] == '"' {
		p.put(decant.Block{Kind: decant.KindText}, v)
		return
	}
	for _, part := range p.list(v) {
		m := p.members(part, "text", "inlineData")
		p.put(decant.Block{Kind: decant.KindText}, m[0])
		if !m[1].IsZero() {
			d := p.members(m[1], "mimeType", "data")
			p.add(decant.Block{Kind: decant.KindImage, Media: decant.Media{Type: p.interned(d[0]), Count: 1, Bytes: d[1].Len() / 4 * 3}}, blockSpan{span: part})
		}
	}
}

// answer adds an answer of the model, and behind it the results of its calls. One without a word and
// without a call is none.
func (p *geminiParser) answer(v, content, time jsonspan.Span) {
	m := p.members(v, "model", "tokens", "thoughts", "toolCalls", "id")
	if p.blank(content) && p.blank(m[3]) {
		return
	}
	msg := p.start(decant.RoleAssistant)
	msg.Time, msg.ID, msg.Model, msg.Usage = p.time(time), p.decoded(m[4]), p.interned(m[0]), p.usage(m[1])
	if msg.Model != "" {
		p.conv.Model = msg.Model
	}
	for _, t := range p.list(m[2]) {
		p.put(decant.Block{Kind: decant.KindThinking}, p.find(t, "description"))
	}
	p.parts(content)
	calls := p.list(m[3])
	for _, c := range calls {
		d := p.members(c, "id", "name", "args")
		p.put(decant.Block{Kind: decant.KindUse, CallID: p.interned(d[0]), Name: p.interned(d[1])}, d[2])
	}
	for _, c := range calls {
		p.result(c)
	}
}

// result adds the result of a call, if there is one.
func (p *geminiParser) result(call jsonspan.Span) {
	m := p.members(call, "id", "name", "result", "resultDisplay", "status", "timestamp")
	text := m[3]
	for _, part := range p.list(m[2]) {
		r := p.find(p.find(part, "functionResponse"), "response")
		for _, name := range []string{"output", "error"} {
			if v := p.find(r, name); !p.blank(v) {
				text = v
			}
		}
	}
	if text.IsZero() || p.src[text.Start] != '"' {
		return
	}
	p.start(decant.RoleTool).Time = p.time(m[5])
	failed := p.is(m[4], `"error"`) || p.is(m[4], `"cancelled"`)
	p.put(decant.Block{Kind: decant.KindResult, CallID: p.interned(m[0]), Name: p.interned(m[1]), Error: failed}, text)
}

// usage reads the counts of an answer. Those of the prompt include what was read from the cache.
func (p *geminiParser) usage(v jsonspan.Span) *decant.Usage {
	m := p.members(v, "input", "cached", "output", "thoughts")
	u := decant.Usage{CacheRead: p.number(m[1]), Output: p.number(m[2]) + p.number(m[3])}
	u.Input = max(0, p.number(m[0])-u.CacheRead)
	if u == (decant.Usage{}) {
		return nil
	}
	return &u
}
