package export

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/typed"
	"github.com/decantdev/decant/wire/internal/jsonedit"
	"github.com/decantdev/decant/wire/internal/parsing"
)

// ParseOpenHands reads the history of an OpenHands agent: a list of events, or an object with one under
// "history", of which a file may hold one a line; then the first counts.
//
// An action of the agent's with tool_call_metadata is a call of the answer that the metadata repeat, an
// observation with them its result. One answer may have several calls, whose results stand between them.
func ParseOpenHands(src []byte) (*parsing.Document, error) {
	s, list, err := dialog(src, typed.OpenHands, "history")
	if err != nil {
		return nil, err
	}
	events := s.List(list)
	p := openHandsParser{export: s, calls: map[string][]jsonspan.Span{}}
	for _, e := range events {
		p.collect(e)
	}
	for _, e := range events {
		p.event(e)
	}
	p.flush()
	return p.finished()
}

type openHandsParser struct {
	*export
	calls   map[string][]jsonspan.Span // of each answer, by its id, the actions that it asked for
	done    map[string]bool            // answers that were added
	results []jsonspan.Span            // observations of the newest answer's calls
}

// collect notes which answer an action belongs to.
func (p *openHandsParser) collect(e jsonspan.Span) {
	m := p.Members(e, "action", "tool_call_metadata")
	if !m[0].IsZero() && !jsonedit.IsNull(m[1].Of(p.Src)) {
		id := p.answerID(m[1])
		p.calls[id] = append(p.calls[id], e)
	}
}

// answerID returns the id of the answer that metadata repeat.
func (p *openHandsParser) answerID(meta jsonspan.Span) string {
	return p.Decoded(p.Find(p.Find(meta, "model_response"), "id"))
}

// event adds what an event holds.
func (p *openHandsParser) event(e jsonspan.Span) {
	m := p.Members(e, "source", "action", "observation", "args", "content", "tool_call_metadata", "timestamp")
	meta := m[5]
	called := !jsonedit.IsNull(meta.Of(p.Src))
	switch action := p.Interned(m[1]); {
	case action == "system":
		p.instruct(p.Find(m[3], "content"))
		p.Tools(p.Find(m[3], "tools"))
	case action != "" && called:
		p.answer(meta, m[6])
	case action == "message":
		p.flush()
		role := decant.RoleUser
		if p.Is(m[0], `"agent"`) {
			role = decant.RoleAssistant
		}
		p.Start(role).Time = p.Time(m[6])
		p.put(decant.Block{Kind: decant.KindText}, p.Find(m[3], "content"))
	case !m[2].IsZero() && called:
		p.results = append(p.results, e)
	}
}

// answer adds the answer that an action belongs to, with all of its calls, unless it was added before.
func (p *openHandsParser) answer(meta, time jsonspan.Span) {
	id := p.answerID(meta)
	if p.done[id] && id != "" {
		return
	}
	p.flush()
	if p.done == nil {
		p.done = map[string]bool{}
	}
	p.done[id] = true
	res := p.Members(p.Find(meta, "model_response"), "model", "usage", "choices")
	msg := p.Start(decant.RoleAssistant)
	msg.ID, msg.Model, msg.Time, msg.Usage = id, p.Interned(res[0]), p.Time(time), p.usage(res[1])
	p.Conv.Model = msg.Model
	var said jsonspan.Span
	if choices := p.List(res[2]); len(choices) > 0 {
		said = p.Find(choices[0], "message")
	}
	p.put(decant.Block{Kind: decant.KindText}, p.Find(said, "content"))
	asked := p.List(p.Find(said, "tool_calls"))
	for _, action := range p.calls[id] {
		p.call(action, asked)
	}
}

// call adds the call that an action carries out. Its arguments stand in the answer; the action's own
// hold more than the model said.
func (p *openHandsParser) call(action jsonspan.Span, asked []jsonspan.Span) {
	m := p.Members(action, "tool_call_metadata", "args")
	d := p.Members(m[0], "function_name", "tool_call_id")
	args := m[1]
	for _, c := range asked {
		if p.Is(p.Find(c, "id"), string(d[1].Of(p.Src))) {
			args = p.Find(p.Find(c, "function"), "arguments")
		}
	}
	p.put(decant.Block{Kind: decant.KindUse, CallID: p.Interned(d[1]), Name: p.Interned(d[0])}, args)
}

// flush adds the results of the newest answer's calls.
func (p *openHandsParser) flush() {
	for _, e := range p.results {
		m := p.Members(e, "content", "tool_call_metadata", "success", "extras", "timestamp")
		code := p.Find(p.Find(m[3], "metadata"), "exit_code")
		failed := p.Is(m[2], "false") || !code.IsZero() && !p.Is(code, "0")
		d := p.Members(m[1], "function_name", "tool_call_id")
		p.Start(decant.RoleTool).Time = p.Time(m[4])
		p.Add(decant.Block{Kind: decant.KindResult, CallID: p.Interned(d[1]), Name: p.Interned(d[0]), Error: failed, Content: p.Text(m[0])},
			parsing.BlockSpan{Span: e, Text: m[0]})
	}
	p.results = p.results[:0]
}

// usage reads the counts of an answer. Those of the prompt include what was read from the cache.
func (p *openHandsParser) usage(v jsonspan.Span) *decant.Usage {
	m := p.Members(v, "prompt_tokens", "completion_tokens", "prompt_tokens_details")
	cached := p.Number(p.Find(m[2], "cached_tokens"))
	u := decant.Usage{Input: max(0, p.Number(m[0])-cached), CacheRead: cached, Output: p.Number(m[1])}
	if u == (decant.Usage{}) {
		return nil
	}
	return &u
}
