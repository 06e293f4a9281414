package sqlite

import (
	"math/rand/v2"
	"strings"

	"github.com/decantdev/decant"
)

// A piece is a run of bytes of something that was removed, by which it would be known in a file.
const (
	pieceSize = 16 // of content
	wordSize  = 8  // of a word in the index, which keeps of each only what the one before does not have
	longWord  = 12 // a word must be longer, because its beginning may be that of another
)

// Bounds of what is kept of the removed, in memory and nowhere else.
const (
	mostPieces  = 1 << 16
	piecesEach  = 8        // of one content
	piecesApart = 16 << 10 // bytes between them
)

// pieces are samples of what is being removed: of each content some, and of all contents together a bounded number,
// each with the same chance.
type pieces struct {
	list []string
	seen int
	rand *rand.Rand
}

func newPieces() *pieces { return &pieces{rand: rand.New(rand.NewPCG(1, 2))} }

// add keeps a piece, perhaps in place of another one.
func (p *pieces) add(piece []byte) {
	p.seen++
	if len(p.list) < mostPieces {
		p.list = append(p.list, string(piece))
	} else if i := p.rand.IntN(p.seen); i < mostPieces {
		p.list[i] = string(piece)
	}
}

// take takes pieces of a content, from its beginning to its end: where it was stored over several pages none may
// lie across two of them.
func (p *pieces) take(data []byte) {
	n := min(piecesEach, 3+len(data)/piecesApart)
	last := len(data) - pieceSize
	for i := range n {
		from := last * i / (n - 1)
		if from < 0 {
			return // too short to be known by
		}
		if at := telling(data, from, last); at >= 0 {
			p.add(data[at : at+pieceSize])
		}
	}
}

// telling returns the first place from which on a piece has more than a few different bytes, as rules and
// indentations have; -1 if none is near.
func telling(data []byte, from, last int) int {
	for ; from <= last; from += pieceSize {
		var seen [256]bool
		different := 0
		for _, b := range data[from : from+pieceSize] {
			if !seen[b] {
				seen[b] = true
				different++
			}
		}
		if different >= pieceSize/2 {
			return from
		}
	}
	return -1
}

// text takes pieces of a text that was in the index: of its content, its hash, and of words that are names of
// something. Others are in other texts, too.
func (p *pieces) text(h decant.Hash, data []byte) {
	p.take(data)
	p.add(h[:])
	left := piecesEach
	for word := range strings.FieldsFuncSeq(string(data[:min(len(data), piecesApart)]), func(r rune) bool { return !isToken(r) }) {
		if len(word) < longWord || strings.ContainsFunc(word, func(r rune) bool { return r >= 0x80 }) || !strings.ContainsAny(word, "0123456789") {
			continue
		}
		p.add([]byte(strings.ToLower(word[len(word)-wordSize:])))
		if left--; left == 0 {
			return
		}
	}
}
