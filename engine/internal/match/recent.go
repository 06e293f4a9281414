package match

import (
	"bytes"
	"container/list"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/decantdev/decant/dialect"
	"github.com/decantdev/decant/wire"
)

// Recent keeps the memories of the newest requests, bounded by the bytes that they take. The zero value is
// empty.
type Recent struct {
	mu    sync.Mutex
	of    map[Key][]*list.Element // of order
	order list.List               // of *kept, last used first
	bytes int
}

// A Key is what requests of one conversation have in common at first sight.
type Key struct {
	api             wire.Format
	tenant, session string
	head            uint64 // fingerprint of the first bytes
}

type kept struct {
	key Key
	*Memory
}

const (
	mostRecent  = 48 << 20 // bytes of all that are kept
	largeRecent = 8 << 20  // bytes of the largest body that is kept
	recentHead  = 256      // bytes of the head
	recentSame  = 8        // memories with the same key that are looked at
)

// Find returns the memory of the request that has most in common with a body, nil when none has anything.
func (c *Recent) Find(k Key, body []byte) *Memory {
	c.mu.Lock()
	ms := make([]*Memory, 0, recentSame)
	for _, e := range c.of[k] {
		ms = append(ms, e.Value.(*kept).Memory)
	}
	c.mu.Unlock()
	var out *Memory
	best := 0
	for _, m := range ms {
		if n := m.doc.Common(body); n > best {
			out, best = m, n
		}
	}
	return out
}

// Put keeps m, in place of was when m goes on from there; was may be nil.
func (c *Recent) Put(k Key, m, was *Memory) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if was != nil && 2*m.doc.Kept >= len(was.doc.Conversation.Messages) {
		if i := slices.IndexFunc(c.of[k], func(e *list.Element) bool { return e.Value.(*kept).Memory == was }); i >= 0 {
			c.drop(c.of[k][i])
		}
	}
	if len(m.doc.Source) > largeRecent || m.footprint() > mostRecent/2 { // it would leave no room for others
		return
	}
	if c.of == nil {
		c.of = map[Key][]*list.Element{}
	}
	if same := c.of[k]; len(same) == recentSame {
		c.drop(same[0])
	}
	c.of[k] = append(c.of[k], c.order.PushFront(&kept{k, m}))
	c.bytes += m.footprint()
	for c.bytes > mostRecent {
		c.drop(c.order.Back())
	}
}

func (c *Recent) drop(e *list.Element) {
	h := c.order.Remove(e).(*kept)
	c.bytes -= h.footprint()
	rest := slices.DeleteFunc(c.of[h.key], func(o *list.Element) bool { return o == e })
	if c.of[h.key] = rest; len(rest) == 0 {
		delete(c.of, h.key)
	}
}

// KeyOf returns the key of a request with a body. What a client says of each of its requests is no part of the head (see
// wire's billing lines).
func KeyOf(d dialect.Dialect, tenant, session string, body []byte, seed maphash.Seed) Key {
	head, _, _ := bytes.Cut(body[:min(len(body), recentHead)], []byte("x-anthropic-"))
	return Key{d.About().Format, tenant, session, maphash.Bytes(seed, head)}
}
