package wire

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/contents"
)

// A builder makes a conversation while a parser walks over its source: it numbers messages and blocks,
// gives results the names of their calls, and holds contents and spans in arenas.
type builder struct {
	source
	conv     decant.Conversation
	spans    [][]blockSpan // of each message, its blocks'
	warnings []warning

	blocks   arena[decant.Block] // the run is the message under construction
	places   arena[blockSpan]
	contents arena[contents.Lazy]
	calls    openCalls
	earlier  earlierCalls
}

// newBuilder returns a builder over a source that is read from its first byte on.
func newBuilder(src []byte) *builder {
	const apart = 4 << 10 // bytes between two names that were not there before, about
	return newBuilderFor(src, len(src)/apart)
}

// newBuilderFor returns a builder over a source that is expected to hold so many different names.
func newBuilderFor(src []byte, names int) *builder {
	return &builder{source: newSource(src, names), calls: openCalls{newest: make(map[string]int, names)}}
}

// start begins the next message. The pointer is good until the next start.
func (b *builder) start(role decant.Role) *decant.Message {
	b.finish()
	if b.conv.Messages == nil {
		b.grow(expected(len(b.src)))
	}
	b.conv.Messages = append(b.conv.Messages, decant.Message{Number: len(b.conv.Messages) + 1, Role: role})
	return b.current()
}

// grow makes room for the first n messages.
func (b *builder) grow(n int) {
	b.conv.Messages, b.spans = make([]decant.Message, 0, n), make([][]blockSpan, 0, n)
	b.blocks.grow(n)
	b.places.grow(n)
	b.contents.grow(n)
}

// expected returns how many messages so many bytes are likely to hold: with the average of real
// sessions, 2,000 bytes each.
func expected(size int) int { return size/2000 + 8 }

// current returns the message under construction, nil before the first.
func (b *builder) current() *decant.Message {
	if len(b.conv.Messages) == 0 {
		return nil
	}
	return &b.conv.Messages[len(b.conv.Messages)-1]
}

// size returns how many blocks the message under construction has so far.
func (b *builder) size() int { return len(b.blocks.current()) }

// dropBlocks takes all blocks from the message under construction, for a content that stands in it twice.
func (b *builder) dropBlocks() {
	b.blocks.drop()
	b.places.drop()
}

// add appends a block to the message under construction. It fills in Ref and the name of a result's
// tool. An author that is left empty is filled in by document.
func (b *builder) add(blk decant.Block, s blockSpan) {
	m := b.current()
	blk.Ref = decant.Ref{Message: m.Number, Block: b.size()}
	switch blk.Kind {
	case decant.KindUse:
		b.calls.opened(blk.CallID, blk.Name)
	case decant.KindResult:
		tool, ok := b.calls.answered(blk.CallID)
		if !ok {
			tool = b.earlier.answer(&b.conv, blk.CallID)
		}
		if blk.Name == "" {
			blk.Name = tool
		}
	}
	b.blocks.push(blk)
	b.places.push(s)
}

// finish stores the blocks of the message under construction.
func (b *builder) finish() {
	if len(b.spans) == len(b.conv.Messages) {
		return // there is none
	}
	b.current().Blocks = b.blocks.take()
	b.spans = append(b.spans, b.places.take())
}

// restart forgets all messages, for a list of messages that stands in a body twice.
func (b *builder) restart() {
	b.conv.Messages, b.spans = nil, nil
	b.dropBlocks()
	b.calls.forget()
	b.earlier = earlierCalls{steps: b.earlier.steps}
}

// content returns the content that the value at s holds, written in form f: nil when the span is zero.
func (b *builder) content(s jsonspan.Span, f contents.Form) decant.Content {
	if s.IsZero() {
		return nil
	}
	return b.contents.one(contents.NewLazy(s.Of(b.src), f))
}

// text returns the content of the value at s, a string or a list of parts.
func (b *builder) text(s jsonspan.Span) decant.Content { return b.content(s, contents.FormText) }

// contentAt returns the content of a block that stands at s.
func (b *builder) contentAt(s blockSpan) decant.Content { return b.content(s.text, s.form) }

// document ends the construction. Only now are role and agent known for certain, and with them the
// authors.
func (b *builder) document(l layout) *parsed {
	b.finish()
	for i := range b.conv.Messages {
		m := &b.conv.Messages[i]
		for k := range m.Blocks {
			if blk := &m.Blocks[k]; blk.Author == "" {
				blk.Author = author(b.conv.Agent, m.Role, blk)
			}
		}
	}
	conv := b.conv // so that the document does not keep the builder
	return &parsed{source: b.src, conversation: &conv, warnings: b.warnings, layout: l, kept: b.earlier.messages}
}

// author returns who wrote a block of a message of the given role, in a conversation of an agent program.
func author(agent string, role decant.Role, blk *decant.Block) decant.Author {
	switch {
	case blk.Kind == decant.KindResult || role == decant.RoleTool:
		return decant.AuthorTool
	case role == decant.RoleAssistant:
		return decant.AuthorModel
	case role == decant.RoleSystem || blk.Kind == decant.KindOpaque:
		return decant.AuthorClient
	case blk.Kind == decant.KindText:
		return authorOf(agent, blk.Text())
	}
	return decant.AuthorUser
}
