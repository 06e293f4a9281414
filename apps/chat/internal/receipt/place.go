package receipt

import (
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
)

// A text is one that a model was sent, or that was there and was not sent.
type text struct {
	text  string
	form  Form
	block *decant.Block    // of the transcript; nil: it is none of the conversation
	in    *decant.Message  // that has the block
	by    *decant.Decision // that took the original away or brought the text; nil: none
	model bool             // the model has said it itself
}

// places are all texts of a moment.
type places struct {
	moment *agent.Moment
	sent   []text
	left   []text
	byID   map[string]*decant.Decision
}

// placesOf returns what was sent at a moment, and what was not.
func placesOf(m *agent.Moment) *places {
	p := &places{moment: m, byID: map[string]*decant.Decision{}}
	for i := range m.Decisions {
		p.byID[m.Decisions[i].ID] = &m.Decisions[i]
	}
	fixed := &m.View.Fixed
	for i := range fixed.System {
		p.sent = append(p.sent, text{text: fixed.System[i].Text(), form: formInstructions})
	}
	for i := range fixed.Tools {
		if c := fixed.Tools[i].Schema; c != nil {
			p.sent = append(p.sent, text{text: c.Text(), form: formInstructions})
		}
	}
	verbatim := map[decant.Ref]bool{}
	for i := range m.View.Messages {
		v := &m.View.Messages[i]
		for k := range v.Blocks {
			p.add(v, &v.Blocks[k], verbatim)
		}
	}
	for i := range m.Transcript.Messages {
		t := &m.Transcript.Messages[i]
		for k := range t.Blocks {
			if b := &t.Blocks[k]; !verbatim[b.Ref] && readable(b) {
				p.left = append(p.left, text{text: b.Text(), form: formLeft, block: b, in: t, by: p.taker(b.Ref), model: spoken(t, b)})
			}
		}
	}
	return p
}

// readable reports whether a block has a text that people can look up. Thinking is not shown to them.
func readable(b *decant.Block) bool {
	return b.Content != nil && b.Kind != decant.KindThinking && b.Kind != decant.KindOpaque
}

// spoken reports whether a block is what the model said or asked for.
func spoken(m *decant.Message, b *decant.Block) bool {
	return m.Role == decant.RoleAssistant && b.Kind != decant.KindResult
}

// add adds a block of the view to what was sent.
func (p *places) add(v *decant.Message, b *decant.Block, verbatim map[decant.Ref]bool) {
	d := p.byID[b.Changed]
	switch {
	case b.Kind == decant.KindOpaque && d != nil && d.Checkpoint != nil: // the provider's own summary, as far as people can read it
		p.sent = append(p.sent, text{text: d.Checkpoint.Summary, form: formRecord, by: d})
	case !readable(b):
	case b.Changed == "" && b.Ref.Message > 0:
		verbatim[b.Ref] = true
		p.sent = append(p.sent, text{text: b.Text(), form: formVerbatim, block: b, in: v, model: spoken(v, b)})
	case d != nil && d.Checkpoint != nil:
		p.sent = append(p.sent, text{text: b.Text(), form: formRecord, by: d})
	case d != nil && d.Kind == decant.Insert:
		p.sent = append(p.sent, text{text: b.Text(), form: formAdded, by: d})
	case d != nil:
		form := formShortened
		switch {
		case d.Reduction == decant.ReductionOutline:
			form = formOutline
		case d.Kind == decant.Stub, d.Kind == decant.Native:
			form = formStub
		}
		t := text{text: b.Text(), form: form, by: d, model: spoken(v, b)}
		if t.in = p.moment.Transcript.Message(d.Target.Message); t.in != nil {
			t.block = p.moment.Transcript.Block(d.Target.Ref)
		}
		p.sent = append(p.sent, t)
	default:
		p.sent = append(p.sent, text{text: b.Text(), form: formAdded})
	}
}

// taker returns the decision by which a block left what is sent: the first checkpoint that covers it, or else what was decided about
// it alone.
func (p *places) taker(at decant.Ref) *decant.Decision {
	for i := len(p.moment.Before) - 1; i >= 0; i-- { // oldest first
		if d := &p.moment.Before[i]; d.Checkpoint.Covers(at.Message) && !slices.Contains(d.Checkpoint.Kept, at.Message) {
			return d
		}
	}
	ds := decant.InForce(p.moment.Decisions)
	var out *decant.Decision
	for i := range ds {
		switch d := &ds[i]; {
		case d.Checkpoint.Covers(at.Message) && !slices.Contains(d.Checkpoint.Kept, at.Message):
			return d
		case d.Target.Ref == at && d.Kind != decant.Insert:
			out = d
		}
	}
	return out
}

// pourOf returns the number of the checkpoint that a decision made, or was made together with; 0: there is none.
func (p *places) pourOf(d *decant.Decision) int {
	if d.Checkpoint != nil {
		return d.Checkpoint.Number
	}
	for _, ds := range [][]decant.Decision{p.moment.Decisions, p.moment.Before} {
		for i := range ds {
			if cp := ds[i].Checkpoint; cp != nil && d.Pour != "" && ds[i].Pour == d.Pour {
				return cp.Number
			}
		}
	}
	return 0
}

// placeOf returns where a part of a block of the transcript stands.
func placeOf(t *text, start, end int) *Place {
	return &Place{
		Message: t.in.Number, Block: t.block.Ref.Block, Role: string(t.in.Role), Kind: string(t.block.Kind), Tool: t.block.Name, Call: t.block.CallID,
		Start: start, End: end,
	}
}

// within returns where in the text of an original a quote stands of what took its place; its whole text where it is not in one piece.
func within(original, quote string) (start, end int) {
	quote = strings.TrimSpace(strings.Trim(quote, "…[] "))
	if i := strings.Index(original, quote); i >= 0 && quote != "" {
		return i, i + len(quote)
	}
	return 0, len(original)
}
