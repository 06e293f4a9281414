package wire

import "github.com/decantdev/decant/wire/internal/request"

// ParseNext reads src as a document of d's format, as [ParseAs] does. It is meant for the request that
// comes after that of d in the same conversation, which repeats most of its bytes: system prompt, tools,
// and messages from the first on that are the same as in d, byte for byte, are neither checked nor read
// again, wherever in src they stand. [Document.Kept] of the result says how many messages these are.
//
// Apart from Kept the result is what ParseAs returns, error included, for every src. It refers to src
// alone: it shares nothing that could change with d, and keeps none of d's bytes. Only requests of the
// Messages API are read faster than by ParseAs.
func (d *Document) ParseNext(src []byte) (*Document, error) {
	if l, ok := d.layout.(*request.Body); ok && d.Format == Anthropic {
		if next := l.Next(d.Source, src); next != nil {
			return newDocument(Anthropic, next), nil
		}
	}
	return ParseAs(d.Format, src)
}

// Common returns how many bytes from the first on Source and src have in common. Of several documents that
// src may come after, the one that has most in common with it is the one for [Document.ParseNext].
func (d *Document) Common(src []byte) int { return request.Common(d.Source, src) }
