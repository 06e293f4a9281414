package receipt

import (
	"math"
	"strings"
	"unicode/utf8"
)

// A passage is a line of a text, or a part of a long one.
type passage struct {
	of         int // index of the text
	start, end int // bytes of it
	words      int // that it has
}

const (
	longest = 320 // bytes of a passage
	margin  = 120 // bytes of what is shown around it
)

// passagesOf splits a text into passages.
func passagesOf(of int, s string) (out []passage) {
	for at := 0; at < len(s); {
		end := len(s)
		if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
			end = at + i
		}
		for end-at > longest {
			cut := breakOf(s, at)
			out = append(out, passage{of: of, start: at, end: cut})
			at = cut
		}
		if strings.TrimSpace(s[at:end]) != "" {
			out = append(out, passage{of: of, start: at, end: end})
		}
		at = end + 1
	}
	return out
}

// breakOf returns where a passage that begins at a place in a long line ends: behind a sentence, or else between words, or else anywhere.
func breakOf(s string, at int) int {
	end := at + longest
	for !utf8.RuneStart(s[end]) {
		end--
	}
	part := s[at:end]
	for _, stop := range []string{". ", "。", "! ", "? ", "; ", " "} {
		if i := strings.LastIndex(part, stop); i > longest/3 {
			return at + i + len(stop)
		}
	}
	return end
}

// A corpus is texts in passages, with those words of them that are asked for.
type corpus struct {
	texts    []text
	small    []string // their texts with small letters
	passages []passage
	first    []int            // of each text, the index of its first passage; one more at the end
	has      map[string][]int // by word: passages that have it, each once, in order
	average  float64          // words of a passage
	slots    []int            // of each passage: where it stands in a list that is being made; 0: not yet
}

// read reads texts.
func (s *search) read(texts []text) *corpus {
	c := &corpus{texts: texts, has: make(map[string][]int, len(s.words))}
	words := 0
	for i := range texts {
		t := texts[i].text
		c.small = append(c.small, small(t))
		c.first = append(c.first, len(c.passages))
		c.passages = append(c.passages, passagesOf(i, t)...)
		for at := c.first[i]; at < len(c.passages); at++ {
			p := &c.passages[at]
			eachWord(t[p.start:p.end], func(_, _ int, w string) {
				p.words++
				if in := c.has[w]; s.words[w] && (len(in) == 0 || in[len(in)-1] != at) {
					c.has[w] = append(in, at)
				}
			})
			words += p.words
		}
	}
	c.first = append(c.first, len(c.passages))
	c.average = max(1, float64(words)/float64(max(1, len(c.passages))))
	return c
}

// at returns the passage of a text that has a byte.
func (c *corpus) at(text, b int) int {
	lo, hi := c.first[text], c.first[text+1]
	for lo+1 < hi {
		if mid := (lo + hi) / 2; c.passages[mid].start <= b {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// rarity returns how much a word that df of n passages have says.
func rarity(n, df int) float64 { return math.Log1p((float64(n-df) + 0.5) / (float64(df) + 0.5)) }
