package engine

import (
	"bytes"
	"container/list"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// A memory is what stays known of a request that was read: enough to read the next one of its
// conversation, which repeats most of its bytes, from where it differs. It is never changed.
type memory struct {
	doc    *wire.Document
	prints []uint64      // of each block
	chain  []decant.Hash // of the spine, as far as it was needed
	counts []int32       // tokens of each block by est; 0: not counted
	est    *token.Estimator
}

// remember returns what is to be kept of a reading.
func (r *reading) remember() *memory {
	m := &memory{doc: r.doc, chain: r.chain, counts: slices.Clone(r.counts), est: r.est, prints: make([]uint64, len(r.atoms))}
	for i := range r.atoms {
		m.prints[i] = r.atoms[i].print
	}
	return m
}

// recall takes over what m knows of the atoms so far, which are the same as those of m.
func (r *reading) recall(m *memory) {
	r.known = len(r.atoms)
	for i := range r.atoms {
		r.atoms[i].print = m.prints[i]
	}
	r.est = m.est
	copy(r.counts[:r.known], m.counts)
	r.chain = append(r.chain, m.chain[:min(len(r.spine), len(m.chain))]...)
}

// tokens returns the tokens of the i-th atom, which are counted once.
func (r *reading) tokens(i int, est *token.Estimator) int {
	if r.est != est {
		clear(r.counts)
		r.est = est
	}
	if r.counts[i] == 0 {
		r.counts[i] = int32(est.Block(r.atoms[i].Block))
	}
	return int(r.counts[i])
}

// recent keeps the memories of the newest requests, bounded by the bytes that they take. The zero value is
// empty.
type recent struct {
	mu    sync.Mutex
	of    map[recentKey][]*list.Element // of order
	order list.List                     // of *kept, last used first
	bytes int
}

// A recentKey is what requests of one conversation have in common at first sight.
type recentKey struct {
	tenant, session string
	head            uint64 // fingerprint of the first bytes
}

type kept struct {
	key recentKey
	*memory
}

const (
	mostRecent  = 48 << 20 // bytes of all that are kept
	largeRecent = 8 << 20  // bytes of the largest body that is kept
	recentHead  = 256      // bytes of the head
	recentSame  = 8        // memories with the same key that are looked at
)

// What a request takes in memory besides its body, in bytes: as a document, and for each of its blocks. A request of a
// few words takes a hundred times what it has sent.
const (
	documentBytes = 8 << 10
	blockBytes    = 512
)

// footprint returns about how many bytes a request takes in memory, of which a body and a number of blocks are known.
func footprint(body []byte, blocks int) int { return len(body) + documentBytes + blockBytes*blocks }

// Footprint returns about how many bytes a prepared request takes in memory until it is finished, besides its
// bodies: as it was read, and as it is sent.
func (p *Prepared) Footprint() int64 {
	if p.r == nil {
		return 0
	}
	return 2 * int64(footprint(nil, len(p.r.atoms)))
}

func (m *memory) footprint() int { return footprint(m.doc.Source, len(m.prints)) }

// recentKey returns the key of a request. What a client says of each of its requests is no part of the head
// (see wire's billing lines).
func (e *Engine) recentKey(req *Request) recentKey {
	head, _, _ := bytes.Cut(req.Body[:min(len(req.Body), recentHead)], []byte("x-anthropic-"))
	return recentKey{req.Tenant, req.Session, maphash.Bytes(e.seed, head)}
}

// find returns the memory of the request that has most in common with a body, nil when none has anything.
func (c *recent) find(k recentKey, body []byte) *memory {
	c.mu.Lock()
	ms := make([]*memory, 0, recentSame)
	for _, e := range c.of[k] {
		ms = append(ms, e.Value.(*kept).memory)
	}
	c.mu.Unlock()
	var out *memory
	best := 0
	for _, m := range ms {
		if n := m.doc.Common(body); n > best {
			out, best = m, n
		}
	}
	return out
}

// put keeps m, in place of was when m goes on from there; was may be nil.
func (c *recent) put(k recentKey, m, was *memory) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if was != nil && 2*m.doc.Kept >= len(was.doc.Conversation.Messages) {
		if i := slices.IndexFunc(c.of[k], func(e *list.Element) bool { return e.Value.(*kept).memory == was }); i >= 0 {
			c.drop(c.of[k][i])
		}
	}
	if len(m.doc.Source) > largeRecent || m.footprint() > mostRecent/2 { // it would leave no room for others
		return
	}
	if c.of == nil {
		c.of = map[recentKey][]*list.Element{}
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

func (c *recent) drop(e *list.Element) {
	h := c.order.Remove(e).(*kept)
	c.bytes -= h.footprint()
	rest := slices.DeleteFunc(c.of[h.key], func(o *list.Element) bool { return o == e })
	if c.of[h.key] = rest; len(rest) == 0 {
		delete(c.of, h.key)
	}
}
