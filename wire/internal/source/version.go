package source

import (
	"crypto/sha256"
	"hash"

	"github.com/decantdev/decant"
)

// Version returns the identity of system prompt and tools; zero when there are none. It is taken from
// the texts and definitions as they are written in the source, without decoding; a cache marker on a text
// does not count, nor does a billing line (see billed).
func Version(f *decant.Fixed) decant.Hash {
	if len(f.System) == 0 && len(f.Tools) == 0 {
		return decant.Hash{}
	}
	h := sha256.New()
	for _, c := range withoutBilling(f.System) {
		hashContent(h, c)
	}
	for i := range f.Tools {
		hashContent(h, f.Tools[i].Schema)
	}
	return decant.Hash(h.Sum(nil)[:16])
}

// hashContent adds a content to h, and an end that no JSON value holds.
func hashContent(h hash.Hash, c decant.Content) {
	if l, ok := c.(*Lazy); ok {
		h.Write(l.raw)
	} else if c != nil {
		h.Write([]byte(c.Text()))
	}
	h.Write([]byte{0})
}
