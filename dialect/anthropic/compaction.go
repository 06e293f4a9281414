package anthropic

import (
	"slices"

	"github.com/decantdev/decant/internal/jsonspan"
)

// A summary is what the provider put in the place of all that stood before it: it comes in one piece behind the start
// of its block, or with it (docs/reference/anthropic.md, "Compaction").
type summary struct{ content, encrypted *string }

// summarize takes the one delta of a block of compaction.
func (a *answer) summarize(b *block, s summary) {
	n := 0
	for _, text := range []*string{s.content, s.encrypted} {
		if text != nil {
			n += len(*text)
		}
	}
	a.came += n
	if a.room(n) {
		b.summary = &s
	}
}

// compaction appends a block of compaction as it stands in an answer that comes in one piece.
func (b *block) compaction(dst []byte) []byte {
	if b.summary == nil {
		return append(dst, b.start...)
	}
	dst = b.without(dst, "encrypted_content", "content")
	if b.summary.content == nil {
		dst = append(dst, "null"...)
	} else {
		dst = jsonspan.AppendQuote(dst, *b.summary.content)
	}
	if b.summary.encrypted != nil {
		dst = jsonspan.AppendQuote(append(dst, `,"encrypted_content":`...), *b.summary.encrypted)
	}
	return append(dst, '}')
}

// without appends the block as it began, without an empty signature and without the members named. The last of them
// comes last, and its value is left to be appended.
func (b *block) without(dst []byte, names ...string) []byte {
	sc := jsonspan.Scan(b.start, 0)
	dst = append(dst, '{')
	for sc.Open(); sc.Next(); {
		n := string(sc.Name())
		v := sc.Skip()
		if n == "signature" || slices.Contains(names, n) {
			continue
		}
		dst = append(append(jsonspan.AppendQuote(dst, n), ':'), v.Of(b.start)...)
		dst = append(dst, ',')
	}
	return append(jsonspan.AppendQuote(dst, names[len(names)-1]), ':')
}
