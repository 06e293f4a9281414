package replay

import (
	"fmt"
	"unicode/utf8"

	"github.com/decantdev/decant"
)

// everything sends the history as it is.
type everything struct{ *stage }

func startNone(s *stage) player { return everything{s} }

func (p everything) view(q int) (step, error) {
	return step{messages: p.seg.conv.Messages[:p.seg.requests[q].messages]}, nil
}

// trimmer cuts results when they enter.
type trimmer struct {
	*stage
	keep int
	done []decant.Message
}

func startTrim(n int) func(*stage) player {
	return func(s *stage) player { return &trimmer{stage: s, keep: n} }
}

func (p *trimmer) view(q int) (step, error) {
	n := p.seg.requests[q].messages
	for len(p.done) < n {
		p.done = append(p.done, edit(&p.seg.conv.Messages[len(p.done)], "trim", p.cut))
	}
	return step{messages: p.done[:n]}, nil
}

// cut returns the two ends of a long result.
func (p *trimmer) cut(text string) (string, bool) {
	const note = 60
	n := utf8.RuneCountInString(text)
	if n <= 2*p.keep+note {
		return "", false
	}
	r := []rune(text)
	return string(r[:p.keep]) + fmt.Sprintf("\n[... %d characters cut ...]\n", n-2*p.keep) + string(r[n-p.keep:]), true
}

// edit returns m with the text of its results changed by f where f says so.
func edit(m *decant.Message, by string, f func(text string) (string, bool)) decant.Message {
	out := *m
	out.Blocks = append([]decant.Block(nil), m.Blocks...)
	for k := range out.Blocks {
		b := &out.Blocks[k]
		if b.Kind != decant.KindResult || b.Content == nil {
			continue
		}
		if text, ok := f(b.Text()); ok {
			b.Content, b.Changed = decant.Text(text), by
		}
	}
	return out
}

// keeper clears all but the newest results, on every request.
type keeper struct {
	*stage
	keep    int
	cleared []decant.Message // of the beginning, with all results cleared
	results []int            // in each message
}

func startKeep(n int) func(*stage) player {
	return func(s *stage) player { return &keeper{stage: s, keep: n} }
}

func (p *keeper) view(q int) (step, error) {
	n, ms := p.seg.requests[q].messages, p.seg.conv.Messages
	for i := len(p.cleared); i < n; i++ {
		p.cleared = append(p.cleared, edit(&ms[i], "cleared", func(string) (string, bool) { return "[cleared]", true }))
		p.results = append(p.results, countResults(&ms[i]))
	}
	out := append([]decant.Message(nil), ms[:n]...)
	left := p.keep
	for i := n - 1; i >= 0; i-- {
		switch has := p.results[i]; {
		case has <= left:
			left -= has
		case left == 0:
			out[i] = p.cleared[i]
		default:
			out[i] = p.partly(i, has-left)
			left = 0
		}
	}
	return step{messages: out}, nil
}

// partly returns the i-th message with its first results cleared.
func (p *keeper) partly(i, clear int) decant.Message {
	return edit(&p.seg.conv.Messages[i], "cleared", func(string) (string, bool) {
		clear--
		return "[cleared]", clear >= 0
	})
}

func countResults(m *decant.Message) (n int) {
	for k := range m.Blocks {
		if m.Blocks[k].Kind == decant.KindResult {
			n++
		}
	}
	return n
}

// dropper drops the oldest rounds when the window is full. What the user said first stays.
type dropper struct {
	*stage
	cut  int
	cuts []int
}

func startDrop(s *stage) player {
	return &dropper{stage: s, cut: 1, cuts: decant.Cuts(s.seg.conv.Messages)}
}

func (p *dropper) view(q int) (step, error) {
	n, window := p.seg.requests[q].messages, p.limited(q).Window
	ms := p.seg.conv.Messages[:n]
	limit := window - window/8
	for _, c := range p.cuts {
		if c <= p.cut || c >= n-1 {
			continue
		}
		if p.size(ms, p.cut) <= limit {
			break
		}
		p.cut = c
	}
	return step{messages: p.without(ms, p.cut)}, nil
}

func (p *dropper) without(ms []decant.Message, cut int) []decant.Message {
	if cut <= 1 {
		return ms
	}
	return append(append([]decant.Message(nil), ms[:1]...), ms[cut:]...)
}

func (p *dropper) size(ms []decant.Message, cut int) int {
	_, n := p.lay.prompt(p.without(ms, cut))
	return n
}
