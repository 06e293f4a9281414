package replay

import (
	"cmp"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/tool"
)

// mostAbout is how many characters are quoted of what a decision is about.
const mostAbout = 100

// entry returns a decision as the log has it.
func (r *run) entry(q int, why policy.Reason, d *decant.Decision) Entry {
	return Entry{
		Request: q + 1, At: r.seg.requests[q].at, Pour: why, Kind: d.Kind, Reduction: d.Reduction,
		Reason: d.Reason, Message: d.Target.Message, About: r.about(d), Before: d.Before, After: d.After,
	}
}

// about says what a decision is about: the call and its file, search or command, or the first words of
// the text.
func (r *run) about(d *decant.Decision) string {
	i, ok := r.seg.index(d.Target.Message)
	if !ok || len(r.seg.conv.Messages[i].Blocks) == 0 {
		return ""
	}
	m := &r.seg.conv.Messages[i]
	b := &m.Blocks[blockAt(m, d.Target.Ref)]
	text := b.Text()
	switch b.Kind {
	case decant.KindUse:
		text = aboutCall(b)
	case decant.KindResult:
		if use := r.seg.call(i, b.CallID); use != nil {
			text = aboutCall(use)
		}
	}
	return clip(secret.Mask(text))
}

// aboutCall returns a call in a few words.
func aboutCall(b *decant.Block) string {
	c := tool.Parse(b.Name, b.Text())
	return strings.TrimSpace(b.Name + " " + cmp.Or(c.Path, c.Query, c.URL, c.Command))
}

// clip returns the first line of a text that has words, cut to what is quoted.
func clip(text string) string {
	text, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	r := []rune(text)
	if len(r) > mostAbout {
		r, more = r[:mostAbout], true
	}
	if more {
		return string(r) + "…"
	}
	return string(r)
}

// index returns where the message of a number stands in the history.
func (s *segment) index(number int) (int, bool) {
	for i := min(number, len(s.conv.Messages)) - 1; i >= 0; i-- {
		switch n := s.conv.Messages[i].Number; {
		case n == number:
			return i, true
		case n < number:
			return 0, false
		}
	}
	return 0, false
}

// call returns the newest call of an id before the i-th message, nil when there is none.
func (s *segment) call(i int, id string) *decant.Block {
	for ; i >= 0; i-- {
		for k := range s.conv.Messages[i].Blocks {
			if b := &s.conv.Messages[i].Blocks[k]; b.Kind == decant.KindUse && b.CallID == id {
				return b
			}
		}
	}
	return nil
}
