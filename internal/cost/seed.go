package cost

// Seed notes that the prefixes of r, up to each of its markers, are in the cache since r.At, as if some
// other request had written them then: another session of the same agent, with the same tools. A provider
// that caches without markers has the whole of it.
func (c *Cache) Seed(r Request) {
	p := chain(r.Blocks)
	for i := range r.Blocks {
		life := LifeOf(r.Blocks[i].Cache)
		switch {
		case c.automaticOnly():
			c.put(p.hash[i], openaiLife, r.At)
		case life > 0 && p.tokens[i] >= c.model.MinCache:
			c.put(p.hash[i], life, r.At)
		}
	}
}
