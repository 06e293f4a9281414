package token

import (
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// o200k loads the vocabulary of OpenAI's models since GPT-4o, which is part of the program. It
// takes some 20 ms, so it happens at the first count. The codec is safe for concurrent use.
var o200k = sync.OnceValue(codec.NewO200kBase)

// exact counts tokens in the o200k vocabulary. The library runs at 10 MB/s and agents send the same
// blocks again and again, so exact remembers the counts of whole texts and, for new texts, of pieces.
type exact struct {
	seen   *lru
	pieces *pieces
}

// remembered is how many texts an exact counter remembers, at about 100 bytes each.
const remembered = 1 << 15

// short is the length in bytes under which counting is not worth remembering.
const short = 48

func newExact() *exact { return &exact{newLRU(remembered), newPieces()} }

func (e *exact) count(s string) int {
	if len(s) < short {
		return e.pieces.count(s)
	}
	key := e.seen.keyOf(s)
	if n, ok := e.seen.get(key); ok {
		return n
	}
	n := e.pieces.count(s)
	e.seen.put(key, n)
	return n
}

// libraryMost is the most bytes that are given to the vocabulary at once. The library needs up to 140
// bytes of memory for each.
const libraryMost = 32 << 10

// countLong counts s in parts that are cut where no token can cross. Where a part holds no such place
// (a long line of Chinese) the cut may cost one token.
func countLong(s string) (n int) {
	for len(s) > libraryMost {
		cut := cutBefore(s, libraryMost)
		n += countPart(s[:cut])
		s = s[cut:]
	}
	return n + countPart(s)
}

func countPart(s string) int {
	n, err := o200k().Count(s)
	if err != nil { // the splitting expression gave up; the average is better than nothing
		return (len(s) + 3) / 4
	}
	return n
}

// cutBefore returns the last place in s[:limit] that is certain to be between two tokens: after an end
// of line that is not followed by a blank or a slash, or before a blank that follows a letter. If there
// is none, it returns the last rune boundary.
func cutBefore(s string, limit int) int {
	for i := limit; i > limit/2; i-- {
		before, after := s[i-1], s[i]
		if before == '\n' && after > ' ' && after < 0x80 && after != '/' {
			return i
		}
		if after == ' ' && isLetter(before) {
			return i
		}
	}
	for i := limit; i > limit-4; i-- {
		if s[i]&0xC0 != 0x80 {
			return i
		}
	}
	return limit
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
