package session

import (
	"bytes"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/typed"
	"github.com/decantdev/decant/wire/internal/source"
)

// ParseCodex reads a rollout file of the Codex command line.
//
// Every line is {timestamp, type, payload}. Lines of type response_item hold an item of the Responses
// API each; neighbouring items of the assistant's side (text, reasoning, calls) are one message, as
// are neighbouring results. session_meta holds the system prompt, turn_context the model. A
// token_count event tells the usage of the request that the newest answer came from.
//
// Items that configure the model (see [request.Configures]) are the fixed part where they stand before the first item of
// the model in a history, and messages that every view has behind that.
//
// A compacted line replaces the history so far by the items in its replacement_history, which become
// messages of their own; the first of them carries the mark [decant.Message.Compaction]. In older
// files it has only a summary. A thread_rolled_back event takes back the newest turns: their
// messages are left out.
func ParseCodex(src []byte) (*source.Document, error) {
	s, err := openSession(src, typed.Codex)
	if err != nil {
		return nil, err
	}
	p := codexParser{session: s, answer: -1, leads: true}
	back := p.rolledBack()
	for i := range p.Records {
		p.record(i, back[i])
	}
	if len(p.Conv.Messages) == 0 && !p.meta {
		return nil, fmt.Errorf("no line holds an item of a conversation: %w", source.ErrFormat)
	}
	p.Conv.Fixed.Version = source.Version(&p.Conv.Fixed)
	return s.close(codex{p.fixed, p.numbered}), nil
}

type codexParser struct {
	*session
	answer  int  // index of the newest assistant message without usage, -1: none
	compact bool // the next message is the first of a replaced history
	meta    bool // a session_meta line was read

	leads bool           // no item of the model was read of this history
	fixed []int          // those items
	base  []decant.Block // the system prompt in the session_meta line

	numbered bool // lines have ordinals
}

// record reads one line. A line that was rolled back keeps its place and adds nothing.
func (p *codexParser) record(i int, back bool) {
	m := p.Members(p.Records[i].At, "type", "payload", "timestamp", "ordinal")
	payload := m[1]
	p.numbered = p.numbered || !m[3].IsZero()
	switch p.Interned(m[0]) {
	case "session_meta":
		p.sessionMeta(payload)
	case "turn_context":
		if model := p.Interned(p.Find(payload, "model")); model != "" {
			p.Conv.Model = model
		}
	case "event_msg":
		p.tokens(payload)
	case "compacted":
		if !back {
			p.compacted(i, payload, m[2])
		}
	case "response_item":
		if !back {
			p.item(i, payload, m[2])
		}
	}
}

// sessionMeta reads the line that a file begins with. A forked session repeats its ancestors' lines
// behind its own, so the first counts.
func (p *codexParser) sessionMeta(payload jsonspan.Span) {
	if p.meta {
		return
	}
	p.meta = true
	m := p.Members(payload, "id", "base_instructions", "instructions", "source")
	p.Conv.ID = p.Decoded(m[0])
	p.Scripted = !m[3].IsZero() && (p.Is(m[3], `"exec"`) || p.Src[m[3].Start] == '{') // headless, or a sub-agent
	text := m[1]
	if inner := p.Find(text, "text"); !inner.IsZero() {
		text = inner
	}
	if text.IsZero() || p.Src[text.Start] != '"' {
		text = m[2]
	}
	if text.IsZero() || p.Src[text.Start] != '"' {
		return
	}
	p.base = []decant.Block{{Kind: decant.KindText, Author: decant.AuthorClient, Content: p.Text(text)}}
	p.Conv.Fixed.System = p.base
}

// tokens reads the usage in a token_count event. Input tokens include the cached ones there.
func (p *codexParser) tokens(payload jsonspan.Span) {
	if p.answer < 0 || !p.Is(p.Find(payload, "type"), `"token_count"`) {
		return
	}
	last := p.Find(p.Find(payload, "info"), "last_token_usage")
	if last.IsZero() || p.Src[last.Start] != '{' {
		return
	}
	m := p.Members(last, "input_tokens", "cached_input_tokens", "output_tokens")
	cached := p.Number(m[1])
	p.Conv.Messages[p.answer].Usage = &decant.Usage{
		Input:     max(0, p.Number(m[0])-cached),
		CacheRead: cached,
		Output:    p.Number(m[2]),
	}
	p.answer = -1
}

// compacted reads a line that replaces everything before it.
func (p *codexParser) compacted(rec int, payload, time jsonspan.Span) {
	m := p.Members(payload, "message", "replacement_history")
	p.compact, p.answer = true, -1
	if items := p.List(m[1]); len(items) > 0 {
		p.leads, p.fixed = true, nil
		p.Conv.Fixed.System, p.Conv.Fixed.Tools = p.base, nil
		for _, it := range items {
			p.item(rec, it, time)
		}
		p.compact, p.answer, p.leads = false, -1, false
		return
	}
	if p.Decoded(m[0]) == "" {
		p.Note(rec, "a compaction without a summary and without a history: left out")
		p.compact = false
		return
	}
	p.message(decant.RoleUser, time)
	p.Add(decant.Block{Kind: decant.KindText, Author: decant.AuthorClient, Content: p.Text(m[0])},
		source.BlockSpan{Span: m[0], Text: m[0], Kind: source.MemberValue, Item: p.hold(rec, payload, jsonspan.Span{})})
}

// message starts a message.
func (p *codexParser) message(role decant.Role, time jsonspan.Span) {
	m := p.Start(role)
	m.Time = p.Time(time)
	m.Compaction, p.compact = p.compact, false
	if role == decant.RoleAssistant {
		m.Model = p.Conv.Model
		p.answer = len(p.Conv.Messages) - 1
	}
}

// side starts a message of the given role unless the newest one has it already and takes items of
// its neighbours.
func (p *codexParser) side(role decant.Role, time jsonspan.Span) {
	if m := p.Current(); m == nil || m.Role != role || m.Fixed || p.compact {
		p.message(role, time)
	}
	if role == decant.RoleAssistant {
		p.answer = len(p.Conv.Messages) - 1
	}
}

// rolledBack returns for each record whether a later thread_rolled_back event took it back. An event
// names a number of turns, which begin with what the user said.
func (p *codexParser) rolledBack() []bool {
	back := make([]bool, len(p.Records))
	if !bytes.Contains(p.Src, []byte("thread_rolled_back")) {
		return back
	}
	var turns []int // records that begin a turn and still stand
	for i := range p.Records {
		m := p.Members(p.Records[i].At, "type", "payload")
		kind := p.Find(m[1], "type")
		switch {
		case p.Is(m[0], `"response_item"`) && p.userItem(m[1]):
			turns = append(turns, i)
		case p.Is(m[0], `"event_msg"`) && p.Is(kind, `"thread_rolled_back"`):
			n := min(p.Number(p.Find(m[1], "num_turns")), len(turns))
			if n == 0 {
				continue
			}
			from := turns[len(turns)-n]
			turns = turns[:len(turns)-n]
			for j := from; j < i; j++ {
				back[j] = true
			}
			p.Note(i, "the user took back %d turns: their messages are left out", n)
		}
	}
	return back
}

// userItem reports whether an item is something that the user said.
func (p *codexParser) userItem(v jsonspan.Span) bool {
	m := p.Members(v, "type", "role", "content")
	if !p.Is(m[0], `"message"`) || !p.Is(m[1], `"user"`) {
		return false
	}
	for _, e := range p.List(m[2]) {
		if text := p.Find(e, "text"); !text.IsZero() && source.AuthorOf(typed.Codex, p.Decoded(text)) == decant.AuthorUser {
			return true
		}
	}
	return false
}
