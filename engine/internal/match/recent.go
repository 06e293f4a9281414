package match

import (
	"bytes"
	"container/list"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/token"
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

// KeyOf returns the key of a request with a body. What a client says of each of its requests is no part of the head
// (see wire's billing lines).
func KeyOf(d dialect.Dialect, tenant, session string, body []byte, seed maphash.Seed) Key {
	head, _, _ := bytes.Cut(body[:min(len(body), recentHead)], []byte("x-anthropic-"))
	return Key{d.About().Format, tenant, session, maphash.Bytes(seed, head)}
}

// A Memory is what stays known of a request that was read: enough to read the next one of its
// conversation, which repeats most of its bytes, from where it differs. It is never changed.
type Memory struct {
	doc    *wire.Document
	prints []uint64      // of each block
	chain  []decant.Hash // of the spine, as far as it was needed
	counts []int32       // tokens of each block by est; 0: not counted
	est    *token.Estimator
}

// Remember returns what is to be kept of a reading.
func (p *Prompt) Remember() *Memory {
	m := &Memory{doc: p.Doc, chain: p.chain, counts: slices.Clone(p.counts), est: p.est, prints: make([]uint64, len(p.Blocks))}
	for i := range p.Blocks {
		m.prints[i] = p.Blocks[i].Print
	}
	return m
}

// recall takes over what m knows of the blocks so far, which are the same as those of m.
func (p *Prompt) recall(m *Memory) {
	p.known = len(p.Blocks)
	for i := range p.Blocks {
		p.Blocks[i].Print = m.prints[i]
	}
	p.est = m.est
	copy(p.counts[:p.known], m.counts)
	p.chain = append(p.chain, m.chain[:min(len(p.Spine), len(m.chain))]...)
}

// Tokens returns the tokens of the i-th block, which are counted once.
func (p *Prompt) Tokens(i int, est *token.Estimator) int {
	if p.est != est {
		clear(p.counts)
		p.est = est
	}
	if p.counts[i] == 0 {
		p.counts[i] = int32(est.Block(p.Blocks[i].Block))
	}
	return int(p.counts[i])
}

// Adopt has a prompt take over the tokens of its first blocks, which somebody has counted: in the order of the blocks,
// 0 where nobody has.
func Adopt(p *Prompt, counts []int32, est *token.Estimator) {
	if p.est != est {
		clear(p.counts)
		p.est = est
	}
	for i, n := range counts {
		if p.counts[i] == 0 && p.Blocks[i].Kind != decant.KindThinking { // which may be another one
			p.counts[i] = n
		}
	}
}

// Counted returns the tokens of the i-th block if they were counted.
func (p *Prompt) Counted(i int, est *token.Estimator) (int, bool) {
	return int(p.counts[i]), p.est == est && p.counts[i] != 0
}

// What a request takes in memory besides its body, in bytes: as a document, and for each of its blocks. A request of a
// few words takes a hundred times what it has sent.
const (
	documentBytes = 8 << 10
	blockBytes    = 512
)

// Footprint returns about how many bytes a request takes in memory, of which a body and a number of blocks are known.
func Footprint(body []byte, blocks int) int { return len(body) + documentBytes + blockBytes*blocks }

func (m *Memory) footprint() int { return Footprint(m.doc.Source, len(m.prints)) }
