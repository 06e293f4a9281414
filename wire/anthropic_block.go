package wire

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/contents"
)

// members are where the known members of a content block stand; zero: absent.
type members struct {
	kind, text, thinking, content, input, id, answers, name, failed, signature, cache, other jsonspan.Span
}

// field returns where the span of the member with a name goes.
func (m *members) field(name []byte) *jsonspan.Span {
	switch string(name) {
	case "type":
		return &m.kind
	case "text":
		return &m.text
	case "thinking":
		return &m.thinking
	case "content":
		return &m.content
	case "input":
		return &m.input
	case "id":
		return &m.id
	case "tool_use_id":
		return &m.answers
	case "name":
		return &m.name
	case "is_error":
		return &m.failed
	case "signature":
		return &m.signature
	case "cache_control":
		return &m.cache
	}
	return &m.other
}

// anthropicBlock consumes a content block.
func anthropicBlock(b *builder, sc *jsonspan.Scanner) (decant.Block, blockSpan) {
	var m members
	s := blockSpan{span: jsonspan.Span{Start: sc.Pos()}}
	for sc.Open(); sc.Next(); {
		*m.field(sc.Name()) = sc.Skip()
	}
	s.span.End = sc.Pos()
	if sc.Failed() {
		return decant.Block{}, s
	}
	s.cache = m.cache
	blk := knownBlock(b, &m, &s)
	blk.Content = b.contentAt(s)
	blk.Cache = b.marker(m.cache)
	blk.Inside = b.markersIn(m.content, 0)
	return blk, s
}

// knownBlock returns a block without its content, and sets in s where the content stands and how.
// What is not known by type is opaque, and its whole source is its content.
func knownBlock(b *builder, m *members, s *blockSpan) decant.Block {
	switch string(m.kind.Of(b.src)) {
	case `"text"`:
		s.text = m.text
		return decant.Block{Kind: decant.KindText}
	case `"tool_use"`:
		s.text, s.form = m.input, contents.FormRaw
		return decant.Block{Kind: decant.KindUse, CallID: b.interned(m.id), Name: b.interned(m.name)}
	case `"tool_result"`:
		s.text = m.content
		return decant.Block{Kind: decant.KindResult, CallID: b.interned(m.answers),
			Error: b.is(m.failed, "true"), Media: contents.MediaIn(m.content.Of(b.src)), Loads: contents.ToolsLoaded(m.content.Of(b.src))}
	case `"thinking"`:
		s.text = m.thinking
		return decant.Block{Kind: decant.KindThinking, Signed: m.signature.Len() > len(`""`)}
	case `"redacted_thinking"`:
		return decant.Block{Kind: decant.KindThinking, Signed: true}
	case `"image"`, `"document"`:
		return picture(b, s)
	case `"compaction"`:
		s.text = m.content
		return decant.Block{Kind: decant.KindOpaque}
	}
	s.text, s.form = s.span, contents.FormRaw
	return decant.Block{Kind: decant.KindOpaque}
}

// picture returns an image or document block. A document of plain text has content and no media.
func picture(b *builder, s *blockSpan) decant.Block {
	sc := jsonspan.Scan(b.src, s.span.Start)
	part := contents.NextPart(&sc, b.src)
	blk := decant.Block{Kind: decant.KindImage}
	if part.IsMedia() {
		blk.Media = part.Media(b.src)
		return blk
	}
	s.text = part.Value()
	blk.Media = contents.MediaIn(s.text.Of(b.src))
	return blk
}
