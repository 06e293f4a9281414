package store

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"sync"
	"time"
)

// IDs makes ids for conversations, requests and decisions: UUIDs of version 7 (RFC 9562,
// section 5.7), which sort by the time at which they were made. It is safe for concurrent use; the
// ids of one IDs rise strictly.
type IDs struct {
	now  func() time.Time
	rand io.Reader

	mu   sync.Mutex
	last uint64 // milliseconds and the 12 bits below them, of the newest id
}

// NewIDs returns a source of ids that reads the clock now and the random bytes of rand, which must
// not run dry.
func NewIDs(now func() time.Time, rand io.Reader) *IDs { return &IDs{now: now, rand: rand} }

// Next returns a new id, 36 characters long. It fails only if reading random bytes does.
func (g *IDs) Next() (string, error) {
	var u [16]byte
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, err := io.ReadFull(g.rand, u[8:]); err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	// The 12 bits after the milliseconds count (RFC 9562, section 6.2, method 1), so that ids of
	// one millisecond, and of a clock that was set back, still rise.
	t := max(uint64(g.now().UnixMilli())<<12, g.last+1)
	g.last = t
	binary.BigEndian.PutUint64(u[:8], t>>12<<16|0x7000|t&0xfff)
	u[8] = u[8]&0x3f | 0x80
	var s [36]byte
	hex.Encode(s[0:8], u[0:4])
	hex.Encode(s[9:13], u[4:6])
	hex.Encode(s[14:18], u[6:8])
	hex.Encode(s[19:23], u[8:10])
	hex.Encode(s[24:36], u[10:16])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return string(s[:]), nil
}
