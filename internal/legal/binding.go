package legal

import (
	"reflect"

	"github.com/decantdev/decant"
)

// CheckEdit returns the thinking in a view that the provider will refuse because it is bound to
// another beginning: signed thinking behind a difference from the original (differences in other
// thinking do not count), and thinking that was kept although thinking before it was removed from the
// middle. The original is what the model was sent when it wrote the thinking. Models without bound
// thinking have no such violations.
func CheckEdit(original, view *decant.Conversation, rules Rules) []Violation {
	c := newChecker(view, rules.Of(original))
	c.binding()
	return c.found
}

// binding checks bound thinking against the beginning that it was written on.
func (c *checker) binding() {
	if !c.rules.Binds || c.rules.Original == nil {
		return
	}
	original := c.rules.Original
	was, is := said(original.Live()), said(c.ms)
	if from := summarised(original, c.ms); from > 0 {
		was, is = said(original.Messages[from:]), is.behind()
	}
	same := commonPrefix(original, c.view, was, is)
	order := map[decant.Ref]int{}
	for i, t := range was.thoughts {
		order[t.block.Ref] = i
	}
	last := -1
	for _, t := range is.thoughts {
		i, ok := order[t.block.Ref]
		switch {
		case !ok || t.block.Ref.Message == 0:
			c.report(t.at, ThinkingBound, "the thinking is not from this conversation")
			continue
		case t.before != was.thoughts[i].before || t.before > same:
			c.report(t.at, ThinkingBound, "something before the thinking has changed")
		case last >= 0 && i != last+1:
			c.report(t.at, ThinkingGap, "thinking before this was taken out of the middle or moved")
		}
		last = i
	}
}

// summarised returns the index of the original's message from which on a view has it behind a summary that the
// provider itself has written; 0 where it has no such summary, or the original has the same. To a signature such a
// summary is what it was written of, as long as it stands first and what stood behind it follows.
func summarised(original *decant.Conversation, ms []decant.Message) int {
	if len(ms) < 2 || !ms[0].Compaction || ms[0].Number != 0 || len(ms[0].Blocks) != 1 {
		return 0
	}
	was := original.Live()
	if len(was) > 0 && was[0].Compaction && sameBlock(&was[0].Blocks[0], &ms[0].Blocks[0]) {
		return 0
	}
	return max(0, original.Index(ms[1].Number))
}

// behind returns s without the summary that it begins with.
func (s speech) behind() speech {
	out := speech{rest: s.rest[1:]}
	for _, t := range s.thoughts {
		t.before--
		out.thoughts = append(out.thoughts, t)
	}
	return out
}

// speech is a conversation split into signed thinking and everything else.
type speech struct {
	thoughts []thought
	rest     []spoken
}

// thought is a signed block of thinking, and how many blocks that are not thinking are before it.
type thought struct {
	at     place
	block  *decant.Block
	before int
}

type spoken struct {
	role  decant.Role
	block *decant.Block
}

func said(ms []decant.Message) (s speech) {
	for i := range ms {
		for k := range ms[i].Blocks {
			b := &ms[i].Blocks[k]
			switch {
			case b.Kind != decant.KindThinking:
				s.rest = append(s.rest, spoken{ms[i].Role, b})
			case b.Signed:
				s.thoughts = append(s.thoughts, thought{place{i, k}, b, len(s.rest)})
			}
		}
	}
	return s
}

// commonPrefix returns how many blocks of two conversations agree from the start, -1 when even
// system or tools differ.
func commonPrefix(a, b *decant.Conversation, x, y speech) (n int) {
	if !sameFixed(&a.Fixed, &b.Fixed) {
		return -1
	}
	for n < len(x.rest) && n < len(y.rest) && x.rest[n].role == y.rest[n].role &&
		sameBlock(x.rest[n].block, y.rest[n].block) {
		n++
	}
	return n
}

func sameFixed(a, b *decant.Fixed) bool {
	if len(a.System) != len(b.System) || len(a.Tools) != len(b.Tools) {
		return false
	}
	for i := range a.System {
		if !sameBlock(&a.System[i], &b.System[i]) {
			return false
		}
	}
	for i := range a.Tools {
		if a.Tools[i].Name != b.Tools[i].Name || !sameContent(a.Tools[i].Schema, b.Tools[i].Schema) {
			return false
		}
	}
	return true
}

// sameBlock reports whether two blocks are the same to a signature, which does not cover cache markers.
func sameBlock(a, b *decant.Block) bool {
	return a.Kind == b.Kind && a.CallID == b.CallID && a.Name == b.Name && a.Error == b.Error &&
		a.Media == b.Media && sameText(a, b)
}

func sameText(a, b *decant.Block) bool { return a == b || sameContent(a.Content, b.Content) }

// sameContent compares two texts. It decodes them only if they are not the same value.
func sameContent(a, b decant.Content) bool {
	if a == nil || b == nil {
		return a == b
	}
	if reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b {
		return true
	}
	return a.Text() == b.Text()
}
