package form

import (
	"encoding/binary"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// A segment is what one commit did to a conversation's chain: its entries stand from its first
// position on, in place of whatever stood there and after. The segments up to a version, one after
// the other, give the chain as of that version; each is one row, however many entries it has.
//
// Its data is the number of the format, then for each entry: the hashes, whether there is a text first,
// then the strings with their lengths in front, then the numbers, each as package binary has them.
const segmentFormat = 1

// NewSegment returns the data of a segment without entries, with room for n.
func NewSegment(n int) []byte { return append(make([]byte, 0, 1+n*128), segmentFormat) }

// AppendEntry appends an entry to a segment's data. The position follows from its place.
func AppendEntry(data []byte, e *store.Entry) []byte {
	text := e.Text[:]
	if e.Text.IsZero() {
		text = nil
	}
	data = append(data, byte(len(text)))
	for _, h := range [][]byte{e.Chain[:], e.Raw[:], text} {
		data = append(data, h...)
	}
	for _, s := range []string{string(e.Role), string(e.Kind), string(e.Author), e.CallID, e.Name} {
		data = binary.AppendUvarint(data, uint64(len(s)))
		data = append(data, s...)
	}
	for _, n := range []int{e.Message, e.Block, e.Tokens} {
		data = binary.AppendVarint(data, int64(n))
	}
	return data
}

// AppendSegment appends the entries of a segment to a chain, which ends before its first position.
func AppendSegment(chain []store.Entry, data []byte) ([]store.Entry, error) {
	if len(data) == 0 || data[0] != segmentFormat {
		return nil, fmt.Errorf("segment of another format: %w", store.ErrNewer)
	}
	d := segmentDecoder{text: string(data[1:])}
	for d.text != "" {
		e := store.Entry{Position: len(chain) + 1}
		d.entry(&e)
		chain = append(chain, e)
	}
	if d.short {
		return nil, fmt.Errorf("segment ends in an entry: %w", store.ErrCorrupt)
	}
	return chain, nil
}

// A segmentDecoder takes entries from the front of text, which their strings share.
type segmentDecoder struct {
	text  string
	short bool // there was less than there had to be
}

func (d *segmentDecoder) entry(e *store.Entry) {
	text := d.take(1)
	copy(e.Chain[:], d.take(len(e.Chain)))
	copy(e.Raw[:], d.take(len(e.Raw)))
	if text != "\x00" {
		copy(e.Text[:], d.take(len(e.Text)))
	}
	e.Role, e.Kind, e.Author = decant.Role(d.string()), decant.Kind(d.string()), decant.Author(d.string())
	e.CallID, e.Name = d.string(), d.string()
	e.Message, e.Block, e.Tokens = d.int(), d.int(), d.int()
}

// take returns the next n bytes. When there are fewer, it returns nothing and there is no more.
func (d *segmentDecoder) take(n int) (s string) {
	if n < 0 || n > len(d.text) {
		d.short, d.text = true, ""
		return ""
	}
	s, d.text = d.text[:n], d.text[n:]
	return s
}

func (d *segmentDecoder) string() string { return d.take(int(d.uvarint())) }

// int returns a number that binary.AppendVarint wrote.
func (d *segmentDecoder) int() int {
	u := d.uvarint()
	return int(int64(u>>1) ^ -int64(u&1))
}

func (d *segmentDecoder) uvarint() (u uint64) {
	for shift := 0; shift < 64; shift += 7 {
		b := d.take(1)
		if b == "" {
			return 0
		}
		u |= uint64(b[0]&0x7f) << shift
		if b[0] < 0x80 {
			return u
		}
	}
	d.take(-1)
	return 0
}
