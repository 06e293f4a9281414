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

// A Stored is a conversation of the store that is kept in memory. Its state is replaced, never
// changed, except that entries are appended behind it; so a state that was taken from it stays as
// it was.
type Stored struct {
	Key   store.Key
	Notes any // of who keeps it, with a lock of their own; lineage does not look at them

	mu     sync.Mutex
	state  *store.State
	spine  []int    // indexes in state.Chain of the entries that are not thinking
	prints []uint64 // of each of them, the fingerprint it was last seen with; 0: not seen yet

	inForce []decant.Decision // see confirmed
	vouched bool              // inForce is known
}

// NewStored returns a conversation to be kept with a state, and with the notes of who keeps it.
func NewStored(s *store.State, notes any) *Stored {
	l := &Stored{Key: s.Key, Notes: notes}
	l.set(s)
	return l
}

// set makes s the conversation's state. Entries that it shares with the state before keep what is known.
func (l *Stored) set(s *store.State) {
	keep := 0
	if l.state != nil {
		for keep < len(l.spine) && l.spine[keep] < len(s.Chain) &&
			s.Chain[l.spine[keep]].Chain == l.state.Chain[l.spine[keep]].Chain &&
			s.Chain[l.spine[keep]].Kind != decant.KindThinking {
			keep++
		}
	}
	from := 0
	if keep > 0 {
		from = l.spine[keep-1] + 1
	}
	l.state, l.spine, l.prints, l.vouched = s, l.spine[:keep], l.prints[:keep], false
	more := len(s.Chain) - from
	l.spine, l.prints = slices.Grow(l.spine, more), slices.Grow(l.prints, more)
	for i := from; i < len(s.Chain); i++ {
		if s.Chain[i].Kind != decant.KindThinking {
			l.spine = append(l.spine, i)
			l.prints = append(l.prints, 0)
		}
	}
}

// State returns the conversation's state.
func (l *Stored) State() *store.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// Saw notes the fingerprints of the first n blocks of a request that goes on with the conversation, so that a
// cache marker that has moved on costs one canonical hash and not one on every request. Blocks that
// another request has replaced meanwhile are not those that were seen.
func (l *Stored) Saw(r *Prompt, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range min(n, len(l.prints), r.Hashed()) {
		if r.Hash(i) == l.state.Chain[l.spine[i]].Chain {
			l.prints[i] = r.At(i).Print
		}
	}
}

// Advance makes the state after b the conversation's state, unless another commit came in between.
func (l *Stored) Advance(base *store.State, b *store.Batch, version int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state != base {
		return false
	}
	s := *base
	s.Version = version
	known := l.vouched && b.Replace == 0 && len(b.Decisions) == 0
	if b.Replace > 0 {
		s.Chain = slices.Clip(s.Chain[:b.Replace-1])
	}
	s.Chain = slices.Grow(s.Chain, len(b.Entries))
	for _, e := range b.Entries {
		e.Position = len(s.Chain) + 1
		s.Chain = append(s.Chain, e)
	}
	s.Length = len(s.Chain)
	s.Decisions = append(s.Decisions, b.Decisions...)
	if b.Head != nil {
		s.Head = *b.Head
	}
	if b.Events.Anchor != nil {
		s.Anchor = *b.Events.Anchor
	}
	l.set(&s)
	l.vouched = known
	return true
}

// Anchored notes an anchor that was recorded without a commit.
func (l *Stored) Anchored(a store.Anchor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if was := &l.state.Anchor; was.Time.After(a.Time) {
		return
	}
	s := *l.state
	s.Anchor = a
	l.state = &s
}

// looks reports whether the i-th block of the conversation's spine has the bytes of a.
func (l *Stored) looks(i int, a *Block) bool {
	if l.prints[i] != 0 {
		return a.Print == l.prints[i]
	}
	return a.Raw() == l.state.Chain[l.spine[i]].Raw
}

// Shared returns how many blocks at the beginning of a request are those of l, and the state of l
// that this is about: other requests may move l on at any time. What has the same raw bytes as before
// is the same block; only the rest is brought into canonical form.
func (l *Stored) Shared(r *Prompt) (int, *store.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.sharedLocked(r)
	return n, l.state
}

// SharedWhole returns the number of blocks of l when the request holds them all, else 0.
func (l *Stored) SharedWhole(r *Prompt) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := l.sharedLocked(r); n == len(l.spine) {
		return n
	}
	return 0
}

func (l *Stored) sharedLocked(r *Prompt) int {
	n := min(len(r.Spine), len(l.spine))
	for i := range n {
		known := &l.state.Chain[l.spine[i]]
		if a := r.At(i); i == r.Hashed() && l.looks(i, a) && a.Role == known.Role {
			r.Take(known.Chain)
			continue
		}
		if r.Hash(i) != known.Chain {
			return i
		}
	}
	return n
}
