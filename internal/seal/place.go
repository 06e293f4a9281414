package seal

import (
	"encoding/binary"
	"sync"
)

// A Place says what a value is and where it is stored. The column is "table.column"; the other fields identify the row, as
// far as it has them, and never change.
type Place struct {
	Column  string
	Tenant  string
	ID      string // of the conversation, or of what the row is about
	Part    string // of that
	Number  int64
	Version int64
}

// rooms is a pool of buffers for encoded places.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// append appends the place in a form that no other place has.
func (p *Place) append(b []byte) []byte {
	for _, s := range [...]string{p.Column, p.Tenant, p.ID, p.Part} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	b = binary.AppendVarint(b, p.Number)
	return binary.AppendVarint(b, p.Version)
}
