package engine

import (
	"context"
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
func (a *attempt) foldRoute(ctx context.Context, target int) error {
	made, view := a.made, a.view
	if _, ds, err := a.plan(ctx, target); err == nil { // what the fold is made of; it covers all of it
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
	if err := a.add([]decant.Decision{d}); err != nil || len(d.Checkpoint.Kept) == 0 || !a.model.Binds {
		return err
	}
	return a.add(a.allThinking()) // of the rounds that stay: what stood before it is gone
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
	stay := loading(a.conv.Messages[:end])
	covered, kept := apart(a.conv.Messages[:end], stay)
	cp := &decant.Checkpoint{
		Number: a.checkpoints() + 1, From: from, To: to, Messages: len(covered), Kept: kept,
		Placement: decant.PlaceMessage, Rung: decant.RungExtractive, Score: 1,
		Original: a.est.Messages(covered),
	}
	if was := decant.CheckpointIn(a.inForce); was != nil {
		cp.Folds = was.Number
	}
	if plan := decant.CheckpointIn(a.made); plan != nil {
		cp.Facts, cp.Score, cp.Rung = plan.Facts, plan.Score, plan.Rung
	}
	pins := allPins(a.conv, a.preset, decant.PinsIn(a.inForce))
	if len(pins) > 0 {
		_, cp.Pins = pinnedText(a.conv.With(covered), pins)
	}
	var images int
	cp.Carried, images = pictures(covered, newestOf(a.conv.Messages[:end]), pins, a.est, target/2)
	text := a.foldable(to, stay)
	for _, keep := range foldCuts {
		cp.Summary = strings.Join([]string{foldBegin, a.recorded(shortened(text, keep, pins)), foldEnd}, "\n\n")
		if cp.Compressed = a.est.Count(cp.Summary) + images; cp.Compressed <= target {
			break
		}
	}
	return decant.Decision{
		Kind: decant.Cover, Reduction: "fold", Reason: "everything as one message: " + a.whyFold(),
		Handle: decant.Handle(fmt.Sprintf("c:%d", cp.Number)), Before: cp.Original, After: cp.Compressed, Checkpoint: cp,
	}
}

// foldable returns the messages of the view up to a number that go into a fold as text: of what Decant wrote the
// record only, and not what joins it to its neighbours.
func (a *attempt) foldable(to int, stay map[int]bool) (out []decant.Message) {
	record := ""
	if cp := decant.CheckpointIn(slices.Concat(a.inForce, a.made)); cp != nil {
		record = cp.Summary
	}
	for i := range a.view.Messages {
		m := &a.view.Messages[i]
		if m.Number > to || stay[m.Number] || m.Number == 0 && m.Blocks[0].Text() != record {
			continue
		}
		out = append(out, *m)
	}
	return out
}

// whyFold says for people why nothing else than a fold would do.
func (a *attempt) whyFold() string {
	size := fmt.Sprintf("%d tokens do not fit a window of %d with room for an answer", a.report.Before, a.limits.Window)
	switch open := openRound(a.conv); {
	case a.must == Refusal && open:
		return "the provider refused the thinking, and a round is open"
	case a.must == Refusal:
		return "the provider refused the thinking"
	case a.must == Overflow:
		return "the provider refused the request for its size, and no other form was small enough"
	case a.bytes() > a.most:
		return fmt.Sprintf("%d bytes are more than the API takes", a.bytes())
	case open && a.bound():
		return size + "; a round is open, and its thinking is bound to what stands before it"
	}
	return size + ", and no other form was small enough"
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

// unfolded returns the record in a message that Decant wrote: a fold's without the lines around it, a
// checkpoint's as it is.
func unfolded(m *decant.Message) (string, bool) {
	if m.Number != 0 || len(m.Blocks) == 0 || m.Blocks[0].Author != decant.AuthorDecant || m.Role != decant.RoleUser {
		return "", false
	}
	text := m.Blocks[0].Text()
	if inner, ok := strings.CutPrefix(text, foldBegin); ok {
		text, _ = strings.CutSuffix(inner, foldEnd)
	}
	return text, true
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
