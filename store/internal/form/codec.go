package form

import (
	"fmt"

	"github.com/klauspost/compress/s2"

	"github.com/decantdev/decant/store"
)

// How data is encoded. The numbers are stored: never reorder them.
const (
	plain  = 0
	snappy = 1 // S2
)

// minZip is the size from which compression is tried: below, it hardly ever gains anything.
const minZip = 192

// Encode returns data as it is stored, in buf if it fits there and is smaller so. grown is buf, or what took its place.
func Encode(buf, data []byte) (codec int, stored, grown []byte) {
	n := s2.MaxEncodedLen(len(data))
	if len(data) < minZip || n < 0 {
		return plain, NonNil(data), buf
	}
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	if z := s2.Encode(buf[:n], data); len(z) < len(data) {
		return snappy, z, buf
	}
	return plain, data, buf
}

// Decode returns the content that is stored as data. Its size is checked unless it is negative.
func Decode(codec, size int, data []byte) (out []byte, err error) {
	switch codec {
	case plain:
		out = data
	case snappy:
		var n int
		if n, err = s2.DecodedLen(data); err == nil && (size < 0 || n == size) {
			out, err = s2.Decode(nil, data)
		}
	default:
		return nil, fmt.Errorf("encoding %d: %w", codec, store.ErrNewer)
	}
	if err == nil && size >= 0 && len(out) != size {
		err = fmt.Errorf("%d bytes, want %d", len(out), size)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	return out, nil
}

// NonNil returns b, or an empty slice: a nil slice would be NULL.
func NonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
