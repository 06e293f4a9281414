package source

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/typed"
)

// A Builder makes a conversation while a parser walks over its source: it numbers messages and blocks,
// gives results the names of their calls, and holds contents and spans in arenas.
type Builder struct {
	Source
	Conv     decant.Conversation
	Scripted bool          // a program typed all words of the user
	Spans    [][]BlockSpan // of each message, its blocks'
	Warnings []Warning

	blocks   arena[decant.Block] // the run is the message under construction
	places   arena[BlockSpan]
	contents arena[Lazy]
	calls    openCalls
	earlier  earlierCalls
}

// NewBuilder returns a builder over a source that is read from its first byte on.
func NewBuilder(src []byte) *Builder {
	const apart = 4 << 10 // bytes between two names that were not there before, about
	return NewBuilderFor(src, len(src)/apart)
}

// NewBuilderFor returns a builder over a source that is expected to hold so many different names.
func NewBuilderFor(src []byte, names int) *Builder {
	return &Builder{Source: NewSource(src, names), calls: openCalls{newest: make(map[string]int, names)}}
}

// Start begins the next message. The pointer is good until the next start.
func (b *Builder) Start(role decant.Role) *decant.Message {
	b.Finish()
	if b.Conv.Messages == nil {
		b.grow(Expected(len(b.Src)))
	}
	b.Conv.Messages = append(b.Conv.Messages, decant.Message{Number: len(b.Conv.Messages) + 1, Role: role})
	return b.Current()
}

// grow makes room for the first n messages.
func (b *Builder) grow(n int) {
	b.Conv.Messages, b.Spans = make([]decant.Message, 0, n), make([][]BlockSpan, 0, n)
	b.blocks.grow(n)
	b.places.grow(n)
	b.contents.grow(n)
}

// Expected returns how many messages so many bytes are likely to hold: with the average of real
// sessions, 2,000 bytes each.
func Expected(size int) int { return size/2000 + 8 }

// Current returns the message under construction, nil before the first.
func (b *Builder) Current() *decant.Message {
	if len(b.Conv.Messages) == 0 {
		return nil
	}
	return &b.Conv.Messages[len(b.Conv.Messages)-1]
}

// Size returns how many blocks the message under construction has so far.
func (b *Builder) Size() int { return len(b.blocks.current()) }

// Newest returns the newest block of the message under construction, nil when it has none.
func (b *Builder) Newest() *decant.Block {
	if n := b.Size(); n > 0 {
		return &b.blocks.current()[n-1]
	}
	return nil
}

// DropBlocks takes all blocks from the message under construction, for a content that stands in it twice.
func (b *Builder) DropBlocks() {
	b.blocks.drop()
	b.places.drop()
}

// Add appends a block to the message under construction. It fills in Ref and the name of a result's
// tool. An author that is left empty is filled in by document.
func (b *Builder) Add(blk decant.Block, s BlockSpan) {
	m := b.Current()
	blk.Ref = decant.Ref{Message: m.Number, Block: b.Size()}
	switch blk.Kind {
	case decant.KindUse:
		b.calls.opened(blk.CallID, blk.Name)
	case decant.KindResult:
		tool, ok := b.calls.answered(blk.CallID)
		if !ok {
			tool = b.earlier.answer(&b.Conv, blk.CallID)
		}
		if blk.Name == "" {
			blk.Name = tool
		}
	}
	b.blocks.push(blk)
	b.places.push(s)
}

// Finish stores the blocks of the message under construction.
func (b *Builder) Finish() {
	if len(b.Spans) == len(b.Conv.Messages) {
		return // there is none
	}
	b.Current().Blocks = b.blocks.take()
	b.Spans = append(b.Spans, b.places.take())
}

// Restart forgets all messages, for a list of messages that stands in a body twice.
func (b *Builder) Restart() {
	b.Conv.Messages, b.Spans = nil, nil
	b.DropBlocks()
	b.calls.forget()
	b.earlier = earlierCalls{steps: b.earlier.steps}
}

// Content returns the content that the value at s holds, written in form f: nil when the span is zero.
func (b *Builder) Content(s jsonspan.Span, f Form) decant.Content {
	if s.IsZero() {
		return nil
	}
	return b.contents.one(NewLazy(s.Of(b.Src), f))
}

// Text returns the content of the value at s, a string or a list of parts.
func (b *Builder) Text(s jsonspan.Span) decant.Content { return b.Content(s, FormText) }

// ContentAt returns the content of a block that stands at s.
func (b *Builder) ContentAt(s BlockSpan) decant.Content { return b.Content(s.Text, s.Form) }

// Document ends the construction. Only now are role and agent known for certain, and with them the
// authors.
func (b *Builder) Document(l Layout) *Document {
	b.Finish()
	scripted := b.Scripted || scripted(b.Conv.Fixed.System)
	for i := range b.Conv.Messages {
		m := &b.Conv.Messages[i]
		m.Scripted = m.Role == decant.RoleUser && (m.Scripted || scripted)
		prompt := false // the next text is the prompt of a slash command
		for k := range m.Blocks {
			blk := &m.Blocks[k]
			if blk.Author == "" {
				blk.Author = author(b.Conv.Agent, m.Role, blk)
			}
			if prompt && blk.Author == decant.AuthorUser && blk.Kind == decant.KindText {
				blk.Author = decant.AuthorClient
			}
			prompt = k+1 < len(m.Blocks) && m.Role == decant.RoleUser && blk.Kind == decant.KindText &&
				blk.MayHold("<command-message>") && typed.Prompts(b.Conv.Agent, blk.Text())
		}
	}
	conv := b.Conv // so that the document does not keep the builder
	return &Document{Source: b.Src, Conversation: &conv, Warnings: b.Warnings, Layout: l, Kept: b.earlier.messages}
}

// author returns who wrote a block of a message of the given role, in a conversation of an agent program.
func author(agent string, role decant.Role, blk *decant.Block) decant.Author {
	switch {
	case blk.Kind == decant.KindResult || role == decant.RoleTool:
		return decant.AuthorTool
	case role == decant.RoleAssistant:
		return decant.AuthorModel
	case role == decant.RoleSystem && blk.Kind == decant.KindText && typed.Queued(agent, blk.Text()):
		return decant.AuthorUser // newer clients put what was typed meanwhile there
	case role == decant.RoleSystem || blk.Kind == decant.KindOpaque:
		return decant.AuthorClient
	case blk.Kind == decant.KindText:
		return AuthorOf(agent, blk.Text())
	}
	return decant.AuthorUser
}
