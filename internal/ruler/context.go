package ruler

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// Numbers of the grounded measure. On published compactions with the recorded answers of real models, whether
// a string is present hardly predicts what a model recalls; its presence with its context does.
const (
	aside = 100 // characters of the line to either side that count
	Most  = 12  // first places of a string that are looked at
	Need  = 4   // plain words in common that ground a string
)

// A Context is the plain words beside a string on its line, as hashes, each once.
type Context []uint64

// Contexts returns the contexts of the first places of an atom in a text, at most so many.
func Contexts(text, atom string, most int) []Context {
	return ContextsAt(text, atom, places(text, atom), most)
}

// places returns the places of an atom in a text, in order.
func places(text, atom string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; ; i += len(atom) {
			k := strings.Index(text[i:], atom)
			if k < 0 {
				return
			}
			if i += k; !yield(i) {
				return
			}
		}
	}
}

// ContextsAt returns the contexts of the first of some places of an atom in a text, at most so many.
func ContextsAt(text, atom string, places iter.Seq[int], most int) (out []Context) {
	for i := range places {
		if len(out) >= most {
			break
		}
		out = append(out, around(text, i, i+len(atom)))
	}
	return out
}

// around returns the plain words beside text[start:end] on its line.
func around(text string, start, end int) Context {
	left := text[back(text, start):start]
	left = left[strings.LastIndexByte(left, '\n')+1:]
	right, _, _ := strings.Cut(text[end:ahead(text, end)], "\n")
	var words [2 * aside / 5]uint64 // as many as fit there
	return append(Context(nil), plain(plain(words[:0], left), right)...)
}

// back returns where the characters before i begin that count.
func back(s string, i int) int {
	for n := 0; n < aside && i > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return i
}

// ahead returns where the characters from i on end that count.
func ahead(s string, i int) int {
	for n := 0; n < aside && i < len(s); n++ {
		i += step(s, i)
	}
	return i
}

// plain appends the plain words in s: small letters only, four at least, and no part of a name.
func plain(c Context, s string) Context {
	for i := 0; i < len(s); {
		start := i
		i = run(s, i, lower)
		if i == start {
			i++
			continue
		}
		if i-start < 4 || wordBefore(s, start) || byteBefore(s, start, "./-") || wordAt(s, i) > 0 ||
			i < len(s) && s[i] == '/' {
			continue
		}
		if h := hashOf(s[start:i]); !c.has(h) {
			c = append(c, h)
		}
	}
	return c
}

// hashOf is FNV-1a.
func hashOf(w string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(w) {
		h = (h ^ uint64(w[i])) * 1099511628211
	}
	return h
}

func (c Context) has(h uint64) bool {
	for _, x := range c {
		if x == h {
			return true
		}
	}
	return false
}

// common returns how many words c shares with d.
func (c Context) common(d Context) (n int) {
	for _, x := range c {
		if d.has(x) {
			n++
		}
	}
	return n
}

// Grounded reports whether a string that stood in some contexts stands in one now that shares enough
// plain words with one of them: four, or all where no context had as many. Both are in order; only the
// first [Most] of each count. A string that stood nowhere is not grounded.
func Grounded(before, now []Context) bool {
	return GroundedAnywhere(before[:min(len(before), Most)], now[:min(len(now), Most)])
}

// GroundedAnywhere is [Grounded] where all of the contexts count. In a history of many tasks the first places
// of a string are all in tasks of long ago, and a line that stands there as it was a moment ago would say
// nothing of it.
func GroundedAnywhere(before, now []Context) bool {
	if len(before) == 0 {
		return false
	}
	want := 0
	for _, c := range before {
		want = max(want, min(Need, len(c)))
	}
	for _, a := range now {
		for _, b := range before {
			if a.common(b) >= want {
				return true
			}
		}
	}
	return false
}
