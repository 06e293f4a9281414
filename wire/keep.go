package wire

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// keepSystem takes over the system prompt of the earlier request, which stood by bytes further ahead.
func (p *anthropicParser) keepSystem(by int) {
	p.body.system = slices.Clone(p.was.system)
	p.conv.Fixed.System = slices.Clone(p.was.read.Fixed.System)
	for i := range p.body.system {
		s := &p.body.system[i]
		s.move(by)
		p.conv.Fixed.System[i].Content = p.contentAt(*s)
	}
}

// keepTools takes over the tools of the earlier request, which stood by bytes further ahead.
func (p *anthropicParser) keepTools(by int) {
	p.body.tools = slices.Clone(p.was.tools)
	p.conv.Fixed.Tools = slices.Clone(p.was.read.Fixed.Tools)
	for i := range p.body.tools {
		def := moved(p.body.tools[i], by)
		p.body.tools[i] = def
		p.conv.Fixed.Tools[i].Schema = p.raw(def)
	}
}

// keepMessages takes over the first n messages of the earlier request, and makes room for as many more as
// the rest of the list may hold, if what follows it is as long as it was.
func (p *anthropicParser) keepMessages(n int) {
	was := &p.was
	by := p.body.list.Start - was.list.Start
	size := len(p.src) - by - was.items[n-1].span.End - (len(was.src) - was.list.End)
	more := messagesIn(max(size, 0))
	p.conv.Messages = append(make([]decant.Message, 0, n+more), was.read.Messages[:n]...)
	p.sites = make([][]site, 0, n+more)
	p.body.items = append(make([]item, 0, n+more), was.items[:n]...)
	blocks := more
	for i := range was.sites[:n] {
		p.body.items[i].move(by)
		blocks += len(was.sites[i])
	}
	p.blocks.grow(blocks)
	p.places.grow(blocks)
	p.texts.grow(blocks)
	for i := range was.sites[:n] {
		p.keepMessage(&p.conv.Messages[i], was.sites[i], by)
	}
	p.kept = n
}

// keepMessage gives a message that was taken over blocks of its own.
func (p *anthropicParser) keepMessage(m *decant.Message, sites []site, by int) {
	m.Blocks = p.blocks.clone(m.Blocks)
	sites = p.places.clone(sites)
	for i := range sites {
		sites[i].move(by)
		m.Blocks[i].Content = p.contentAt(sites[i])
	}
	p.sites = append(p.sites, sites)
}

// moved returns a span that is by bytes further back; one that is missing stays missing.
func moved(s jsonspan.Span, by int) jsonspan.Span {
	if s.IsZero() {
		return s
	}
	return jsonspan.Span{Start: s.Start + by, End: s.End + by}
}

func (s *site) move(by int) {
	s.span, s.text, s.cache = moved(s.span, by), moved(s.text, by), moved(s.cache, by)
}

func (it *item) move(by int) {
	it.span, it.content, it.calls = moved(it.span, by), moved(it.content, by), moved(it.calls, by)
}

// patience is how many blocks of messages that were taken over are looked at for the calls that later
// results answer, before the request is read as a whole: most are answered by the next message.
const patience = 1 << 20

// answeredEarlier is answered for calls in messages that were taken over.
func (b *builder) answeredEarlier(id string) string {
	answers := b.taken[id]
	for i := b.kept - 1; i >= 0 && b.steps <= patience; i-- {
		bs := b.conv.Messages[i].Blocks
		b.steps += len(bs)
		for k := len(bs) - 1; k >= 0; k-- {
			switch blk := &bs[k]; {
			case blk.CallID != id:
			case blk.Kind == decant.KindResult:
				answers++
			case blk.Kind == decant.KindUse && answers > 0:
				answers--
			case blk.Kind == decant.KindUse:
				b.take(id)
				return blk.Name
			}
		}
	}
	return ""
}

// take notes that a call with an id in a message that was taken over is answered.
func (b *builder) take(id string) {
	if b.taken == nil {
		b.taken = map[string]int{}
	}
	b.taken[id]++
}

// forgetAuthors lets the authors of the blocks that were taken over be found anew: they depend on the
// agent.
func (p *anthropicParser) forgetAuthors() {
	for i := range p.conv.Messages[:p.kept] {
		bs := p.conv.Messages[i].Blocks
		for k := range bs {
			bs[k].Author = ""
		}
	}
}
