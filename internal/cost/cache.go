package cost

import (
	"crypto/sha256"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// A Block is one step of a prompt's prefix: a tool, a piece of the system prompt or a block of a message.
type Block struct {
	ID     decant.Hash // equal for blocks that are equal to the provider
	Tokens int
	Cache  string // lifetime of a cache marker on it: "", "5m" or "1h"
}

// A Request is a prompt at a point in time, its blocks in prefix order: tools, system, messages.
type Request struct {
	At     time.Time
	Blocks []Block
}

// openaiLife is how long OpenAI keeps a prefix (docs/reference/openai.md, "The prompt cache").
const openaiLife = 30 * time.Minute

// A Cache predicts what a provider's prefix cache does with a sequence of requests.
//
// With explicit breakpoints (Anthropic) entries are written at breakpoints only; a lookup walks back up to 20
// blocks from each breakpoint; prefixes under the model's minimum are neither written nor found; an entry
// lives for five minutes or an hour from the start of the request that wrote it or one of whose breakpoints
// found it last. Without
// (OpenAI, Google) the longest known prefix of at least the minimum is found, block by block.
//
// Requests must come in the order of their times. A Cache is not safe for concurrent use.
type Cache struct {
	model   token.Model
	entries map[decant.Hash]entry // by the hash of everything up to and including a block
}

type entry struct {
	until time.Time
	life  time.Duration
}

// Lifetime returns how long what is cached for a model lives unless a request asks for more.
func Lifetime(m token.Model) time.Duration {
	if m.Provider == token.Anthropic {
		return shortLife
	}
	return openaiLife
}

// NewCache returns an empty cache of the model.
func NewCache(m token.Model) *Cache {
	return &Cache{model: m, entries: map[decant.Hash]entry{}}
}

// Send returns how the prompt of r divides into read, written and plain tokens, and remembers what r
// left in the cache. The parts add up to the tokens of all blocks.
func (c *Cache) Send(r Request) decant.Usage {
	p := chain(r.Blocks)
	if c.automaticOnly() {
		return c.automatic(r, p)
	}
	return c.explicit(r, p)
}

// automaticOnly reports whether the provider caches what it likes, whatever a request marks.
func (c *Cache) automaticOnly() bool { return c.model.Provider != token.Anthropic }

// prefixes holds, for each block, the hash and the tokens of everything up to and including it.
type prefixes struct {
	hash   []decant.Hash
	tokens []int
}

func chain(blocks []Block) prefixes {
	p := prefixes{make([]decant.Hash, len(blocks)), make([]int, len(blocks))}
	var prev decant.Hash
	sum := 0
	for i := range blocks {
		var both [32]byte
		copy(both[:16], prev[:])
		copy(both[16:], blocks[i].ID[:])
		digest := sha256.Sum256(both[:])
		prev = decant.Hash(digest[:16])
		sum += max(0, blocks[i].Tokens)
		p.hash[i], p.tokens[i] = prev, sum
	}
	return p
}

// upTo returns the tokens of the first n blocks.
func (p prefixes) upTo(n int) int {
	if n == 0 {
		return 0
	}
	return p.tokens[n-1]
}

func (c *Cache) explicit(r Request, p prefixes) decant.Usage {
	hit := 0 // blocks found in the cache
	var found []int
	for i := range r.Blocks {
		if r.Blocks[i].Cache == "" {
			continue
		}
		if n := c.find(p, i, r.At); n > 0 {
			found = append(found, n)
			hit = max(hit, n)
		}
	}
	for _, n := range found {
		c.put(p.hash[n-1], c.entries[p.hash[n-1]].life, r.At)
	}
	u := decant.Usage{CacheRead: p.upTo(hit)}
	done := hit
	for i := range r.Blocks {
		life := LifeOf(r.Blocks[i].Cache)
		if life == 0 || p.tokens[i] < c.model.MinCache {
			continue
		}
		c.put(p.hash[i], life, r.At)
		if i < hit {
			continue // what is read is not written again
		}
		if life == LongLife {
			u.Write1h += p.tokens[i] - p.upTo(done)
		}
		done = i + 1
	}
	u.CacheWrite = p.upTo(done) - p.upTo(hit)
	u.Input = p.upTo(len(r.Blocks)) - p.upTo(done)
	return u
}

// find returns how many blocks the longest entry covers that a lookup from block i finds.
func (c *Cache) find(p prefixes, i int, at time.Time) int {
	for k := i; k > i-LookBack && k >= 0; k-- {
		if p.tokens[k] < c.model.MinCache {
			return 0
		}
		if e, ok := c.entries[p.hash[k]]; ok && at.Before(e.until) {
			return k + 1
		}
	}
	return 0
}

// put writes an entry, or lets it live on. What is alive does not lose by a shorter marker.
func (c *Cache) put(h decant.Hash, life time.Duration, at time.Time) {
	e := entry{at.Add(life), life}
	if old, ok := c.entries[h]; ok && at.Before(old.until) && old.life > life {
		e = entry{at.Add(old.life), old.life}
	}
	c.entries[h] = e
}

func (c *Cache) automatic(r Request, p prefixes) decant.Usage {
	hit := 0
	for i := range r.Blocks {
		e, ok := c.entries[p.hash[i]]
		if !ok || !r.At.Before(e.until) {
			break
		}
		hit = i + 1
	}
	if p.upTo(hit) < c.model.MinCache {
		hit = 0
	}
	for i := range r.Blocks {
		c.entries[p.hash[i]] = entry{r.At.Add(openaiLife), openaiLife}
	}
	all := p.upTo(len(r.Blocks))
	u := decant.Usage{CacheRead: p.upTo(hit), Input: all - p.upTo(hit)}
	if all >= c.model.MinCache && billsWrites(&c.model, r.At) {
		u.CacheWrite, u.Input = u.Input, 0
	}
	return u
}

// billsWrites reports whether the model charges for writing cache entries, and so reports them.
func billsWrites(m *token.Model, at time.Time) bool {
	p, _, ok := m.PriceAt(at)
	return ok && p.Write5m.Known && p.Write5m.USD > 0
}
