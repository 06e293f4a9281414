package contents

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/jsonedit"
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
	return jsonedit.SpliceWithin(h.raw, whole, jsonedit.Without(h.raw, whole, "cache_control"))
}
