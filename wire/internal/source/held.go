package source

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// heldPart is the content of an image or a document that stood in a result: no text, and its own bytes.
type heldPart struct{ raw []byte }

// Text returns nothing: an image has no text.
func (*heldPart) Text() string { return "" }

// Size returns 0, as Text says.
func (*heldPart) Size() int { return 0 }

// HeldSource returns the bytes of a block that stood in a result, nil when it did not. A marker that it had
// there is left out: whoever carries it along has not asked for one.
func HeldSource(b *decant.Block) []byte {
	h, ok := b.Content.(*heldPart)
	if !ok {
		return nil
	}
	whole := jsonspan.Span{End: len(h.raw)}
	return SpliceWithin(h.raw, whole, Without(h.raw, whole, "cache_control"))
}

// Holding returns the images and documents in a result; false where its content holds none.
func Holding(b *decant.Block) ([]decant.Block, bool) {
	h, ok := b.Content.(decant.Holder)
	if !ok || b.Kind != decant.KindResult {
		return nil, false
	}
	held := h.Held()
	return held, len(held) > 0
}

// Shown returns a message of the Messages API with its images and documents as blocks that hold their bytes. content is that of the message.
func Shown(m decant.Message, content []byte) decant.Message {
	l := NewLazy(content, FormText)
	held := l.Held()
	m.Blocks = slices.Clone(m.Blocks)
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Kind == decant.KindImage && b.Text() == "" && len(held) > 0 {
			b.Content, held = held[0].Content, held[1:]
		}
	}
	return m
}

// ImageURL returns where an image is, as a part of a content of the Messages API says: its own address, or one that holds the data. It is empty for
// what is no image.
func ImageURL(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	sc := jsonspan.Scan(raw, 0)
	p := NextPart(&sc, raw)
	if p.Kind != "image" || p.src.data.IsZero() {
		return ""
	}
	data := jsonspan.Unquote(p.src.data.Of(raw))
	if p.src.media.IsZero() {
		return data
	}
	return "data:" + jsonspan.Unquote(p.src.media.Of(raw)) + ";base64," + data
}
