package summary

import (
	"math"
	"slices"
)

// A pick is one thing that was chosen: a line, a piece of one, the name of a fact, or the head of a group.
type pick struct {
	line       int32 // -1: none
	start, end int32 // of a piece; end 0: the whole line
	atom       int32 // of a bare name, else -1
	group      int32 // of a line or head, else -1
	cost       float32
	value      float32
}

// Weights of the choice, in chances: 1 is a fact that is sure to be needed again. They were set on the
// sessions, meetings and dialogs of docs/BENCHMARKS.md.
const (
	groundBase  = .75   // a fact is worth this much more on a line that says something about it,
	groundShare = 6     // and this times the budget's share of the source: a longer record has room to say more,
	groundMost  = 2.5   // but no more than this
	minNamed    = .002  // the least chance of a fact that is listed by itself
	wordWeight  = .0108 // a word, as often as it is expected
	rareWeight  = .002  // a word that is not too common, once
	chatWeight  = .05   // the same, where all is said and nothing is done
	usualShare  = .025  // prose is expected up to this share of the source: the size that summaries usually have
	perWord     = 1.6   // tokens of a word and the blank after it
	perChar     = .27   // tokens of a byte of the source
)

// What is said about a fact so far.
const (
	named    = 1 // its letters are there
	grounded = 2 // on a line that says something
)

// A chooser takes what adds most for its tokens, again and again.
type chooser struct {
	*digest
	picks   []pick
	covered []uint8   // by atom
	heard   []int32   // by word: how often it was said
	weight  []float32 // by word: of saying it at all
	expect  []float32 // by word: how often it is expected
	open    []bool    // by group
	members [][]int32 // picks by group
	taken   []bool
	heap    []entry
	spent   float32
	ground  float32 // what a fact is worth more on a line that says something
}

type entry struct {
	gain float32
	pick int32
}

// choose returns what to say in budget tokens of the package's estimate, best first.
func (d *digest) choose(budget float64) []pick {
	c := &chooser{digest: d, covered: make([]uint8, len(d.atoms)), heard: make([]int32, len(d.freq)), open: make([]bool, len(d.groups))}
	c.ground = float32(min(groundBase+groundShare*budget/(float64(d.size)*perChar), groundMost))
	c.wordWeights(budget)
	c.candidates()
	for i := range c.picks {
		c.push(int32(i))
	}
	out := c.must(float32(budget * mustShare))
	return append(out, c.run(float32(budget))...)
}

func (c *chooser) wordWeights(budget float64) {
	c.weight = make([]float32, len(c.freq))
	n := float64(len(c.lines) + 1)
	total := float64(len(c.digest.words) + 1)
	said := min(budget, usualShare*float64(c.size)*perChar) / perWord
	c.expect = make([]float32, len(c.freq))
	for i, f := range c.freq {
		c.expect[i] = float32(float64(f) / total * said)
		idf := math.Log(n / float64(f))
		c.weight[i] = float32((rareWeight + chatWeight*c.prose*c.prose) * math.Log1p(float64(f)) * min(idf, 3))
	}
}

func (c *chooser) candidates() {
	c.members = make([][]int32, len(c.groups))
	add := func(p pick) {
		if p.group >= 0 {
			c.members[p.group] = append(c.members[p.group], int32(len(c.picks)))
		}
		c.picks = append(c.picks, p)
	}
	for i := range c.groups {
		if c.groups[i].head != "" {
			add(pick{line: -1, atom: -1, group: int32(i)})
		}
	}
	for i := range c.lines {
		l := &c.lines[i]
		add(pick{line: int32(i), atom: -1, group: l.group, cost: l.cost, value: l.value})
	}
	for i := range c.atoms {
		a := &c.atoms[i]
		if a.chance < minNamed {
			continue
		}
		if a.piece.line >= 0 && !a.headed {
			add(pick{line: a.piece.line, start: a.piece.start, end: a.piece.end, atom: -1, group: -1, cost: a.piece.cost + .64})
		}
		if a.argument {
			continue
		}
		add(pick{line: -1, atom: int32(i), group: -1, cost: float32(estimate(a.text)) + .08})
	}
	c.taken = make([]bool, len(c.picks))
}

// mustShare is the part of the budget that goes first to what a successor has to know whatever it
// costs: the task, the standing instructions of the user, and what happened last.
const mustShare = .12

// must takes what a successor has to know: the newest call, the last words of the model, the task, and
// the user's standing instructions, newest first.
func (c *chooser) must(budget float32) []pick {
	if !c.model {
		return nil
	}
	var last, task, rest []int32
	for i := range c.picks {
		p := &c.picks[i]
		if p.group < 0 {
			continue
		}
		switch g := &c.groups[p.group]; {
		case p.line < 0 && g.section == secLast:
			last = append(last, int32(i))
		case p.line >= 0 && c.lines[p.line].standing && len(task) < taskLines:
			task = append(task, int32(i))
		case p.line >= 0 && c.lines[p.line].standing:
			rest = append(rest, int32(i))
		}
	}
	slices.Reverse(rest)
	order := slices.Concat(last, task, rest)
	var out []pick
	for _, i := range order {
		if _, cost := c.gain(i); cost <= budget {
			budget -= cost
			c.spent += cost
			c.taken[i] = true
			c.take(i)
			out = append(out, c.picks[i])
		}
	}
	return out
}

// run takes picks until the budget is spent.
func (c *chooser) run(budget float32) []pick {
	var out []pick
	for len(c.heap) > 0 && c.spent < budget {
		e := c.heap[0]
		if c.taken[e.pick] {
			c.pop()
			continue
		}
		gain, cost := c.gain(e.pick)
		if gain <= 0 || c.spent+cost > budget {
			c.pop()
			continue
		}
		if gain < e.gain*.99999 {
			c.heap[0].gain = gain
			c.down(0)
			continue
		}
		c.pop()
		c.taken[e.pick] = true
		c.spent += cost
		c.take(e.pick)
		out = append(out, c.picks[e.pick])
	}
	return out
}

// gain returns what pick i adds per token (to a power), and the tokens it takes now.
func (c *chooser) gain(i int32) (gain, cost float32) {
	p := &c.picks[i]
	g, cost := p.value, p.cost
	if p.group >= 0 && !c.open[p.group] {
		gr := &c.groups[p.group]
		cost += gr.cost
		g += gr.value
		for _, s := range gr.spans {
			g += c.worth(s.atom, gr.says)
		}
	}
	switch {
	case p.atom >= 0:
		g += c.worth(p.atom, false)
	case p.line >= 0:
		g += c.lineWorth(p)
	}
	if cost <= 0 {
		return 0, 0
	}
	return g / cost, cost
}

func (c *chooser) lineWorth(p *pick) float32 {
	l := &c.lines[p.line]
	g := float32(0)
	for _, s := range c.spans[l.span : l.span+l.spans] {
		if p.end == 0 || s.start >= p.start && s.end <= p.end {
			g += c.worth(s.atom, l.plain >= 2)
		}
	}
	if p.end == 0 {
		for _, w := range c.digest.words[l.word : l.word+l.nwords] {
			if c.heard[w] == 0 {
				g += l.voice * c.weight[w]
			}
			g += l.voice * wordWeight * min(1, c.expect[w]/float32(c.heard[w]+1))
		}
	}
	return g
}

func (c *chooser) worth(atom int32, says bool) float32 {
	p := c.atoms[atom].chance
	g := float32(0)
	if c.covered[atom]&named == 0 {
		g = p
	}
	if says && c.covered[atom]&grounded == 0 {
		g += p * c.ground
	}
	return g
}

// take marks what pick i says.
func (c *chooser) take(i int32) {
	p := &c.picks[i]
	if p.group >= 0 && !c.open[p.group] {
		c.open[p.group] = true
		for _, s := range c.groups[p.group].spans {
			c.covered[s.atom] |= named
			if c.groups[p.group].says {
				c.covered[s.atom] |= grounded
			}
		}
		for _, m := range c.members[p.group] {
			if !c.taken[m] {
				c.push(m)
			}
		}
	}
	if p.atom >= 0 {
		c.covered[p.atom] |= named
	}
	if p.line < 0 {
		return
	}
	l := &c.lines[p.line]
	for _, s := range c.spans[l.span : l.span+l.spans] {
		if p.end == 0 || s.start >= p.start && s.end <= p.end {
			c.covered[s.atom] |= named
			if l.plain >= 2 {
				c.covered[s.atom] |= grounded
			}
		}
	}
	if p.end == 0 {
		for _, w := range c.digest.words[l.word : l.word+l.nwords] {
			c.heard[w]++
		}
	}
}

func (c *chooser) push(i int32) {
	g, _ := c.gain(i)
	if g <= 0 {
		return
	}
	c.heap = append(c.heap, entry{g, i})
	k := len(c.heap) - 1
	for k > 0 && before(c.heap[k], c.heap[(k-1)/2]) {
		c.heap[k], c.heap[(k-1)/2] = c.heap[(k-1)/2], c.heap[k]
		k = (k - 1) / 2
	}
}

func (c *chooser) pop() {
	n := len(c.heap) - 1
	c.heap[0] = c.heap[n]
	c.heap = c.heap[:n]
	c.down(0)
}

func (c *chooser) down(k int) {
	for {
		m := 2*k + 1
		if m >= len(c.heap) {
			return
		}
		if m+1 < len(c.heap) && before(c.heap[m+1], c.heap[m]) {
			m++
		}
		if !before(c.heap[m], c.heap[k]) {
			return
		}
		c.heap[m], c.heap[k] = c.heap[k], c.heap[m]
		k = m
	}
}

func before(a, b entry) bool { return a.gain > b.gain || a.gain == b.gain && a.pick < b.pick }
