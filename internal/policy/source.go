package policy

import (
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/preset"
)

// readable returns what a summariser reads of messages that are covered: tool results as previews, and no more
// of them than the preset allows. What people and the model said, and what was called, is read whole: a cap
// on it would lose the rules that a user gave once, long ago.
func readable(ms []decant.Message, s preset.Summary) []decant.Message {
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
			r := []rune(secret.Mask(b.Text())) // half of a credential is not known for one
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

// middleOut returns ms with at most limit bytes of tool results: those of the first and of the last messages,
// half of them from each end, and a note in place of each result between.
func middleOut(ms []decant.Message, limit int) []decant.Message {
	total := 0
	sizes := make([]int, len(ms))
	for i := range ms {
		sizes[i] = resultBytes(&ms[i])
		total += sizes[i]
	}
	if total <= limit {
		return ms
	}
	from, to := 0, len(ms)
	for sum := 0; from < to && sum+sizes[from] <= limit/2; from++ {
		sum += sizes[from]
	}
	for sum := 0; to > from && sum+sizes[to-1] <= limit/2; to-- {
		sum += sizes[to-1]
	}
	out := slices.Clone(ms)
	for i := from; i < to; i++ {
		if sizes[i] > 0 {
			out[i].Blocks = slices.Clone(out[i].Blocks)
			noted(out[i].Blocks)
		}
	}
	return out
}

// resultBytes returns the encoded size of the results in m.
func resultBytes(m *decant.Message) (n int) {
	for k := range m.Blocks {
		if b := &m.Blocks[k]; b.Kind == decant.KindResult && b.Content != nil {
			n += b.Content.Size()
		}
	}
	return n
}

// noted puts a note in the place of each result.
func noted(bs []decant.Block) {
	for k := range bs {
		if b := &bs[k]; b.Kind == decant.KindResult && b.Content != nil {
			b.Content = decant.Text(fmt.Sprintf("[%d bytes left out]", b.Content.Size()))
		}
	}
}
