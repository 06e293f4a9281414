package wire

import "github.com/decantdev/decant/wire/internal/request"

// ParseNext reads src as a document of d's format, as [ParseAs] does. It is meant for the request that
// comes after that of d in the same conversation, which repeats most of its bytes: system prompt, tools,
// and messages from the first on that are the same as in d, byte for byte, are neither checked nor read
// again, wherever in src they stand. [Document.Kept] of the result says how many messages these are.
//
// It returns false where src has to be read as a whole, by ParseAs: when it is not valid, and in any format but that
// of the Messages API. Otherwise, apart from Kept, the result is what ParseAs returns. It refers to src alone: it
// shares nothing that could change with d, and keeps none of d's bytes.
func (d *Document) ParseNext(src []byte) (*Document, bool) {
	if l, ok := d.layout.(*request.Body); ok && d.Format == Anthropic {
		if next := l.Next(d.Source, src); next != nil {
			return newDocument(Anthropic, next), true
		}
	}
	return nil, false
}

// Common returns how many bytes from the first on Source and src have in common. Of several documents that
// src may come after, the one that has most in common with it is the one for [Document.ParseNext].
func (d *Document) Common(src []byte) int { return request.Common(d.Source, src) }
