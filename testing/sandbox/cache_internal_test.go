package sandbox

import (
	"encoding/binary"
	"testing"
	"time"
)

func TestCacheForgetsExpiredEntries(t *testing.T) {
	var c cache
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for i := range 100_000 {
		var key prefix
		binary.BigEndian.PutUint64(key[:], uint64(i))
		c.commit(hit{start: now, create: map[prefix]entry{key: {ttl: 5 * time.Minute}}})
		now = now.Add(time.Second)
	}
	if got := len(c.entries); got > 2000 {
		t.Errorf("%d entries are kept, 300 are alive", got)
	}
}

func TestMemoryForgetsTheOldest(t *testing.T) {
	var m memory
	for i := range memorySize + 10 {
		m.keep("a", []string{string(binary.BigEndian.AppendUint64(nil, uint64(i)))}, nil)
	}
	if len(m.byID) != memorySize || len(m.order) != memorySize {
		t.Errorf("%d calls and %d places are kept, want %d", len(m.byID), len(m.order), memorySize)
	}
	if _, ok := m.of("a", string(binary.BigEndian.AppendUint64(nil, memorySize+9))); !ok {
		t.Error("the newest call is forgotten")
	}
}
