package passage

import (
	"cmp"
	"math"
	"slices"
)

// The constants of BM25, fitted on the sessions of one project; scripts/recall measures on others.
const (
	saturation = 0.8 // k1
	lengthness = 0.3 // b
	rareness   = 1.6 // power of a word's weight: a question has many common words, and the rare ones say what it is about
	together   = 2.5 // weight of two words of a question that are neighbours in a name: the question splits the name
)

// An Index finds passages of the texts that it was given. It holds no text. It is not safe for concurrent use.
type Index struct {
	terms    map[string]int32
	postings [][]posting // by term
	passages []span
	total    int // words of all passages
	texts    int
	scores   []float64 // of a search under way, by passage; zero between searches
}

// A posting says how often a passage has a word.
type posting struct {
	passage int32
	times   int32
}

// A span is a passage.
type span struct {
	text, from, to int32
	words          int32
}

// A Hit is the best passage of a text.
type Hit struct {
	Text     int // its number, from 0, in the order of Add
	From, To int // the passage in the text, in bytes
	Score    float64
}

// New returns an index of nothing.
func New() *Index { return &Index{terms: map[string]int32{}} }

// Len returns how many texts there are.
func (x *Index) Len() int { return x.texts }

// Add adds a text. head says what it is, such as the call that it is the result of: each of its passages is found by
// that, too.
func (x *Index) Add(head, body string) {
	var in []int32
	words(head, func(w string) { in = append(in, x.term(w)) })
	slices.Sort(in)
	in = slices.Compact(in)
	cut(body, func(from, to int) { x.add(in, body[from:to], from) })
	x.texts++
}

// add adds a passage with words that its text's heading has.
func (x *Index) add(head []int32, body string, from int) {
	id, n := int32(len(x.passages)), int32(0)
	count := func(t, times int32) {
		ps := x.postings[t]
		if k := len(ps); k > 0 && ps[k-1].passage == id {
			ps[k-1].times += times
		} else {
			x.postings[t] = append(ps, posting{id, times})
		}
	}
	words(body, func(w string) { count(x.term(w), 1); n++ })
	beside(body, func(w string) { count(x.term(w), 1) })
	for _, t := range head {
		count(t, 1)
	}
	x.passages = append(x.passages, span{int32(x.texts), int32(from), int32(from + len(body)), n})
	x.total += int(n)
}

// term returns the number of a word, a new one if it has none.
func (x *Index) term(w string) int32 {
	t, ok := x.terms[w]
	if !ok {
		t = int32(len(x.postings))
		x.terms[w] = t
		x.postings = append(x.postings, nil)
	}
	return t
}

// Find returns the best passages for a query, at most most of them and one of each text, the best first; of equal ones
// the newer. It skips texts that keep, if there is one, does not want.
func (x *Index) Find(query string, most int, keep func(text int) bool) []Hit {
	if len(x.scores) < len(x.passages) {
		x.scores = make([]float64, len(x.passages)+len(x.passages)/8)
	}
	var touched []int32
	for _, t := range x.known(query, words) {
		touched = x.weigh(t, 1, touched)
	}
	for _, t := range x.known(query, beside) {
		touched = x.weigh(t, 1, touched)
	}
	for _, t := range x.known(query, apart) {
		touched = x.weigh(t, together, touched)
	}
	best := map[int32]int32{} // by text
	for _, p := range touched {
		text := x.passages[p].text
		if b, ok := best[text]; !ok || x.scores[p] > x.scores[b] {
			best[text] = p
		}
	}
	var out []Hit
	for text, p := range best {
		if keep == nil || keep(int(text)) {
			s := x.passages[p]
			out = append(out, Hit{int(text), int(s.from), int(s.to), x.scores[p]})
		}
	}
	for _, p := range touched {
		x.scores[p] = 0
	}
	slices.SortFunc(out, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Text, a.Text)) })
	return out[:min(most, len(out))]
}

// known returns those of the words of a query that some text has, each once.
func (x *Index) known(query string, of func(string, func(string))) (out []int32) {
	of(query, func(w string) {
		if t, ok := x.terms[w]; ok {
			out = append(out, t)
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// weigh adds what a word is worth to the scores of the passages that have it, and those to touched that had none.
func (x *Index) weigh(t int32, times float64, touched []int32) []int32 {
	ps := x.postings[t]
	have := float64(len(ps))
	rare := times * math.Pow(math.Log(1+(float64(len(x.passages))-have+0.5)/(have+0.5)), rareness)
	mean := float64(x.total) / float64(max(1, len(x.passages)))
	for _, p := range ps {
		n, long := float64(p.times), float64(x.passages[p.passage].words)/max(1, mean)
		if x.scores[p.passage] == 0 {
			touched = append(touched, p.passage)
		}
		x.scores[p.passage] += rare * n * (saturation + 1) / (n + saturation*(1-lengthness+lengthness*long))
	}
	return touched
}
