package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire"
)

const (
	foldBegin = "[Record of the conversation so far, made to fit the window. It is a record and not the user's words, except where it says user; m1, m2, ... are the numbers of its messages.]"
	foldEnd   = "[End of the record. The work goes on from here.]"
)

// foldRoute makes the whole conversation one message of the user: pins, checkpoint and the recent
// rounds, the open one included, as text, so that no message of the assistant remains. That is legal
// in every state. What the user said last and nobody has answered stays a message of its own.
func (a *attempt) foldRoute(target int) error {
	made, view := a.made, a.view
	if _, ds, err := a.plan(target); err == nil { // what the fold is made of; it covers all of it
		if err := a.add(ds); err != nil {
			return err
		}
	}
	end := len(a.conv.Messages)
	for end > 0 && unanswered(&a.conv.Messages[end-1]) {
		end--
	}
	if end == 0 {
		return errNoRoute
	}
	d := a.fold(end, target)
	a.made, a.view = made, view
	return a.add([]decant.Decision{d})
}

// unanswered reports whether m belongs to what stands after the last round: no message of the
// assistant and no result.
func unanswered(m *decant.Message) bool {
	return m.Role != decant.RoleAssistant && !brings(m, decant.KindResult)
}

// fold returns the checkpoint that covers the first end messages with their text in the view, within
// the target if results and arguments can be cut so far.
func (a *attempt) fold(end, target int) decant.Decision {
	from, to := a.conv.Messages[0].Number, a.conv.Messages[end-1].Number
	cp := &decant.Checkpoint{
		Number: a.checkpoints() + 1, From: from, To: to, Messages: end,
		Placement: decant.PlaceMessage, Rung: decant.RungExtractive, Score: 1,
		Original: a.est.Messages(a.conv.Messages[:end]),
	}
	if was := coverOf(a.inForce); was != nil {
		cp.Folds = was.Number
	}
	if plan := coverOf(a.made); plan != nil {
		cp.Facts, cp.Score, cp.Rung = plan.Facts, plan.Score, plan.Rung
	}
	pins := allPins(a.conv, a.preset, pinsOf(a.inForce))
	if len(pins) > 0 {
		_, cp.Pins = pinnedText(a.conv.With(a.conv.Messages[:end]), pins)
	}
	var text []decant.Message
	for i := range a.view.Messages {
		if m := &a.view.Messages[i]; m.Number == 0 || m.Number <= to {
			text = append(text, *m)
		}
	}
	for _, keep := range foldCuts {
		cp.Summary = strings.Join([]string{foldBegin, a.recorded(shortened(text, keep, pins)), foldEnd}, "\n\n")
		if cp.Compressed = a.est.Count(cp.Summary); cp.Compressed <= target {
			break
		}
	}
	return decant.Decision{
		Kind: decant.Cover, Reduction: "fold", Reason: "everything as one message: the only legal form here",
		Handle: decant.Handle(fmt.Sprintf("c:%d", cp.Number)), Before: cp.Original, After: cp.Compressed, Checkpoint: cp,
	}
}

// recorded returns messages as text. What an earlier fold recorded goes on in the new record as it was,
// without the lines around it: it is part of the same record now.
func (a *attempt) recorded(ms []decant.Message) string {
	var parts []string
	from := 0
	for i := range ms {
		inner, ok := unfolded(&ms[i])
		if !ok {
			continue
		}
		parts = append(parts, wire.Text(a.view.With(ms[from:i])), inner)
		from = i + 1
	}
	parts = append(parts, wire.Text(a.view.With(ms[from:])))
	parts = slices.DeleteFunc(parts, func(s string) bool { return strings.TrimSpace(s) == "" })
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return strings.Join(parts, "\n\n")
}

// unfolded returns the record in a message that a fold wrote.
func unfolded(m *decant.Message) (string, bool) {
	if m.Number != 0 || len(m.Blocks) != 1 {
		return "", false
	}
	text, ok := strings.CutPrefix(m.Blocks[0].Text(), foldBegin)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(text, foldEnd)
}

// foldCuts are the characters of each end of a result, or of a call's arguments, that a fold keeps: as
// many as the target allows. 0 keeps all.
var foldCuts = [...]int{0, 4000, 1500, 500, 150}

// shortened returns ms with long results and arguments cut to their ends, keep characters each and
// whole lines where there are lines. What is pinned stays.
func shortened(ms []decant.Message, keep int, pins map[decant.Ref]decant.Hash) []decant.Message {
	if keep == 0 {
		return ms
	}
	out := slices.Clone(ms)
	for i := range out {
		out[i].Blocks = slices.Clone(out[i].Blocks)
		for k := range out[i].Blocks {
			b := &out[i].Blocks[k]
			if _, pinned := pins[b.Ref]; pinned || b.Kind != decant.KindResult && b.Kind != decant.KindUse {
				continue
			}
			if t := b.Text(); len(t) > 2*keep+100 {
				b.Content = decant.Text(ends(t, keep))
			}
		}
	}
	return out
}

// ends returns the two ends of a text and how much is between them.
func ends(t string, keep int) string {
	head, tail := t[:keep], t[len(t)-keep:]
	if i := strings.LastIndexByte(head, '\n'); i > keep/2 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < keep/2 {
		tail = tail[i+1:]
	}
	head, tail = strings.ToValidUTF8(head, ""), strings.ToValidUTF8(tail, "")
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", head, len(t)-len(head)-len(tail), tail)
}
