package wire

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// A Format names one way to write a conversation down.
type Format string

// The formats: request bodies, session files that their agents resume from, and exports and logs, which
// are read and not written.
const (
	Anthropic       Format = "anthropic"        // Messages API, request body
	OpenAIChat      Format = "openai-chat"      // Chat Completions API, request body or request log
	OpenAIResponses Format = "openai-responses" // Responses API, request body
	Messages        Format = "messages"         // bare list of messages, of the Messages or the Chat Completions API

	ClaudeCode Format = "claude-code" // Claude Code session, JSON lines
	Codex      Format = "codex"       // Codex CLI rollout, JSON lines
	Pi         Format = "pi"          // pi session, JSON lines

	Copilot   Format = "copilot-cli" // GitHub Copilot CLI, events as JSON lines
	Gemini    Format = "gemini"      // Gemini CLI chat, an object or JSON lines
	Opencode  Format = "opencode"    // what opencode export writes
	SWEAgent  Format = "swe-agent"   // SWE-agent trajectory
	TauBench  Format = "tau-bench"   // tau-bench dialog
	OpenHands Format = "openhands"   // OpenHands history of events
)

// Formats returns all formats, in the order in which they are documented.
func Formats() []Format {
	return []Format{
		Anthropic, OpenAIChat, OpenAIResponses, Messages, ClaudeCode, Codex, Pi,
		Copilot, Gemini, Opencode, SWEAgent, TauBench, OpenHands,
	}
}

// Session reports whether f records a session, which may end anywhere, where the others are requests.
func (f Format) Session() bool {
	switch f {
	case Anthropic, OpenAIChat, OpenAIResponses, Messages:
		return false
	}
	return true
}

// Writable reports whether a view can be written in format f, see [Document.Render].
func (f Format) Writable() bool {
	return !f.Session() || f == ClaudeCode || f == Codex || f == Pi
}

// A Document is a conversation together with the bytes that it was read from.
//
// The conversation's blocks refer to Source and decode it on demand; neither may be changed, nor the
// messages and blocks. A Document is safe for concurrent use.
type Document struct {
	Format       Format
	Source       []byte
	Conversation *decant.Conversation
	Warnings     []Warning // what was wrong with the source and left as it is, in source order
	Kept         int       // how many messages from the first on ParseNext found unchanged, byte for byte; else 0

	layout layout
	api    Format // of a bare list of messages
}

// API returns the format of the requests whose rules the messages of d follow.
func (d *Document) API() Format {
	switch d.Format {
	case Messages:
		return d.api
	case OpenAIChat, OpenAIResponses:
		return d.Format
	case Codex:
		return OpenAIResponses
	case SWEAgent, TauBench, OpenHands:
		return OpenAIChat
	}
	return Anthropic
}

// A Warning is something in a source that is not as it should be and did not keep the rest from
// being read.
type Warning struct {
	Offset int    // in bytes, where it is
	Line   int    // of a session file, from 1; 0 in a request body
	Text   string // what is wrong and what was done about it
}

// String returns the warning for people, position first.
func (w Warning) String() string {
	if w.Line > 0 {
		return fmt.Sprintf("line %d: %s", w.Line, w.Text)
	}
	return fmt.Sprintf("offset %d: %s", w.Offset, w.Text)
}

// A layout knows where in the source of a document its messages and blocks stand, and how to write
// a view of it in the same format.
type layout interface {
	// render returns d.Source itself when view says nothing else.
	render(d *Document, view *decant.Conversation) ([]byte, error)
}

// ErrFormat means that an input is in none of the formats, or not in the one that it was said to be.
var ErrFormat = errors.New("not a conversation that this program can read")

// Render writes view, a view of d.Conversation, in the document's own format.
//
// Only what the view changed is written anew: replaced texts, dropped blocks and messages, and
// messages that Decant wrote (Number 0). Messages and blocks are recognised by Number and Ref.
// A view without changes returns d.Source itself. The system prompt and the tools stay as they are,
// whatever the view says about them. Of a format that is not [Format.Writable] every other view is an
// error that wraps [ErrReadOnly].
func (d *Document) Render(view *decant.Conversation) ([]byte, error) {
	out, err := d.layout.render(d, view)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", d.Format, err)
	}
	return out, nil
}

// A form is how the text of a block is written in the source.
type form uint8

const (
	formText form = iota // a JSON string, or a list of parts of which some hold text, or null
	formRaw              // any JSON value; the text is its source
)

// lazy is content that stays in the source until somebody reads it.
type lazy struct {
	raw  []byte // the JSON value
	form form
}

// Text decodes the content.
func (l *lazy) Text() string {
	switch {
	case l.form == formRaw || len(l.raw) == 0:
		return string(l.raw)
	case l.raw[0] == '"':
		return jsonspan.Unquote(l.raw)
	}
	return partsText(l.raw)
}

// Size returns the length of the content as it stands in the source, quotes left out.
func (l *lazy) Size() int {
	if len(l.raw) > 1 && l.raw[0] == '"' && l.form == formText {
		return len(l.raw) - 2
	}
	return len(l.raw)
}

// A site is where a block stands in the source. All spans are of Document.Source.
type site struct {
	span  jsonspan.Span // the whole block: an element of a list, or the one value that is the block
	text  jsonspan.Span // the value that holds its text, zero when it has none
	cache jsonspan.Span // the value of its cache marker, zero when it has none
	form  form          // how text is written
	slot  slot          // what sort of place span is
	item  int           // which element of the body's list (or which line of a file) it belongs to
}

// A slot is the sort of place where a block stands within its item.
type slot uint8

const (
	slotItem   slot = iota // the block is the whole item
	slotPart               // it is an element of the item's content list
	slotString             // it is the item's content, a bare string
	slotCall               // it is an element of the item's list of calls
	slotMember             // it is the value of another member of the item
	slotVoid               // the item has no block at all: this stands for its missing content
)

// A builder makes a Document while a parser walks over the source: it numbers messages and blocks,
// gives results the names of their calls, and holds contents and sites in slabs.
type builder struct {
	src      []byte
	conv     decant.Conversation
	sites    [][]site // of each message, its blocks'
	warnings []Warning

	blocks   slab[decant.Block] // the run is the message under construction
	places   slab[site]
	texts    slab[lazy]
	names    map[string]string // interned call ids and tool names
	openCall map[string]int    // call id → index of the newest unanswered call
	calls    []call

	kept  int            // how many messages were taken over; what they call is not in calls
	taken map[string]int // how many of their calls with an id were answered since
	steps int            // how many of their blocks were looked at for that
}

// A call is an entry of the chain of calls with the same id.
type call struct {
	name string
	prev int // the next older unanswered call with that id, -1: none
}

func newBuilder(src []byte) *builder {
	const apart = 4 << 10 // bytes between two names that were not there before, about
	return &builder{src: src, names: make(map[string]string, len(src)/apart), openCall: make(map[string]int, len(src)/apart)}
}

// start begins the next message. The pointer is good until the next start.
func (b *builder) start(role decant.Role) *decant.Message {
	b.finish()
	if b.conv.Messages == nil {
		n := expected(b.src)
		b.conv.Messages, b.sites = make([]decant.Message, 0, n), make([][]site, 0, n)
		b.blocks.grow(n)
		b.places.grow(n)
		b.texts.grow(n)
	}
	b.conv.Messages = append(b.conv.Messages, decant.Message{Number: len(b.conv.Messages) + 1, Role: role})
	return b.current()
}

// expected returns how many messages a source is likely to hold.
func expected(src []byte) int { return messagesIn(len(src)) }

// messagesIn returns how many messages so many bytes are likely to hold: with the average of real
// sessions, 2,000 bytes each.
func messagesIn(size int) int { return size/2000 + 8 }

// current returns the message under construction, nil before the first.
func (b *builder) current() *decant.Message {
	if len(b.conv.Messages) == 0 {
		return nil
	}
	return &b.conv.Messages[len(b.conv.Messages)-1]
}

// empty reports whether the message under construction has no block yet.
func (b *builder) empty() bool { return len(b.blocks.current()) == 0 }

// add appends a block to the message under construction. It fills in Ref and the name of a result's
// tool. An author that is left empty is filled in by document.
func (b *builder) add(blk decant.Block, s site) {
	m := b.current()
	blk.Ref = decant.Ref{Message: m.Number, Block: len(b.blocks.current())}
	switch blk.Kind {
	case decant.KindUse:
		b.opened(blk.CallID, blk.Name)
	case decant.KindResult:
		if name := b.answered(blk.CallID); blk.Name == "" {
			blk.Name = name
		}
	}
	b.blocks.push(blk)
	b.places.push(s)
}

// author returns who wrote a block of a message of the given role.
func (b *builder) author(role decant.Role, blk *decant.Block) decant.Author {
	switch {
	case blk.Kind == decant.KindResult || role == decant.RoleTool:
		return decant.AuthorTool
	case role == decant.RoleAssistant:
		return decant.AuthorModel
	case role == decant.RoleSystem || blk.Kind == decant.KindOpaque:
		return decant.AuthorClient
	case blk.Kind == decant.KindText:
		return authorOf(b.conv.Agent, blk.Text())
	}
	return decant.AuthorUser
}

// opened notes a call, so that its result gets its name.
func (b *builder) opened(id, name string) {
	prev, ok := b.openCall[id]
	if !ok {
		prev = -1
	}
	b.openCall[id] = len(b.calls)
	b.calls = append(b.calls, call{name, prev})
}

// answered closes the newest unanswered call with the given id and returns its tool's name. Ids may
// repeat within a conversation, so an id alone does not name a call.
func (b *builder) answered(id string) string {
	i, ok := b.openCall[id]
	if !ok {
		return b.answeredEarlier(id)
	}
	if prev := b.calls[i].prev; prev >= 0 {
		b.openCall[id] = prev
	} else {
		delete(b.openCall, id)
	}
	return b.calls[i].name
}

// finish stores the blocks of the message under construction.
func (b *builder) finish() {
	if len(b.sites) == len(b.conv.Messages) {
		return // there is none
	}
	b.current().Blocks = b.blocks.take()
	b.sites = append(b.sites, b.places.take())
}

// restart forgets all messages, for a list of messages that stands in a body twice.
func (b *builder) restart() {
	b.conv.Messages, b.sites = nil, nil
	b.blocks.drop()
	b.places.drop()
	b.calls = b.calls[:0]
	clear(b.openCall)
	b.kept = 0
	clear(b.taken)
}

// document ends the construction. Only now are role and agent known for certain, and with them the
// authors.
func (b *builder) document(f Format, l layout) *Document {
	b.finish()
	for i := range b.conv.Messages {
		m := &b.conv.Messages[i]
		for k := range m.Blocks {
			if blk := &m.Blocks[k]; blk.Author == "" {
				blk.Author = b.author(m.Role, blk)
			}
		}
	}
	conv := b.conv // so that the document does not keep the builder
	return &Document{Format: f, Source: b.src, Conversation: &conv, Warnings: b.warnings, layout: l}
}

// text returns the content that the value at s holds: nil when the span is zero.
func (b *builder) text(s jsonspan.Span) decant.Content { return b.content(s, formText) }

// raw returns the source of the value at s as content: nil when the span is zero.
func (b *builder) raw(s jsonspan.Span) decant.Content { return b.content(s, formRaw) }

func (b *builder) content(s jsonspan.Span, f form) decant.Content {
	if s.IsZero() {
		return nil
	}
	return b.texts.one(lazy{s.Of(b.src), f})
}

// str returns the short string at s, one copy for all its repetitions; "" when the span is zero.
func (b *builder) str(s jsonspan.Span) string {
	if s.IsZero() || b.src[s.Start] != '"' {
		return ""
	}
	if raw := s.Of(b.src); bytes.IndexByte(raw, '\\') >= 0 {
		return jsonspan.Unquote(raw)
	}
	body := trimQuotes(s.Of(b.src))
	if v, ok := b.names[string(body)]; ok {
		return v
	}
	v := jsonspan.Unquote(s.Of(b.src))
	b.names[v] = v
	return v
}

// role returns the role at s.
func (b *builder) role(s jsonspan.Span) decant.Role {
	switch string(s.Of(b.src)) {
	case `"user"`:
		return decant.RoleUser
	case `"assistant"`:
		return decant.RoleAssistant
	}
	return decant.Role(b.str(s))
}

// is reports whether the value at s is the literal or string written as lit.
func (b *builder) is(s jsonspan.Span, lit string) bool { return string(s.Of(b.src)) == lit }
