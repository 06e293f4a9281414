package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/apps/notebook/passage"
)

// first is how many passages are looked at.
const first = 10

// A result is what was found of one kind of questions.
type result struct {
	kind          string
	asked, found  int
	chance        float64 // of the questions that as many passages by chance would answer
	windows       int
	took          []time.Duration
	tokens, texts int // of what was indexed, on average
	missed        []string
}

// String returns the result on one line.
func (r *result) String() string {
	if r.asked == 0 {
		return r.kind + ": no questions"
	}
	slices.Sort(r.took)
	p := func(share float64) time.Duration { return r.took[int(share*float64(len(r.took)-1))] }
	return fmt.Sprintf("%s: %d of %d answered in the first %d (%.1f%%; by chance %.1f%%), %d places of %d tokens and %d texts, p50 %s, p95 %s",
		r.kind, r.found, r.asked, first, 100*float64(r.found)/float64(r.asked), 100*r.chance/float64(r.asked),
		r.windows, r.tokens/r.windows, r.texts/r.windows, p(.5).Round(time.Microsecond), p(.95).Round(time.Microsecond))
}

// measure asks at each quarter of a window of the history.
func (h history) measure(window int) map[string]*result {
	out := map[string]*result{}
	for _, k := range kinds {
		out[k] = &result{kind: k}
	}
	tokens, from, next := 0, 0, window
	all := 0
	for at := range h {
		if all >= next {
			h.ask(from, at, tokens, out)
			next = all + window/4
		}
		all += h[at].tokens
		for tokens += h[at].tokens; tokens > window; from++ {
			tokens -= h[from].tokens
		}
	}
	return out
}

// ask asks at one place.
func (h history) ask(from, at, tokens int, out map[string]*result) {
	x, holders := h.index(from, at)
	qs := h.questions(at, holders)
	for _, r := range out {
		r.windows, r.tokens, r.texts = r.windows+1, r.tokens+tokens, r.texts+x.Len()
	}
	for _, q := range qs {
		r := out[q.kind]
		r.asked++
		began := time.Now()
		hits := x.Find(q.text, first)
		r.took = append(r.took, time.Since(began))
		if slices.ContainsFunc(hits, func(p string) bool { return strings.Contains(p, q.evidence) }) {
			r.found++
		} else {
			r.missed = append(r.missed, fmt.Sprintf("%q in %q", q.evidence, q.text))
		}
		r.chance += x.chance(q.evidence)
	}
}

// An index is what was said before a place.
type index struct {
	*passage.Index
	texts []string
}

// index indexes blocks, the same text once, and counts in how many of them each string stands.
func (h history) index(from, to int) (*index, map[string]int) {
	x, holders, known := &index{Index: passage.New()}, map[string]int{}, map[string]bool{}
	for i := from; i < to; i++ {
		b := &h[i]
		if known[b.text] {
			continue
		}
		known[b.text] = true
		x.Add(b.head, b.text)
		x.texts = append(x.texts, b.text)
		has := map[string]bool{}
		facts(b.text, func(s string) { has[s] = true })
		for s := range has {
			holders[s]++
		}
	}
	return x, holders
}

// Find returns the texts of the best passages.
func (x *index) Find(query string, most int) (out []string) {
	for _, hit := range x.Index.Find(query, most, nil) {
		out = append(out, x.texts[hit.Text][hit.From:hit.To])
	}
	return out
}

// chance returns how likely one of so many texts, chosen blindly, has a string.
func (x *index) chance(evidence string) float64 {
	with := 0
	for _, t := range x.texts {
		if strings.Contains(t, evidence) {
			with++
		}
	}
	none := 1.0
	for i := range min(first, len(x.texts)) {
		none *= max(0, float64(len(x.texts)-with-i)) / float64(len(x.texts)-i)
	}
	return 1 - none
}
