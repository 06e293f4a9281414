package session

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/typed"
	"github.com/decantdev/decant/wire/internal/contents"
	"github.com/decantdev/decant/wire/internal/draft"
	"github.com/decantdev/decant/wire/internal/jsonedit"
)

// ParseCodex reads a rollout file of the Codex command line.
//
// Every line is {timestamp, type, payload}. Lines of type response_item hold an item of the Responses
// API each; neighbouring items of the assistant's side (text, reasoning, calls) are one message, as
// are neighbouring results. session_meta holds the system prompt, turn_context the model. A
// token_count event tells the usage of the request that the newest answer came from.
//
// A compacted line replaces the history so far by the items in its replacement_history, which become
// messages of their own; the first of them carries the mark [decant.Message.Compaction]. In older
// files it has only a summary. A thread_rolled_back event takes back the newest turns: their
// messages are left out.
func ParseCodex(src []byte) (*draft.Document, error) {
	s, err := openSession(src, typed.Codex)
	if err != nil {
		return nil, err
	}
	p := codexParser{session: s, answer: -1}
	back := p.rolledBack()
	for i := range p.Records {
		p.record(i, back[i])
	}
	if len(p.Conv.Messages) == 0 && !p.meta {
		return nil, fmt.Errorf("no line holds an item of a conversation: %w", draft.ErrFormat)
	}
	return s.close(codex{}), nil
}

type codexParser struct {
	*session
	answer  int  // index of the newest assistant message without usage, -1: none
	compact bool // the next message is the first of a replaced history
	meta    bool // a session_meta line was read
}

// record reads one line. A line that was rolled back keeps its place and adds nothing.
func (p *codexParser) record(i int, back bool) {
	m := p.Members(p.Records[i].At, "type", "payload", "timestamp")
	payload := m[1]
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
	m := p.Members(payload, "id", "base_instructions", "instructions")
	p.Conv.ID = p.Decoded(m[0])
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
	f := &p.Conv.Fixed
	f.System = []decant.Block{{Kind: decant.KindText, Author: decant.AuthorClient, Content: p.Text(text)}}
	f.Version = contents.Version(f)
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
		for _, it := range items {
			p.item(rec, it, time)
		}
		p.compact, p.answer = false, -1
		return
	}
	if p.Decoded(m[0]) == "" {
		p.Note(rec, "a compaction without a summary and without a history: left out")
		p.compact = false
		return
	}
	p.message(decant.RoleUser, time)
	p.Add(decant.Block{Kind: decant.KindText, Author: decant.AuthorClient, Content: p.Text(m[0])},
		draft.BlockSpan{Span: m[0], Text: m[0], Kind: draft.MemberValue, Item: p.hold(rec, payload, jsonspan.Span{})})
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
	if m := p.Current(); m == nil || m.Role != role || p.compact {
		p.message(role, time)
	}
	if role == decant.RoleAssistant {
		p.answer = len(p.Conv.Messages) - 1
	}
}

// item reads one item of the Responses API.
func (p *codexParser) item(rec int, v, time jsonspan.Span) {
	m := p.Members(v, "type", "role", "content")
	kind := p.Interned(m[0])
	if kind == "ghost_snapshot" || kind == "" && m[1].IsZero() { // a git commit of the client's, never sent
		return
	}
	if kind == "message" || kind == "" || kind == "agent_message" {
		p.messageItem(rec, v, kind, m, time)
		return
	}
	blk, where := p.codexBlock(kind, v)
	role := decant.RoleAssistant
	switch {
	case blk.Kind == decant.KindResult:
		role = decant.RoleTool
	case kind == "compaction" || kind == "compaction_summary" || kind == "context_compaction":
		role = decant.RoleUser
		p.compact = p.compact || p.Current() == nil
	}
	if role == decant.RoleUser {
		p.message(role, time)
	} else {
		p.side(role, time)
	}
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
		p.Add(decant.Block{Kind: decant.KindText, Content: p.Text(m[2])}, draft.BlockSpan{Span: m[2], Text: m[2], Kind: draft.BareString, Item: at})
		return
	}
	for _, e := range p.List(m[2]) {
		blk, where := p.codexPart(e)
		if kind == "agent_message" {
			blk.Author = decant.AuthorClient
		}
		where.Kind, where.Item = draft.ListPart, at
		p.Add(blk, where)
	}
}

// codexPart reads an element of a message's content.
func (p *codexParser) codexPart(v jsonspan.Span) (decant.Block, draft.BlockSpan) {
	sc := jsonspan.Scan(p.Src, v.Start)
	part := contents.NextPart(&sc, p.Src)
	s := draft.BlockSpan{Span: v}
	switch {
	case part.IsText():
		s.Text = part.Text
		return decant.Block{Kind: decant.KindText, Content: p.Text(part.Text)}, s
	case part.IsMedia():
		return decant.Block{Kind: decant.KindImage, Media: part.Media(p.Src)}, s
	}
	s.Text, s.Form = v, contents.FormRaw
	return decant.Block{Kind: decant.KindOpaque, Content: p.Content(v, contents.FormRaw), Signed: part.Kind == "encrypted_content"}, s
}

// codexBlock reads an item that is one block: a call, its output, reasoning, or something else, which
// is opaque. Tools that the provider runs leave a call without an id and no output, and what a search
// for tools returns has to stay a list of tools, so these are opaque as well.
func (p *codexParser) codexBlock(kind string, v jsonspan.Span) (decant.Block, draft.BlockSpan) {
	m := p.Members(v, "call_id", "name", "arguments", "input", "action", "output", "success", "summary", "encrypted_content")
	s := draft.BlockSpan{Span: v, Kind: draft.WholeItem}
	id := p.Interned(m[0])
	blk := decant.Block{CallID: id}
	switch {
	case kind == "reasoning":
		s.Text = m[7]
		blk.Kind, blk.Signed = decant.KindThinking, !m[8].IsZero() && !jsonedit.IsNull(m[8].Of(p.Src))
	case id != "" && kind == "function_call":
		s.Text = m[2]
		blk.Kind, blk.Name = decant.KindUse, p.Interned(m[1])
	case id != "" && kind == "custom_tool_call":
		s.Text = m[3]
		blk.Kind, blk.Name = decant.KindUse, p.Interned(m[1])
	case id != "" && kind == "local_shell_call":
		s.Text, s.Form = m[4], contents.FormRaw
		blk.Kind, blk.Name = decant.KindUse, "local_shell"
	case id != "" && (kind == "function_call_output" || kind == "custom_tool_call_output" || kind == "local_shell_call_output"):
		s.Text = m[5]
		if !s.Text.IsZero() && p.Src[s.Text.Start] == '{' {
			s.Form = contents.FormRaw
		}
		blk.Kind, blk.Media = decant.KindResult, contents.MediaIn(m[5].Of(p.Src))
		blk.Error = p.failed(m[5], m[6])
	default:
		s.Text, s.Form = v, contents.FormRaw
		blk = decant.Block{Kind: decant.KindOpaque, Name: kind, Signed: !m[8].IsZero() && !jsonedit.IsNull(m[8].Of(p.Src))}
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
		if text := p.Find(e, "text"); !text.IsZero() && draft.AuthorOf(typed.Codex, p.Decoded(text)) == decant.AuthorUser {
			return true
		}
	}
	return false
}
