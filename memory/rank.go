package memory

import (
	"cmp"
	"math"
	"slices"
)

// The constants of BM25, as everybody has them.
const (
	saturation = 1.2  // k1
	lengthness = 0.75 // b
)

// Rank returns the items that a query finds, best first: those with at least one of its words, weighed by how rare the
// words are among the items and how often they occur (BM25). Names are found by their parts, too. Without a word
// in the query it returns all items, those that are worth more first.
func Rank(items []Item, query string) []Item {
	wanted := terms(query)
	if len(wanted) == 0 {
		out := slices.Clone(items)
		slices.SortStableFunc(out, func(a, b Item) int { return dearer(&a, &b) })
		return out
	}
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	c := newCorpus(items)
	type ranked struct {
		at    int
		score float64
	}
	var found []ranked
	for i := range items {
		if s := c.score(i, wanted); s > 0 {
			found = append(found, ranked{i, s})
		}
	}
	slices.SortStableFunc(found, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), dearer(&items[a.at], &items[b.at]))
	})
	var out []Item
	for _, f := range found {
		out = append(out, items[f.at])
	}
	return out
}

// A corpus counts the words of items.
type corpus struct {
	counts []map[string]int
	length []int
	in     map[string]int // how many items have a word
	mean   float64        // length
}

func newCorpus(items []Item) *corpus {
	c := &corpus{in: map[string]int{}}
	total := 0
	for i := range items {
		ts, counts := terms(items[i].Text), map[string]int{}
		for _, t := range ts {
			if counts[t]++; counts[t] == 1 {
				c.in[t]++
			}
		}
		c.counts, c.length = append(c.counts, counts), append(c.length, len(ts))
		total += len(ts)
	}
	c.mean = float64(total) / float64(max(1, len(items)))
	return c
}

// score returns how well an item has the words.
func (c *corpus) score(i int, wanted []string) (s float64) {
	norm := saturation * (1 - lengthness + lengthness*float64(c.length[i])/max(1, c.mean))
	for _, t := range wanted {
		if n := float64(c.counts[i][t]); n > 0 {
			have := float64(c.in[t])
			rare := math.Log(1 + (float64(len(c.counts))-have+0.5)/(have+0.5))
			s += rare * n * (saturation + 1) / (n + norm)
		}
	}
	return s
}
