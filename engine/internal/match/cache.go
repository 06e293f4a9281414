package match

import (
	"container/list"
	"slices"
	"sync"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// A Start is where conversations are looked for: what requests of one conversation have in common.
type Start struct {
	Tenant, Session string
	First           decant.Hash // h(1)
}

// Cache keeps the conversations that were used last, bounded by their number and by the number of
// their entries. What decisions say counts as entries that take as much.
type Cache struct {
	maxLines, maxEntries int

	mu      sync.Mutex
	byStart map[Start][]*Stored
	places  map[store.Key]*list.Element // of held
	order   *list.List                  // of held, last used first
	entries int
}

// held is a conversation in the cache.
type held struct {
	*Stored
	start   Start
	entries int // counted for it
}

// NewCache returns a cache of so many conversations with so many entries together.
func NewCache(maxLines, maxEntries int) *Cache {
	return &Cache{
		maxLines: maxLines, maxEntries: maxEntries,
		byStart: map[Start][]*Stored{}, places: map[store.Key]*list.Element{}, order: list.New(),
	}
}

// From returns the conversations that begin at s, and counts them as used.
func (c *Cache) From(s Start) []*Stored {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.byStart[s] {
		c.order.MoveToFront(c.places[l.Key])
	}
	return slices.Clone(c.byStart[s])
}

// mostRest bounds how many conversations of a session are looked through for a request that lacks
// their beginning.
const mostRest = 4

// session returns the conversations of a session that were used last, none when the session has no name.
func (c *Cache) session(tenant, session string) (out []*Stored) {
	if session == "" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.order.Front(); e != nil && len(out) < mostRest; e = e.Next() {
		if h := e.Value.(*held); h.start.Tenant == tenant && h.start.Session == session {
			out = append(out, h.Stored)
		}
	}
	return out
}

// Get returns the conversation with a key, nil when it is not kept.
func (c *Cache) Get(k store.Key) *Stored {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.places[k]; e != nil {
		return e.Value.(*held).Stored
	}
	return nil
}

// Put keeps l, in place of one with its key, and forgets what was not used for longest.
func (c *Cache) Put(s Start, l *Stored) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(l.Key)
	n := weight(l.State())
	c.places[l.Key] = c.order.PushFront(&held{Stored: l, start: s, entries: n})
	c.byStart[s] = append(c.byStart[s], l)
	c.entries += n
	for len(c.places) > 1 && (len(c.places) > c.maxLines || c.entries > c.maxEntries) {
		c.drop(c.order.Back().Value.(*held).Key)
	}
}

// entryBytes is about what an entry takes in memory, with its place in the spine.
const entryBytes = 256

// weight returns what a conversation takes in memory, in entries.
func weight(s *store.State) int {
	const decision = 400 // bytes, without what it says
	bytes := 0
	for i := range s.Decisions {
		d := &s.Decisions[i]
		bytes += decision + len(d.Text) + len(d.Reason)
		if cp := d.Checkpoint; cp != nil {
			bytes += len(cp.Summary)
			for k := range cp.Facts {
				bytes += entryBytes + len(cp.Facts[k].Text)
			}
		}
	}
	return len(s.Chain) + bytes/entryBytes
}

// Forget drops the conversation with a key.
func (c *Cache) Forget(k store.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(k)
}

func (c *Cache) drop(k store.Key) {
	e := c.places[k]
	if e == nil {
		return
	}
	h := e.Value.(*held)
	c.order.Remove(e)
	delete(c.places, k)
	c.entries -= h.entries
	same := func(l *Stored) bool { return l == h.Stored }
	if c.byStart[h.start] = slices.DeleteFunc(c.byStart[h.start], same); len(c.byStart[h.start]) == 0 {
		delete(c.byStart, h.start)
	}
}
