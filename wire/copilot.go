package wire

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/typed"
)

// parseCopilot reads the events of a session of GitHub's Copilot CLI.
//
// Every line is {type, data, id, timestamp, parentId}. user.message holds what the user typed (what the
// client adds to it for the model stands beside it and is not read), assistant.message an answer with
// its calls, tool.execution_complete a result. Events of sub-agents name the call that they belong to
// and are no part of the conversation.
func parseCopilot(src []byte) (*parsed, error) {
	s, err := openLog(src, typed.Copilot)
	if err != nil {
		return nil, err
	}
	p := copilotParser{export: s}
	for i := range p.records {
		p.event(i)
	}
	if p.side.n > 0 {
		p.note(p.side.first, "%d events of sub-agents from here on are not part of this conversation", p.side.n)
	}
	return p.finished()
}

type copilotParser struct {
	*export
	side tally // events of sub-agents
}

// event reads one line.
func (p *copilotParser) event(rec int) {
	m := p.members(p.records[rec].at, "type", "data", "timestamp")
	data := m[1]
	if p.decoded(p.find(data, "parentToolCallId")) != "" {
		p.side.add(rec)
		return
	}
	switch p.interned(m[0]) {
	case "session.start":
		p.conv.ID, p.conv.Model = p.decoded(p.find(data, "sessionId")), p.interned(p.find(data, "selectedModel"))
	case "session.model_change":
		p.conv.Model = p.interned(p.find(data, "newModel"))
	case "system.message":
		p.instruct(p.find(data, "content"))
	case "user.message":
		p.begin(decant.RoleUser, m[2])
		p.put(decant.Block{Kind: decant.KindText}, p.find(data, "content"))
	case "assistant.message":
		p.answer(data, m[2])
	case "tool.execution_complete":
		p.result(data, m[2])
	case "session.compaction_complete":
		p.compacted(data, m[2])
	}
}

// begin starts a message.
func (p *copilotParser) begin(role decant.Role, time jsonspan.Span) *decant.Message {
	m := p.start(role)
	m.Time = p.time(time)
	return m
}

// answer adds an answer of the model. One without a word and without a call is none.
func (p *copilotParser) answer(data, time jsonspan.Span) {
	m := p.members(data, "content", "toolRequests", "reasoningText", "reasoningOpaque", "model", "messageId")
	if p.blank(m[0]) && p.blank(m[1]) {
		return
	}
	msg := p.begin(decant.RoleAssistant, time)
	msg.ID, msg.Model = p.decoded(m[5]), p.interned(m[4])
	if msg.Model != "" {
		p.conv.Model = msg.Model
	}
	p.put(decant.Block{Kind: decant.KindThinking, Signed: !p.blank(m[3])}, m[2])
	p.put(decant.Block{Kind: decant.KindText}, m[0])
	for _, call := range p.list(m[1]) {
		c := p.members(call, "toolCallId", "name", "arguments")
		p.put(decant.Block{Kind: decant.KindUse, CallID: p.interned(c[0]), Name: p.interned(c[1])}, c[2])
	}
}

// result adds what a call returned, or why it failed.
func (p *copilotParser) result(data, time jsonspan.Span) {
	m := p.members(data, "toolCallId", "success", "result", "error")
	text := p.find(m[2], "content")
	if p.blank(text) {
		text = p.find(m[3], "message")
	}
	p.begin(decant.RoleTool, time)
	p.add(decant.Block{Kind: decant.KindResult, CallID: p.interned(m[0]), Error: p.is(m[1], "false"), Content: p.text(text)},
		blockSpan{span: data, text: text})
}

// compacted adds the summary that the client put in place of what was before it.
func (p *copilotParser) compacted(data, time jsonspan.Span) {
	if text := p.find(data, "summaryContent"); !p.blank(text) {
		p.begin(decant.RoleUser, time).Compaction = true
		p.put(decant.Block{Kind: decant.KindText, Author: decant.AuthorClient}, text)
	}
}
