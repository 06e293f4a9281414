package wire

import "github.com/decantdev/decant"

// Raw returns the bytes of a block as they stand in the source of a request body: an element of a
// content list, or the bare string that is a message's whole content. They are part of Source and
// must not be changed. It returns "null" where a message has no content, and nil when the document
// is not a request body or has no such block.
func (d *Document) Raw(r decant.Ref) []byte {
	l, ok := d.layout.(*body)
	if !ok || r.Message < 1 || r.Message > len(l.sites) {
		return nil
	}
	sites := l.sites[r.Message-1]
	if r.Block < 0 || r.Block >= len(sites) {
		return nil
	}
	if s := sites[r.Block].span; !s.IsZero() {
		return s.Of(d.Source)
	}
	return []byte("null")
}
