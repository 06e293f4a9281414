package wire

import "github.com/decantdev/decant"

// takeOver makes the first messages those of an earlier reading, which stood by bytes further ahead, and makes
// room for about so many more.
func (b *builder) takeOver(ms []decant.Message, spans [][]blockSpan, by, more int) {
	n, blocks := len(ms), more
	for i := range spans {
		blocks += len(spans[i])
	}
	b.conv.Messages, b.spans = append(make([]decant.Message, 0, n+more), ms...), make([][]blockSpan, 0, n+more)
	b.blocks.grow(blocks)
	b.places.grow(blocks)
	b.contents.grow(blocks)
	for i := range spans {
		b.takeMessage(&b.conv.Messages[i], spans[i], by)
	}
	b.earlier.messages = n
}

// takeMessage gives a message that was taken over blocks of its own.
func (b *builder) takeMessage(m *decant.Message, spans []blockSpan, by int) {
	m.Blocks = b.blocks.clone(m.Blocks)
	spans = b.places.clone(spans)
	for i := range spans {
		spans[i] = spans[i].moved(by)
		m.Blocks[i].Content = b.contentAt(spans[i])
	}
	b.spans = append(b.spans, spans)
}

// forgetAuthors lets the authors of the blocks that were taken over be found anew: they depend on the
// agent.
func (b *builder) forgetAuthors() {
	for i := range b.conv.Messages[:b.earlier.messages] {
		bs := b.conv.Messages[i].Blocks
		for k := range bs {
			bs[k].Author = ""
		}
	}
}

// tired reports whether so much was looked for in messages that were taken over that what was found is not all.
func (b *builder) tired() bool { return b.earlier.steps > patience }
