// Package ruler measures what a text still holds of what an agent needs again.
//
// The packages that decide what Decant keeps (fact, summary, reduce) know what a fact is and choose by it. A
// measure that asked the same code would grade them by their own key: it would never ask for what they
// do not know. So this package shares no code with them, imports nothing but the standard library, and must
// not be imported by them. It ports the rule of a ruler that is a program of its own: seven kinds of
// strings that have to be repeated letter by letter ([Atoms]), the decoded values of calls without the
// names of tools and parameters ([Values], [Names]), and a string that counts as remembered with its
// meaning ("grounded") only on a line that says something of what stood beside it before ([Grounded]).
// testdata holds the answers of that program on texts of real sessions.
//
// Everything here is a function of its arguments, and takes time in proportion to the text.
package ruler

import (
	"strings"
	"unicode/utf8"
)

// Kind is the sort of an atom.
type Kind uint8

// The kinds, in the order in which they claim a string that fits several.
const (
	URL    Kind = iota // http://host/path
	Path               // pkg/main.go, ~/x, main.go
	Hash               // 7 to 40 small hexadecimal digits, a UUID
	Flag               // --long-option
	Error              // ParseError, ERR_TIMEOUT, ENOENT, E1234
	Ident              // pkg.Name, snake_case, camelCase
	Number             // v1.2.3, #123, 40000
)

var kindNames = [...]string{"url", "path", "hash", "flag", "error", "ident", "num"}

// String returns the kind's name.
func (k Kind) String() string { return kindNames[k] }

// stop are strings that every session has.
var stop = map[string]bool{
	"e.g": true, "i.e": true, "README.md": true, "tool_use": true, "tool_result": true, "file_path": true,
	"old_string": true, "new_string": true,
}

// Each calls yield with every atom of text, kind by kind. A string may come more than once, and as more
// than one kind.
func Each(text string, yield func(atom string, k Kind)) {
	keep := func(atom string, k Kind) {
		if atom = trim(atom, k); atom != "" && !stop[atom] {
			yield(atom, k)
		}
	}
	urls(text, keep)
	paths(text, keep)
	words(text, keep)
	flags(text, keep)
	numbers(text, keep)
}

// trim returns an atom without the punctuation behind it; empty when what remains is too short to mean
// anything.
func trim(atom string, k Kind) string {
	atom = strings.TrimRight(atom, ".,:;")
	switch k {
	case Path:
		atom = strings.TrimRight(atom, "/")
		if utf8.RuneCountInString(atom) < 5 || !strings.ContainsAny(atom, "/.") {
			return ""
		}
	case Ident:
		if utf8.RuneCountInString(atom) < 6 {
			return ""
		}
	}
	return atom
}

// Atoms returns the atoms of text. A string that fits several kinds is of the first of them.
func Atoms(text string) map[string]Kind {
	out := map[string]Kind{}
	Each(text, func(atom string, k Kind) {
		if was, ok := out[atom]; !ok || k < was {
			out[atom] = k
		}
	})
	return out
}

// leastPart is the length in characters from which an atom counts as held where it is part of something
// longer: main.go in cmd/main.go.
const leastPart = 6

// Holds reports whether an atom of a kind is in a text whose own atoms are given: as one of them, or, if
// it is long enough and no number, as part of something longer.
func Holds(text string, atoms map[string]Kind, atom string, k Kind) bool {
	if _, ok := atoms[atom]; ok {
		return true
	}
	return InParts(atom, k) && strings.Contains(text, atom)
}

// InParts reports whether an atom counts as held where it is part of something longer.
func InParts(atom string, k Kind) bool {
	return k != Number && utf8.RuneCountInString(atom) >= leastPart
}
