package token

import (
	"container/list"
	"hash/maphash"
	"sync"
)

// lru remembers the token counts of the texts that were used most recently. It is safe for concurrent use.
type lru struct {
	seed  maphash.Seed
	mu    sync.Mutex
	limit int
	order *list.List // of *counted, newest first
	items map[textKey]*list.Element
}

// A textKey identifies a text. Each process has its own seed for the hash, so an attacker cannot make two
// texts collide. The odds that two remembered texts collide by chance are one in 10^10.
type textKey struct {
	hash uint64
	size int
}

type counted struct {
	key    textKey
	tokens int
}

func newLRU(limit int) *lru {
	return &lru{seed: maphash.MakeSeed(), limit: limit, order: list.New(), items: map[textKey]*list.Element{}}
}

func (c *lru) keyOf(s string) textKey { return textKey{maphash.String(c.seed, s), len(s)} }

func (c *lru) get(key textKey) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.items[key]
	if e == nil {
		return 0, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*counted).tokens, true
}

func (c *lru) put(key textKey, tokens int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.items[key] != nil {
		return // somebody else counted the same text meanwhile
	}
	if c.order.Len() >= c.limit {
		oldest := c.order.Back()
		delete(c.items, c.order.Remove(oldest).(*counted).key)
	}
	c.items[key] = c.order.PushFront(&counted{key, tokens})
}
