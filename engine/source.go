package engine

import (
	"fmt"
	"slices"

	"github.com/decantdev/decant"
)

// source returns what a summariser reads of the messages [head, cut): tool results as previews and
// no more text than the preset allows, cut in the middle, between messages.
func (p *planner) source(cut int) []decant.Message {
	s := p.Preset.Summary
	ms := p.conv.Messages[p.head:cut]
	if s.Preview.Over > 0 {
		ms = previews(ms, s.Preview.Over, s.Preview.Head, s.Preview.Tail)
	}
	if s.MaxInput > 0 {
		ms = middleOut(ms, s.MaxInput)
	}
	return ms
}

// previews returns ms with every tool result of more than over characters cut to head and tail.
func previews(ms []decant.Message, over, head, tail int) []decant.Message {
	out := slices.Clone(ms)
	for i := range out {
		for k := range out[i].Blocks {
			b := &out[i].Blocks[k]
			if b.Kind != decant.KindResult || b.Content == nil || b.Content.Size() <= over {
				continue
			}
			r := []rune(b.Text())
			if len(r) <= over {
				continue
			}
			cut := fmt.Sprintf("%s\n[%d characters left out]\n%s", string(r[:head]), len(r)-head-tail, string(r[len(r)-tail:]))
			out[i].Blocks = slices.Clone(out[i].Blocks)
			out[i].Blocks[k].Content = decant.Text(cut)
		}
	}
	return out
}

// middleOut returns the first and the last of ms with at most limit bytes of text, half from each
// end, and a note in place of what is between. At least one message of each end stays.
func middleOut(ms []decant.Message, limit int) []decant.Message {
	sizes := make([]int, len(ms))
	total := 0
	for i := range ms {
		for k := range ms[i].Blocks {
			if c := ms[i].Blocks[k].Content; c != nil {
				sizes[i] += c.Size()
			}
		}
		total += sizes[i]
	}
	if total <= limit || len(ms) < 3 {
		return ms
	}
	from, to, half := 1, len(ms)-1, limit/2
	for sum := sizes[0]; from < to && sum+sizes[from] <= half; from++ {
		sum += sizes[from]
	}
	for sum := sizes[to]; to > from && sum+sizes[to-1] <= half; to-- {
		sum += sizes[to-1]
	}
	if from >= to {
		return ms
	}
	note := decant.Text(fmt.Sprintf("[%d messages left out here]", to-from))
	gap := decant.Message{Role: decant.RoleUser, Blocks: []decant.Block{{Kind: decant.KindText, Author: decant.AuthorDecant, Content: note}}}
	return slices.Concat(ms[:from], []decant.Message{gap}, ms[to:])
}
