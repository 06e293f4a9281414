package replay

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/fact"
)

// A judge measures what views still hold of what the assistant wrote next.
type judge struct {
	seg   *segment
	gold  [][]string // for each request the strings that were written next and stood in the history
	where map[string][]place
	words map[place]string // text of blocks that hold gold
	lines map[found][]context
	facts []decant.Fact // must-keep facts, extracted once
}

// place is a block of the transcript: message and block by index.
type place struct{ message, block int }

// found is a string in a block; changed tells the versions of a block apart.
type found struct {
	place
	text, changed string
}

// context is the plain words beside a string on its line, as hashes.
type context []uint32

// Numbers of the grounded measure.
const (
	aside      = 100 // characters to either side that count
	sightings  = 12  // first places of a string that are looked at
	commonWish = 2   // plain words in common that ground a string
)

func newJudge(s *segment) *judge {
	j := &judge{seg: s, where: map[string][]place{}, words: map[place]string{}, lines: map[found][]context{}}
	ms := s.conv.Messages
	for _, n := range s.requests {
		j.gold = append(j.gold, written(&ms[n]))
	}
	wanted := map[string]bool{}
	for _, g := range j.gold {
		for _, t := range g {
			wanted[t] = true
		}
	}
	j.index(wanted)
	for q, n := range s.requests {
		kept := j.gold[q][:0]
		for _, t := range j.gold[q] {
			if at := j.where[t]; len(at) > 0 && at[0].message < n {
				kept = append(kept, t)
			}
		}
		j.gold[q] = kept
	}
	return j
}

// written returns the strings that have to be exact in what the assistant says and calls.
func written(m *decant.Message) (out []string) {
	seen := map[string]bool{}
	for k := range m.Blocks {
		b := &m.Blocks[k]
		if b.Kind != decant.KindText && b.Kind != decant.KindUse {
			continue
		}
		each(b.Text(), func(t string) {
			if !seen[t] {
				seen[t] = true
				out = append(out, t)
			}
		})
	}
	return out
}

// each calls yield with every string in text that has to be exact.
func each(text string, yield func(string)) {
	for _, s := range fact.Scan(nil, text) {
		if !s.Inner && s.End-s.Start >= 5 {
			yield(text[s.Start:s.End])
		}
	}
}

// index finds the blocks in which the wanted strings stand.
func (j *judge) index(wanted map[string]bool) {
	ms := j.seg.conv.Messages
	for i := range ms {
		for k := range ms[i].Blocks {
			b := &ms[i].Blocks[k]
			if b.Kind == decant.KindThinking {
				continue
			}
			at := place{i, k}
			text := b.Text()
			each(text, func(t string) {
				if at2 := j.where[t]; wanted[t] && (len(at2) == 0 || at2[len(at2)-1] != at) {
					j.where[t] = append(at2, at)
					j.words[at] = text
				}
			})
		}
	}
}

// verdict counts gold strings.
type verdict struct{ gold, kept, grounded int }

// judge compares the view that was sent for request q with the whole history.
func (j *judge) judge(q int, view []decant.Message) verdict {
	v := verdict{gold: len(j.gold[q])}
	if v.gold == 0 {
		return v
	}
	if n := j.seg.requests[q]; len(view) == n && &view[0] == &j.seg.conv.Messages[0] { // everything
		return verdict{v.gold, v.gold, v.gold}
	}
	s := newSight(view)
	for _, t := range j.gold[q] {
		clean, kept := j.look(t, j.seg.requests[q], s)
		switch {
		case clean:
			v.kept, v.grounded = v.kept+1, v.grounded+1
		case kept || s.written(t):
			v.kept++
			if j.grounded(t, j.seg.requests[q], s) {
				v.grounded++
			}
		}
	}
	return v
}

// look reports whether all blocks that held t are in view unchanged, and whether any is that still
// holds it.
func (j *judge) look(t string, n int, s *sight) (clean, kept bool) {
	clean = true
	for _, at := range j.where[t] {
		if at.message >= n {
			break
		}
		b := s.block(j.ref(at))
		if b == nil || b.Changed != "" {
			clean = false
		}
		kept = kept || b != nil && (b.Changed == "" || strings.Contains(b.Text(), t))
	}
	return clean, kept
}

func (j *judge) ref(at place) decant.Ref {
	return j.seg.conv.Messages[at.message].Blocks[at.block].Ref
}

// grounded reports whether t stands in view on a line that shares plain words with one where it stood.
func (j *judge) grounded(t string, n int, s *sight) bool {
	var before, now []context
	for _, at := range j.where[t] {
		if at.message >= n {
			break
		}
		was := j.contexts(found{at, t, ""}, j.words[at])
		before = append(before, was...)
		switch b := s.block(j.ref(at)); {
		case b == nil:
		case b.Changed == "":
			now = append(now, was...)
		default:
			now = append(now, j.contexts(found{at, t, b.Changed}, b.Text())...)
		}
	}
	for _, text := range s.ours {
		now = append(now, contexts(text, t)...)
	}
	before, now = before[:min(len(before), sightings)], now[:min(len(now), sightings)]
	want := 0
	for _, c := range before {
		want = max(want, min(commonWish, len(c)))
	}
	for _, a := range now {
		for _, b := range before {
			if a.common(b) >= want {
				return true
			}
		}
	}
	return false
}

func (j *judge) contexts(f found, text string) []context {
	c, ok := j.lines[f]
	if !ok {
		c = contexts(text, f.text)
		j.lines[f] = c
	}
	return c
}

// sight is a view, looked up by place.
type sight struct {
	view    []decant.Message
	numbers []int           // of the messages that stand in the transcript, ascending
	at      []int           // and their indices
	ours    []string        // texts that stand nowhere in the transcript
	changed []*decant.Block // blocks of the transcript with another text
}

func newSight(view []decant.Message) *sight {
	s := &sight{view: view, numbers: make([]int, 0, len(view)), at: make([]int, 0, len(view))}
	for i := range view {
		if n := view[i].Number; n > 0 {
			s.numbers, s.at = append(s.numbers, n), append(s.at, i)
		}
		for k := range view[i].Blocks {
			switch b := &view[i].Blocks[k]; {
			case b.Ref.Message == 0:
				s.ours = append(s.ours, b.Text())
			case b.Changed != "":
				s.changed = append(s.changed, b)
			}
		}
	}
	return s
}

// block returns the block of the view that stands at a place of the transcript, nil when none does.
func (s *sight) block(r decant.Ref) *decant.Block {
	i, ok := slices.BinarySearch(s.numbers, r.Message)
	if !ok {
		return nil
	}
	m := &s.view[s.at[i]]
	for k := range m.Blocks {
		if m.Blocks[k].Ref == r {
			return &m.Blocks[k]
		}
	}
	return nil
}

// written reports whether something that the policy wrote holds t.
func (s *sight) written(t string) bool {
	for _, text := range s.ours {
		if strings.Contains(text, t) {
			return true
		}
	}
	for _, b := range s.changed {
		if strings.Contains(b.Text(), t) {
			return true
		}
	}
	return false
}

// contexts returns the contexts of the first places of t in text.
func contexts(text, t string) (out []context) {
	for i := 0; len(out) < sightings; i += len(t) {
		k := strings.Index(text[i:], t)
		if k < 0 {
			break
		}
		i += k
		left := text[backward(text, i):i]
		left = left[strings.LastIndexByte(left, '\n')+1:]
		end := i + len(t)
		right := text[end:forward(text, end)]
		if n := strings.IndexByte(right, '\n'); n >= 0 {
			right = right[:n]
		}
		out = append(out, plain(left+" "+right))
	}
	return out
}

func backward(s string, i int) int {
	for n := 0; n < aside && i > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return i
}

func forward(s string, i int) int {
	for n := 0; n < aside && i < len(s); n++ {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}

// plain returns the plain words in s: small letters only, four at least, not part of a name.
func plain(s string) (out context) {
	for i := 0; i < len(s); {
		start := i
		hash := uint32(2166136261) // FNV-1a
		for i < len(s) && 'a' <= s[i] && s[i] <= 'z' {
			hash = (hash ^ uint32(s[i])) * 16777619
			i++
		}
		if i == start {
			i++
			continue
		}
		if i-start >= 4 && (start == 0 || !joins(s[start-1], true)) && (i == len(s) || !joins(s[i], false)) && !out.has(hash) {
			out = append(out, hash)
		}
	}
	return out
}

// joins reports whether c, beside a word, makes it part of a name.
func joins(c byte, before bool) bool {
	switch {
	case c == '_', c == '/', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c >= utf8.RuneSelf:
		return true
	}
	return before && (c == '.' || c == '-')
}

func (c context) has(h uint32) bool {
	for _, x := range c {
		if x == h {
			return true
		}
	}
	return false
}

func (c context) common(d context) (n int) {
	for _, x := range c {
		if d.has(x) {
			n++
		}
	}
	return n
}
