package wire

import "github.com/decantdev/decant"

// A slab hands out pieces of large arrays, so that a conversation of ten thousand blocks does not
// cost ten thousand allocations. What it handed out stays where it is.
type slab struct {
	texts  []lazy
	blocks []decant.Block
	sites  []site
}

// slabSize is how many pieces an array of a slab holds.
const slabSize = 256

func (s *slab) keepText(l lazy) *lazy {
	if len(s.texts) == cap(s.texts) {
		s.texts = make([]lazy, 0, slabSize)
	}
	s.texts = append(s.texts, l)
	return &s.texts[len(s.texts)-1]
}

func (s *slab) keepBlocks(bs []decant.Block) []decant.Block { return keep(&s.blocks, bs) }

func (s *slab) keepSites(ss []site) []site { return keep(&s.sites, ss) }

// keep copies vs to the end of the array and returns the copy, which cannot grow into its neighbour.
func keep[T any](array *[]T, vs []T) []T {
	if len(*array)+len(vs) > cap(*array) {
		*array = make([]T, 0, max(slabSize, len(vs)))
	}
	n := len(*array)
	*array = append(*array, vs...)
	return (*array)[n:len(*array):len(*array)]
}
