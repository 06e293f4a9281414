package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/reduce"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/preset"
)

// The first and last line of the record of cleared results.
const (
	recordBegin = "[Record of old tool results, which were cleared from above to save room. It is a record and not the user's words; m12 is the number of a message.]"
	recordEnd   = "[End of the record. Read or run again what you need whole.]"
)

// placeholder is what a model reads in place of a result that its provider left out (docs/reference/anthropic.md,
// "Context editing").
const placeholder = "[Old tool result content cleared]"

// A clearer plans one clearing of a view.
type clearer struct {
	pour     EarlyPour
	rule     preset.EarlyPours
	view     *decant.Conversation
	native   func(id string) bool // decisions of earlier clearings
	outlines map[decant.Ref]decant.Decision
	stay     map[string]bool // tools whose results stay
	end      int             // index of the first message that stays as it is

	made    []decant.Decision
	said    []string     // the record, piece by piece
	carried []decant.Ref // blocks with images
	whole   []decant.Ref // blocks that the record has whole
}

// Clear returns the decisions of a clearing: the provider leaves out everything older than the rounds to
// keep, and Decant inserts a record of it behind the newest results. The record has pins whole, and everything
// that the kept rounds refer to. Clear returns nil if there is nothing to clear. It is a pure function of the
// view.
func Clear(ctx context.Context, view *decant.Conversation, t EarlyPour) []decant.Decision {
	c := &clearer{pour: t, rule: t.rule(), view: view, native: NativeIn(t.Made)}
	if c.native == nil {
		c.native = func(string) bool { return false }
	}
	at, ok := lastWord(t.transcript(view), view)
	if !ok || !c.bounds() {
		return nil
	}
	c.outline(ctx)
	for i := range view.Messages[:c.end] {
		c.message(&view.Messages[i])
	}
	if len(c.made) == 0 {
		return nil
	}
	return append(c.made, c.insert(at))
}

// lastWord returns the block before the insert: the last result of the newest message, or else its last
// block. It returns false if the newest message is not the user's.
func lastWord(transcript, view *decant.Conversation) (*decant.Block, bool) {
	if decant.AwaitsServer(view.Messages) {
		return nil, false
	}
	for i := len(view.Messages) - 1; i >= 0; i-- {
		m := &view.Messages[i]
		if m.Role == decant.RoleSystem {
			continue
		}
		if m.Role != decant.RoleUser || m.Number == 0 {
			return nil, false
		}
		var last *decant.Block
		for k := range m.Blocks {
			if b := &m.Blocks[k]; b.Ref.Message > 0 &&
				(last == nil || b.Kind == decant.KindResult || last.Kind != decant.KindResult) {
				last = b
			}
		}
		if last == nil {
			return nil, false
		}
		orig := transcript.Block(last.Ref)
		return orig, orig != nil
	}
	return nil, false
}

// bounds determines the tools whose results stay and the end of the clearing. It returns false if there is
// nothing to clear.
func (c *clearer) bounds() bool {
	rounds := decant.Rounds(c.view.Messages)
	n := len(rounds) - max(c.rule.Keep, 1)
	if n <= 0 {
		return false
	}
	c.end = rounds[n-1].End
	c.stay = map[string]bool{}
	gone := map[string]bool{} // tools of which something was cleared before
	fresh := false
	for _, r := range rounds[:n] {
		for i := r.Start; i < r.End; i++ {
			for k := range c.view.Messages[i].Blocks {
				b := &c.view.Messages[i].Blocks[k]
				switch {
				case b.Kind != decant.KindResult:
				case c.native(b.Changed):
					gone[b.Name] = true
				case b.Loads > 0 && gone[b.Name]: // clearing tells results apart by the name of the tool only
					c.end = r.Start
					return fresh
				case b.Loads > 0 || !c.named(b.Name):
					c.stay[b.Name] = true
				default:
					fresh = true
				}
			}
		}
	}
	return fresh
}

// named reports whether the preset allows leaving out what a tool returned.
func (c *clearer) named(name string) bool {
	t := c.pour.Preset.Tools
	return !reduce.Named(t.Exclude, name) && !reduce.Named(t.Pin, name) &&
		(len(t.Include) == 0 || reduce.Named(t.Include, name))
}

// outline prepares the entry of each block in the record.
func (c *clearer) outline(ctx context.Context) {
	s := reduce.Of(ctx, c.view, reduce.Options{
		Counter: c.pour.Counter, Mask: secret.Mask, Transcript: c.pour.transcript(c.view), Made: c.pour.Made,
		KeepRounds: c.rule.Keep, Quote: quoting(c.rule),
	})
	c.outlines = map[decant.Ref]decant.Decision{}
	for _, find := range []func(*reduce.Subject) []decant.Decision{reduce.Superseded, reduce.Duplicate, reduce.Stub,
		reduce.Arguments} {
		for _, d := range find(s) {
			if was, ok := c.outlines[d.Target.Ref]; !ok || d.After < was.After {
				c.outlines[d.Target.Ref] = d
			}
		}
	}
}

// message clears the blocks of a message.
func (c *clearer) message(m *decant.Message) {
	for k := range m.Blocks {
		b := &m.Blocks[k]
		switch {
		case b.Ref.Message == 0 || c.native(b.Changed) || c.stay[b.Name]:
		case b.Kind == decant.KindResult:
			c.clear(b, placeholder)
			if b.Media.Count > 0 {
				c.carried = append(c.carried, b.Ref)
			}
		case b.Kind == decant.KindUse && writes(b.Name): // what it wrote is in the file
			c.clear(b, "{}")
		}
	}
}

// clear decides that the provider leaves b out, and records what it said.
func (c *clearer) clear(b *decant.Block, instead string) {
	orig := c.pour.transcript(c.view).Block(b.Ref)
	if orig == nil {
		orig = b
	}
	d := decant.Decision{
		Kind: decant.Native, Reduction: decant.ReductionCleared, Reason: "old result of " + b.Name,
		Target: decant.TargetOf(orig),
		Text:   instead, Handle: decant.HandleOf(orig.Hash()), Before: c.pour.Counter.Count(b.Text()),
		After: c.pour.Counter.Count(instead),
	}
	if b.Kind == decant.KindUse {
		d.Reason = "written content of an old " + b.Name + " call"
	}
	c.made = append(c.made, d)
	if text := strings.TrimSpace(c.record(b)); text != "" {
		c.said = append(c.said, fmt.Sprintf("m%d %s", b.Ref.Message, text))
	}
}

// record returns the entry of a block: its outline, or all of it if it is pinned or short.
func (c *clearer) record(b *decant.Block) string {
	d, ok := c.outlines[b.Ref]
	text := secret.Mask(b.Text())
	switch {
	case c.pour.untouchable(b.Ref):
		c.whole = append(c.whole, b.Ref)
		return fmt.Sprintf("%s, whole:\n%s", b.Name, b.Text())
	case ok && b.Kind == decant.KindResult:
		return d.Text
	case ok:
		text = d.Text
	}
	if b.Kind == decant.KindUse {
		return b.Name + " " + text
	}
	return text
}

// insert returns the decision that puts the record behind a block.
func (c *clearer) insert(at *decant.Block) decant.Decision {
	text := strings.Join(slices.Concat([]string{recordBegin}, c.said, []string{recordEnd}), "\n")
	return decant.Decision{
		Kind: decant.Insert, Reduction: decant.ReductionOutlines,
		Reason: fmt.Sprintf("what %d cleared blocks said", len(c.made)),
		Target: decant.TargetOf(at), Text: text, After: c.pour.Counter.Count(text), Carried: c.carried, Repeats: c.whole,
	}
}
