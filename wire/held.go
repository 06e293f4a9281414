package wire

import (
	"bytes"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// heldPart is the content of an image or a document that stood in a result: no text, and its own bytes.
type heldPart struct{ raw []byte }

// Text returns nothing: an image has no text.
func (*heldPart) Text() string { return "" }

// Size returns 0, as Text says.
func (*heldPart) Size() int { return 0 }

var _ decant.Holder = (*lazy)(nil)

// Held returns the images and documents in the content as blocks of their own.
func (l *lazy) Held() (out []decant.Block) {
	if l.form == formRaw || len(l.raw) == 0 || l.raw[0] != '[' {
		return nil
	}
	sc := jsonspan.Scan(l.raw, 0)
	for sc.Open(); sc.Next(); {
		p := readPart(&sc, l.raw)
		if !p.isMedia() {
			continue
		}
		out = append(out, decant.Block{
			Kind: decant.KindImage, Author: decant.AuthorTool, Media: p.media(l.raw), Content: &heldPart{p.span.Of(l.raw)},
		})
	}
	return out
}

// heldSource returns the bytes of a block that stood in a result, nil when it did not. A marker that it had
// there is left out: whoever carries it along has not asked for one.
func heldSource(b *decant.Block) []byte {
	h, ok := b.Content.(*heldPart)
	if !ok {
		return nil
	}
	whole := jsonspan.Span{End: len(h.raw)}
	return spliceWithin(h.raw, whole, without(h.raw, whole, "cache_control"))
}

// reference is how a result says that it makes a tool known.
const reference = "tool_reference"

// loads returns how many tools the content of a result makes known to the model.
func (b *builder) loads(content jsonspan.Span) (n int) {
	raw := content.Of(b.src)
	if content.IsZero() || raw[0] != '[' || !bytes.Contains(raw, []byte(`"`+reference+`"`)) {
		return 0
	}
	sc := jsonspan.Scan(raw, 0)
	for sc.Open(); sc.Next(); {
		if p := readPart(&sc, raw); p.kind == reference {
			n++
		}
	}
	return n
}
