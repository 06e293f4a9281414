package source

import "github.com/decantdev/decant"

// TakeOver makes the first messages those of an earlier reading, which stood by bytes further ahead, and makes
// room for about so many more.
func (b *Builder) TakeOver(ms []decant.Message, spans [][]BlockSpan, by, more int) {
	n, blocks := len(ms), more
	for i := range spans {
		blocks += len(spans[i])
	}
	b.Conv.Messages, b.Spans = append(make([]decant.Message, 0, n+more), ms...), make([][]BlockSpan, 0, n+more)
	b.blocks.grow(blocks)
	b.places.grow(blocks)
	b.contents.grow(blocks)
	for i := range spans {
		b.takeMessage(&b.Conv.Messages[i], spans[i], by)
	}
	b.earlier.messages = n
}

// takeMessage gives a message that was taken over blocks of its own.
func (b *Builder) takeMessage(m *decant.Message, spans []BlockSpan, by int) {
	m.Blocks = b.blocks.clone(m.Blocks)
	spans = b.places.clone(spans)
	for i := range spans {
		spans[i].Move(by)
		m.Blocks[i].Content = b.ContentAt(spans[i])
	}
	b.Spans = append(b.Spans, spans)
}

// ForgetAuthors lets the authors of the blocks that were taken over be found anew: they depend on the
// agent.
func (b *Builder) ForgetAuthors() {
	for i := range b.Conv.Messages[:b.earlier.messages] {
		bs := b.Conv.Messages[i].Blocks
		for k := range bs {
			bs[k].Author = ""
		}
	}
}

// Tired reports whether so much was looked for in messages that were taken over that what was found is not all.
func (b *Builder) Tired() bool { return b.earlier.steps > patience }
