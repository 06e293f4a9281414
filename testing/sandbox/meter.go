package sandbox

import (
	"sort"
	"unicode/utf8"

	"github.com/decantdev/decant"
)

// A meter says how much of an answer there is still room for, in tokens.
type meter struct {
	counter    decant.Counter
	room, used int
}

// fit cuts a text to the room that is left, and takes that. It reports whether all of it fits.
func (m *meter) fit(text string) (string, bool) {
	if m.take(m.counter.Count(text)) {
		return text, true
	}
	n := sort.Search(len(text), func(i int) bool { return m.counter.Count(text[:i+1]) > m.room })
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	m.used += m.counter.Count(text[:n])
	m.room = 0
	return text[:n], false
}

// take takes room for a number of tokens. Where there is less it takes none, and returns false.
func (m *meter) take(tokens int) bool {
	if tokens > m.room {
		return false
	}
	m.room -= tokens
	m.used += tokens
	return true
}
