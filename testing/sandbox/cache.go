package sandbox

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// lookBack is the number of positions, the breakpoint itself included, that are searched for an
// entry (docs/reference/anthropic.md, "The prompt cache").
const lookBack = 20

// A cache is the prompt cache of all accounts. An entry is the hash of a prefix, account and model
// included; nothing but its lifetime is kept.
type cache struct {
	billing bool          // billing lines are part of what is kept
	unasked time.Duration // how long every prompt is kept whether or not it asks for that; 0: it must ask

	mu      sync.Mutex
	entries map[prefix]entry
	sweep   int // number of entries at which the expired ones are removed
}

type prefix [sha256.Size]byte

type entry struct {
	expires time.Time
	ttl     time.Duration
}

// A hit says what a request finds in the cache and what it will leave there.
type hit struct {
	usage  decant.Usage
	touch  []prefix         // entries to refresh
	create map[prefix]entry // entries to write; expires is not yet set
	start  time.Time
}

// look returns what a request with the prompt ps finds. Nothing changes until commit, because an
// entry is readable only once the first answer that wrote it has begun.
func (c *cache) look(account string, q *request, ps []piece, now time.Time) hit {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys := c.prefixes(account, q, ps)
	h := hit{create: map[prefix]entry{}, start: now}
	if c.unasked > 0 || q.unmarked > 0 {
		h.measureUnasked(ps, keys, c.longest(keys, now), q.model.MinCache, max(c.unasked, q.unmarked))
		return h
	}
	found := -1
	for i := range ps {
		if ps[i].ttl == "" {
			continue
		}
		if k := c.search(keys, i, now); k >= 0 {
			h.touch = append(h.touch, keys[k])
			found = max(found, k)
		}
	}
	h.measure(ps, keys, found, q.model.MinCache)
	return h
}

// search walks back from a breakpoint and returns the position of the first live entry, -1 when
// there is none.
func (c *cache) search(keys []prefix, from int, now time.Time) int {
	for k := from; k >= 0 && k > from-lookBack; k-- {
		if e, ok := c.entries[keys[k]]; ok && now.Before(e.expires) {
			return k
		}
	}
	return -1
}

// longest returns the position of the last live entry of a prompt, -1 when there is none.
func (c *cache) longest(keys []prefix, now time.Time) int {
	for k := len(keys) - 1; k >= 0; k-- {
		if e, ok := c.entries[keys[k]]; ok && now.Before(e.expires) {
			return k
		}
	}
	return -1
}

// measureUnasked computes the usage of a prompt at a provider that keeps every prompt, block by block, and
// charges nothing for writing.
func (h *hit) measureUnasked(ps []piece, keys []prefix, found, least int, life time.Duration) {
	sum := 0
	for i := range ps {
		sum += ps[i].tokens
		if i == found {
			h.usage.CacheRead = sum
		}
		if sum >= least {
			h.create[keys[i]] = entry{ttl: life}
		}
	}
	h.usage.Input = sum - h.usage.CacheRead
}

// measure computes the usage of a prompt of which the prefix up to found is read, and notes the
// entries that its breakpoints write. What stands between two breakpoints is charged to the later.
func (h *hit) measure(ps []piece, keys []prefix, found, least int) {
	sum, charged := 0, 0
	for i := range ps {
		sum += ps[i].tokens
		if i == found {
			h.usage.CacheRead, charged = sum, sum
		}
		if ps[i].ttl == "" || sum < least {
			continue
		}
		h.create[keys[i]] = entry{ttl: lasts(ps[i].ttl)}
		if i <= found {
			continue
		}
		h.usage.CacheWrite += sum - charged
		if ps[i].ttl == "1h" {
			h.usage.Write1h += sum - charged
		}
		charged = sum
	}
	h.usage.Input = sum - charged
}

// charged returns what a prompt costs that a provider keeps unasked: from chatCache tokens on, what is not read is
// charged as written, by models that charge for that.
func charged(m token.Model, found decant.Usage) decant.Usage {
	if len(m.Prices) > 0 && m.Prices[len(m.Prices)-1].Write5m.USD > 0 && found.Prompt() >= chatCache {
		found.CacheWrite, found.Input = found.Input, 0
	}
	return found
}

// and returns what two passes of one request leave; it is the second whose usage counts.
func (h hit) and(more hit) hit {
	out := hit{usage: more.usage, start: h.start, touch: append(slices.Clone(h.touch), more.touch...), create: maps.Clone(h.create)}
	maps.Copy(out.create, more.create)
	return out
}

func lasts(ttl string) time.Duration {
	if ttl == "1h" {
		return time.Hour
	}
	return 5 * time.Minute
}

// commit writes and refreshes the entries of a request whose answer begins. Lifetimes count from
// the start of the request.
func (c *cache) commit(h hit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range h.touch {
		if e, ok := c.entries[k]; ok {
			c.put(k, e, h.start)
		}
	}
	for k, e := range h.create {
		c.put(k, e, h.start)
	}
	c.clean(h.start)
}

// put writes an entry, or refreshes it.
func (c *cache) put(k prefix, e entry, start time.Time) {
	if c.entries == nil {
		c.entries = map[prefix]entry{}
	}
	if old := c.entries[k]; start.Before(old.expires) { // what is alive does not lose by a shorter marker
		e.ttl, e.expires = max(e.ttl, old.ttl), old.expires
	}
	if until := start.Add(e.ttl); until.After(e.expires) {
		e.expires = until
	}
	c.entries[k] = e
}

// clean removes expired entries each time their number has doubled.
func (c *cache) clean(now time.Time) {
	if len(c.entries) < max(c.sweep, 1024) {
		return
	}
	for k, e := range c.entries {
		if !now.Before(e.expires) {
			delete(c.entries, k)
		}
	}
	c.sweep = 2 * len(c.entries)
}

// prefixes returns the identity of the prompt up to each piece. What invalidates a level of the
// prompt is mixed in where the level begins.
func (c *cache) prefixes(account string, q *request, ps []piece) []prefix {
	h := sha256.Sum256([]byte(account + "\x00" + q.model.ID))
	out := make([]prefix, len(ps))
	at := levelTools
	var buf []byte
	for i := range ps {
		for at < ps[i].level {
			at++
			h = mix(h, q.settings(at, ps))
		}
		if !c.billing && ps[i].level == levelSystem && isBilling(ps[i].node) {
			out[i] = h
			continue
		}
		buf = append(buf[:0], ps[i].role...)
		buf = canon{keepOrder: true, skip: q.skip}.block(append(buf, 0), ps[i].node)
		h = mix(h, buf)
		out[i] = h
	}
	return out
}

func mix(h [sha256.Size]byte, more []byte) [sha256.Size]byte {
	s := sha256.New()
	s.Write(h[:])
	s.Write(more)
	return [sha256.Size]byte(s.Sum(nil))
}

// settings returns the parameters whose change invalidates a level and those after it. Naming the
// default effort is the same as leaving it out.
func (q *request) settings(l level, ps []piece) []byte {
	if l == levelSystem {
		out := []byte("speed=" + q.body.str("speed"))
		return strconv.AppendBool(append(out, " citations="...), anyBlock(ps, cites))
	}
	out := []byte("thinking=" + q.mode())
	if n, ok := q.body.get("thinking").get("budget_tokens").integer(); ok {
		out = strconv.AppendInt(append(out, ' '), int64(n), 10)
	}
	out = append(out, " effort="...)
	if e := q.body.get("output_config").str("effort"); e != "" && e != "high" {
		out = append(out, e...)
	}
	if c := q.body.get("tool_choice"); c != nil {
		out = canon{}.value(append(out, " choice="...), c)
	}
	return strconv.AppendBool(append(out, " images="...), anyBlock(ps, isImage))
}

func cites(b *node) bool   { return b.get("citations").is("enabled") }
func isImage(b *node) bool { return b.str("type") == "image" }

// anyBlock reports whether a block of the messages, or one within it, has a property.
func anyBlock(ps []piece, has func(*node) bool) bool {
	for i := range ps {
		if ps[i].level == levelMessages && (has(ps[i].node) || slices.ContainsFunc(ps[i].get("content").list(), has)) {
			return true
		}
	}
	return false
}
