package summary

import (
	"math"
	"slices"
)

// Weights of the choice, in chances: 1 is a fact that is sure to be needed again. Work is quoted by the first two alone;
// the others are of talk, whose words are what is asked for later.
const (
	groundWeight = 4     // a fact is worth so much more on a line that says what it is
	neighbour    = 1     // a passage is worth so much more beside one that the record has
	rareWeight   = 0.002 // a word that is not too common, once
	chatWeight   = 0.05  // the same, where all is said and nothing is done
	nameWeight   = 4     // a word of a name or a title in a chat is worth so much more
	wordWeight   = 0.009 // a word, as often as it is expected
	usualShare   = .025  // prose is expected up to this share of the source: the size that summaries usually have
)

// bareShare is the most of a record that passages of mere names may take: whoever reads them learns nothing else,
// and the index that Repair appends says the same in less.
const bareShare = .005

// What is said about a fact so far.
const (
	named    = 1 // its letters are there
	grounded = 2 // on a line that says what it is
)

// enoughPlain is how many plain words a line must have to say what a fact on it is, where any line of that
// fact has as many. On compactions whose effect on real models was recorded, a fact that stood beside its
// words was recalled four times as often as one that stood alone.
const enoughPlain = 4

// A chooser takes what adds most for its tokens, again and again.
type chooser struct {
	book    *book
	covered []uint8   // by fact
	heard   []int32   // by word: how often it was said
	weight  []float32 // by word: of saying it at all
	expect  []float32 // by word: how often it is expected
	open    []bool    // by group
	members [][]int32 // entries by group
	taken   []bool
	heap    bids
	spent   float32
	bare    float32 // of it, for lines that have names and no word beside them
}

// choose returns the entries to write in the book's budget, best first.
func (b *book) choose() []int32 {
	c := newChooser(b)
	for i := range b.entries {
		if g := b.entries[i].group; g >= 0 {
			c.members[g] = append(c.members[g], int32(i))
		}
	}
	out := c.first()
	for i := range b.entries {
		if !c.taken[i] && b.entries[i].must == compete && !b.entries[i].head {
			c.push(int32(i))
		}
	}
	return append(out, c.run()...)
}

func newChooser(b *book) *chooser {
	c := &chooser{book: b, covered: make([]uint8, len(b.lex.facts)), heard: make([]int32, len(b.lex.freq)),
		open: make([]bool, len(b.groups)), members: make([][]int32, len(b.groups)), taken: make([]bool, len(b.entries))}
	c.wordWeights()
	return c
}

// further returns what was picked, and behind it what is chosen next in the budget, best first: of the picks
// that come next and of the entries from an index on.
func (c *chooser) further(picked, next []int32, from int32) []int32 {
	for _, i := range picked {
		c.take(nil, i)
	}
	for i := from; i < int32(len(c.book.entries)); i++ {
		g := c.book.entries[i].group
		c.members[g] = append(c.members[g], i)
		c.push(i)
	}
	for _, i := range next {
		if !c.book.entries[i].head {
			c.push(i)
		}
	}
	return append(picked, c.run()...)
}

// first takes what comes before everything that competes, as far as its share of the budget reaches.
func (c *chooser) first() (out []int32) {
	var order []int32
	for i := range c.book.entries {
		if c.book.entries[i].must != compete {
			order = append(order, int32(i))
		}
	}
	slices.SortStableFunc(order, func(i, j int32) int {
		a, b := &c.book.entries[i], &c.book.entries[j]
		if a.must != b.must {
			return int(a.must) - int(b.must)
		}
		return b.number - a.number // the newest first
	})
	var left []int32 // words of the user that wait until it is known what tools did
	for _, i := range order {
		m := c.book.entries[i].must
		if m > mustDone {
			out, left = c.within(out, left, shares[mustDone]), nil
		}
		if n := len(out); m == mustUser {
			if out = c.within(out, []int32{i}, shares[m]); len(out) == n {
				left = append(left, i)
			}
			continue
		}
		out = c.within(out, []int32{i}, shares[m])
	}
	return c.within(out, left, shares[mustDone])
}

// within takes those of some entries with which the record stays within a share of the budget.
func (c *chooser) within(out, entries []int32, share float64) []int32 {
	for _, i := range entries {
		if float64(c.spent+c.cost(i)) <= share*c.book.budget {
			out = c.take(out, i)
		}
	}
	return out
}

func (c *chooser) wordWeights() {
	n := float64(len(c.book.lex.lines) + 1)
	total := float64(len(c.book.lex.words) + 1)
	said := min(c.book.budget, usualShare*float64(c.book.src.size)*perChar) / perWord
	c.weight, c.expect = make([]float32, len(c.book.lex.freq)), make([]float32, len(c.book.lex.freq))
	for i, f := range c.book.lex.freq[:c.book.words] {
		c.expect[i] = float32(float64(f) / total * said)
		idf := math.Log(n / float64(f))
		c.weight[i] = float32((rareWeight + chatWeight*c.book.prose*c.book.prose) * math.Log1p(float64(f)) * min(idf, 3))
		if c.book.talk && c.book.src.model && c.book.lex.named[i] {
			c.weight[i] *= nameWeight
		}
	}
}

// Where thousands of lines say nearly the same, each that is taken lowers what all others gain. After so many looks
// per entry it is enough that a bid has not fallen far: then the work grows with the entries and not with
// their square.
const (
	looks = 40
	exact = .99999
	near  = .9
)

// run takes the best bid until the budget is spent.
func (c *chooser) run() (out []int32) {
	budget := float32(c.book.budget)
	rest, least := looks*len(c.book.entries), float32(exact)
	for len(c.heap) > 0 && c.spent < budget {
		c.book.src.check()
		e := c.heap[0]
		if c.taken[e.entry] {
			c.heap.pop()
			continue
		}
		if rest--; rest == 0 {
			least = near
		}
		gain, cost := c.gain(e.entry)
		switch {
		case gain <= 0 || c.spent+cost > budget || c.isBare(e.entry) && c.bare+cost > bareShare*budget:
			c.heap.pop()
		case gain < e.gain*least:
			c.heap[0].gain = gain
			c.heap.down(0)
		default:
			c.heap.pop()
			out = c.take(out, e.entry)
		}
	}
	return out
}

// isBare reports whether an entry is one line of names with no word beside them.
func (c *chooser) isBare(i int32) bool {
	e := &c.book.entries[i]
	return e.text != "" && c.book.lex.lines[e.line].bare
}

// cost returns the tokens that entry i takes now, with what it must stand under and the mark of a gap.
func (c *chooser) cost(i int32) float32 {
	e := &c.book.entries[i]
	cost := e.cost
	if e.sec == secQuotes && !c.beside(i) {
		cost += gapCost
	}
	for up := e.under; up > 0 && !c.taken[up-1]; up = c.book.entries[up-1].under {
		cost += c.book.entries[up-1].cost
	}
	if e.group >= 0 && !c.open[e.group] {
		cost += c.book.groups[e.group].cost
	}
	return cost
}

// gapCost is what the mark of a gap counts, in tokens.
const gapCost = 1.8

// gain returns what entry i adds per token, and the tokens that it takes now.
func (c *chooser) gain(i int32) (gain, cost float32) {
	e := &c.book.entries[i]
	if cost = c.cost(i); cost <= 0 {
		return 0, 0
	}
	g := e.value + c.worth(e.line)
	if e.sec == secWritten {
		g = e.value*c.news(e.line) + c.worth(e.line)
	}
	if e.group >= 0 && !c.open[e.group] {
		gr := &c.book.groups[e.group]
		g += gr.value
		if gr.line >= 0 {
			g += c.worth(gr.line)
		}
	}
	for up := e.under; up > 0 && !c.taken[up-1]; up = c.book.entries[up-1].under {
		g += c.worth(c.book.entries[up-1].line)
	}
	if e.voice > 0 {
		g += e.voice * c.wording(e.line)
	}
	if (e.sec == secQuotes || e.sec == secWritten) && c.beside(i) {
		g += neighbour * g
	}
	return g * (1 + e.warm) / cost, cost
}

// beside reports whether the record has what stands directly before or behind entry i.
func (c *chooser) beside(i int32) bool {
	es := c.book.entries
	e := &es[i]
	if e.sec == secWritten {
		return i > 0 && c.near(i, i-1) || int(i)+1 < len(es) && c.near(i, i+1)
	}
	return e.joins && i > 0 && c.near(i, i-1) || int(i)+1 < len(es) && es[i+1].joins && c.near(i, i+1)
}

func (c *chooser) near(i, j int32) bool {
	a, b := &c.book.entries[i], &c.book.entries[j]
	return c.taken[j] && a.group == b.group && a.sec == b.sec && b.text != ""
}

// worth returns what the facts of a line add.
func (c *chooser) worth(n int32) (g float32) {
	for k, id := range c.book.lex.of(n) {
		g += c.adds(n, k, id)
	}
	return g
}

// adds returns what fact number k of a line, id, adds.
func (c *chooser) adds(n int32, k int, id int32) (g float32) {
	f := &c.book.lex.facts[id]
	if c.covered[id]&named == 0 {
		g += f.chance
	}
	if c.covered[id]&grounded == 0 && c.grounds(n, k, f) {
		g += f.chance * groundWeight
	}
	return g
}

// wording returns what the words of a line add.
func (c *chooser) wording(n int32) (g float32) {
	for _, w := range c.book.lex.said(n) {
		if c.heard[w] == 0 {
			g += c.weight[w]
		}
		g += wordWeight * min(1, c.expect[w]/float32(c.heard[w]+1))
	}
	return g
}

// news returns the share of the facts and words of a line that were not said yet.
func (c *chooser) news(n int32) float32 {
	facts, words := c.book.lex.of(n), c.book.lex.said(n)
	fresh := 0
	for _, id := range facts {
		if c.covered[id]&grounded == 0 {
			fresh++
		}
	}
	for _, w := range words {
		if c.heard[w] == 0 {
			fresh++
		}
	}
	return float32(fresh) / float32(max(1, len(facts)+len(words)))
}

// take marks what entry i says, and what it stands under, and appends these to the picks.
func (c *chooser) take(out []int32, i int32) []int32 {
	e := &c.book.entries[i]
	if e.under > 0 && !c.taken[e.under-1] {
		out = c.take(out, e.under-1)
	}
	c.spent += c.cost(i)
	c.taken[i] = true
	if c.isBare(i) {
		c.bare += e.cost
	}
	if e.group >= 0 && !c.open[e.group] {
		c.open[e.group] = true
		if n := c.book.groups[e.group].line; n >= 0 {
			c.cover(n)
		}
		for _, m := range c.members[e.group] {
			if !c.taken[m] && c.book.entries[m].must == compete {
				c.push(m)
			}
		}
	}
	for _, j := range [...]int32{i - 1, i + 1} {
		if j >= 0 && int(j) < len(c.book.entries) && !c.taken[j] && c.book.entries[j].must == compete && c.heap != nil {
			c.push(j)
		}
	}
	c.cover(e.line)
	for _, w := range c.book.lex.said(e.line) {
		c.heard[w]++
	}
	return append(out, i)
}

func (c *chooser) said(n int32, k int, id int32) {
	c.covered[id] |= named
	if c.grounds(n, k, &c.book.lex.facts[id]) {
		c.covered[id] |= grounded
	}
}

func (c *chooser) cover(n int32) {
	for k, id := range c.book.lex.of(n) {
		c.said(n, k, id)
	}
}

// push bids for entry i, unless it adds nothing.
func (c *chooser) push(i int32) {
	if c.book.entries[i].head {
		return
	}
	if g, _ := c.gain(i); g > 0 {
		c.heap.push(bid{g, i})
	}
}
