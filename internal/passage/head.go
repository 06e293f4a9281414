package passage

import (
	"github.com/decantdev/decant"
)

// mostHead is how many bytes of a call its result is found by.
const mostHead = 400

// Head returns what a block is found by beside its text: of a result the call that it is of. calls are the arguments of the
// calls before it, by their ids; Head adds to them.
func Head(b *decant.Block, calls map[string]string) string {
	switch b.Kind {
	case decant.KindUse:
		text := b.Text()
		calls[b.CallID] = text[:min(len(text), mostHead)]
		return b.Name
	case decant.KindResult:
		return b.Name + " " + calls[b.CallID]
	}
	return ""
}
