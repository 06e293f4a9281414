package passage

import "github.com/decantdev/decant"

// mostHead is how many bytes of a call its result is found by.
const mostHead = 400

// Calls are the beginnings of what calls were made with, by their ids.
type Calls map[string]string

// Head returns what a text is found by beside its own words: of a call the tool, of a result the call that it
// is of. Calls must come before their results. kind, tool and call are those of the block that has the text.
func (c Calls) Head(kind decant.Kind, tool, call, text string) string {
	switch kind {
	case decant.KindUse:
		c[call] = text[:min(len(text), mostHead)]
		return tool
	case decant.KindResult:
		return tool + " " + c[call]
	}
	return ""
}
