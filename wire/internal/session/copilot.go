package session

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/typed"
	"github.com/decantdev/decant/wire/internal/source"
)

// ParseCopilot reads the events of a session of GitHub's Copilot CLI.
//
// Every line is {type, data, id, timestamp, parentId}. user.message holds what the user typed (what the
// client adds to it for the model stands beside it and is not read), assistant.message an answer with
// its calls, tool.execution_complete a result. Events of sub-agents name the call that they belong to
// and are no part of the conversation.
func ParseCopilot(src []byte) (*source.Document, error) {
	s, err := openLog(src, typed.Copilot)
	if err != nil {
		return nil, err
	}
	p := copilotParser{export: s}
	for i := range p.Records {
		p.event(i)
	}
	p.NoteAll(p.side, "events of sub-agents from here on are not part of this conversation")
	return p.finished()
}

type copilotParser struct {
	*export
	side source.Tally // events of sub-agents
}

// event reads one line.
func (p *copilotParser) event(rec int) {
	m := p.Members(p.Records[rec].At, "type", "data", "timestamp")
	data := m[1]
	if p.Decoded(p.Find(data, "parentToolCallId")) != "" {
		p.side.Add(rec)
		return
	}
	switch p.Interned(m[0]) {
	case "session.start":
		p.Conv.ID, p.Conv.Model = p.Decoded(p.Find(data, "sessionId")), p.Interned(p.Find(data, "selectedModel"))
	case "session.model_change":
		p.Conv.Model = p.Interned(p.Find(data, "newModel"))
	case "system.message":
		p.instruct(p.Find(data, "content"))
	case "user.message":
		p.begin(decant.RoleUser, m[2])
		p.put(decant.Block{Kind: decant.KindText}, p.Find(data, "content"))
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
	m := p.Start(role)
	m.Time = p.Time(time)
	return m
}

// answer adds an answer of the model. One without a word and without a call is none.
func (p *copilotParser) answer(data, time jsonspan.Span) {
	m := p.Members(data, "content", "toolRequests", "reasoningText", "reasoningOpaque", "model", "messageId")
	if p.blank(m[0]) && p.blank(m[1]) {
		return
	}
	msg := p.begin(decant.RoleAssistant, time)
	msg.ID, msg.Model = p.Decoded(m[5]), p.Interned(m[4])
	if msg.Model != "" {
		p.Conv.Model = msg.Model
	}
	p.put(decant.Block{Kind: decant.KindThinking, Signed: !p.blank(m[3])}, m[2])
	p.put(decant.Block{Kind: decant.KindText}, m[0])
	for _, call := range p.List(m[1]) {
		c := p.Members(call, "toolCallId", "name", "arguments")
		p.put(decant.Block{Kind: decant.KindUse, CallID: p.Interned(c[0]), Name: p.Interned(c[1])}, c[2])
	}
}

// result adds what a call returned, or why it failed.
func (p *copilotParser) result(data, time jsonspan.Span) {
	m := p.Members(data, "toolCallId", "success", "result", "error")
	text := p.Find(m[2], "content")
	if p.blank(text) {
		text = p.Find(m[3], "message")
	}
	p.begin(decant.RoleTool, time)
	p.Add(decant.Block{Kind: decant.KindResult, CallID: p.Interned(m[0]), Error: p.Is(m[1], "false"), Content: p.Text(text)},
		source.BlockSpan{Span: data, Text: text})
}

// compacted adds the summary that the client put in place of what was before it.
func (p *copilotParser) compacted(data, time jsonspan.Span) {
	if text := p.Find(data, "summaryContent"); !p.blank(text) {
		p.begin(decant.RoleUser, time).Compaction = true
		p.put(decant.Block{Kind: decant.KindText, Author: decant.AuthorClient}, text)
	}
}
