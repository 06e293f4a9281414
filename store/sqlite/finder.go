package sqlite

import (
	"errors"
	"io"
)

// A finder looks for pieces in bytes, for all of them in one pass. A piece has at least wordSize bytes, which as a
// number are looked up at every place.
type finder struct {
	pieces []string
	found  []bool
	of     map[uint64][]int // by their first bytes
	filter []uint64         // bits of those numbers that may be in of: most places need no more than this
}

const filterBits = 20

func newFinder(list []string) *finder {
	f := &finder{of: map[uint64][]int{}, filter: make([]uint64, 1<<(filterBits-6))}
	known := map[string]bool{}
	for _, p := range list {
		if known[p] {
			continue
		}
		known[p] = true
		key := keyOf(p)
		f.of[key] = append(f.of[key], len(f.pieces))
		bit := place(key)
		f.filter[bit/64] |= 1 << (bit % 64)
		f.pieces = append(f.pieces, p)
	}
	f.found = make([]bool, len(f.pieces))
	return f
}

// keyOf returns the first bytes of a piece, the first one highest.
func keyOf(p string) (key uint64) {
	for i := range wordSize {
		key = key<<8 | uint64(p[i])
	}
	return key
}

// place returns the bit of the filter for a number.
func place(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> (64 - filterBits) }

// look marks the pieces that stand in data.
func (f *finder) look(data []byte) {
	var key uint64
	for i, b := range data {
		key = key<<8 | uint64(b)
		bit := place(key)
		if f.filter[bit/64]&(1<<(bit%64)) == 0 || i < wordSize-1 {
			continue
		}
		for _, n := range f.of[key] {
			p, from := f.pieces[n], i-wordSize+1
			if len(data)-from >= len(p) && string(data[from:from+len(p)]) == p {
				f.found[n] = true
			}
		}
	}
}

// read looks through everything that r gives, and returns how much that was.
func (f *finder) read(r io.Reader) (size int64, err error) {
	buf, kept := make([]byte, 1<<20), 0
	for {
		n, err := io.ReadFull(r, buf[kept:])
		size += int64(n)
		f.look(buf[:kept+n])
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return size, nil
		case err != nil:
			return size, err
		}
		kept = copy(buf, buf[len(buf)-pieceSize+1:]) // a piece may lie across the end
	}
}

// left returns the pieces that were found.
func (f *finder) left() (out []string) {
	for i, p := range f.pieces {
		if f.found[i] {
			out = append(out, p)
		}
	}
	return out
}

// lowered returns a copy of data with small letters for the capital ones of ASCII.
func lowered(data []byte) []byte {
	out := make([]byte, len(data))
	for i, b := range data {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		out[i] = b
	}
	return out
}
