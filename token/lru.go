package token

import (
	"container/list"
	"sync"

	"github.com/decantdev/decant"
)

// lru remembers the token counts of the texts that were used last. It is safe for concurrent use.
type lru struct {
	mu    sync.Mutex
	limit int
	order *list.List // of *counted, newest first
	items map[decant.Hash]*list.Element
}

type counted struct {
	key    decant.Hash
	tokens int
}

func newLRU(limit int) *lru {
	return &lru{limit: limit, order: list.New(), items: map[decant.Hash]*list.Element{}}
}

func keyOf(s string) decant.Hash { return decant.HashText(s) }

func (c *lru) get(key decant.Hash) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.items[key]
	if e == nil {
		return 0, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*counted).tokens, true
}

func (c *lru) put(key decant.Hash, tokens int) {
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
