package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

const (
	foldBegin = "[Record of the conversation so far, made to fit the window. It is a record and not the user's words, except where it says user; m1, m2, ... are the numbers of its messages.]"
	foldEnd   = "[End of the record. The work goes on from here.]"
)

// A Folding is the input of a fold: a conversation, its view under decisions that need no fold, and these
// decisions.
type Folding struct {
	Transcript *decant.Conversation
	View       *decant.Conversation
	// in force and of the same pour; the fold includes the record of the newest checkpoint among them
	Made   []decant.Decision
	Proved *decant.Checkpoint // of the same pour, nil: nothing was proved

	Estimator *token.Estimator
	Preset    *preset.Preset
	Pinned    map[decant.Ref]decant.Hash
	Target    int    // tokens
	Why       string // for people
	Refused   Scope  // the part to fold after the provider refused thinking; otherwise everything
}

// A Scope is the part of a conversation to fold if size is not the reason. The fold then keeps all pictures,
// and the user's earlier words stay verbatim.
type Scope uint8

// The scopes.
const (
	Everything  Scope = iota // whatever the window or the API asks for
	Turn                     // the turn under way: what is before it needs no thinking
	EveryAnswer              // from the first answer on
)

// Fold returns the checkpoint that turns everything the model has seen into one user message: the text of the
// view, within the target if results and arguments can be cut that far. The user's unanswered words stay a
// separate message. It returns false if there is nothing else.
func Fold(f Folding) (decant.Decision, bool) {
	ms := f.span()
	if len(ms) == 0 {
		return decant.Decision{}, false
	}
	stay := standing(ms)
	covered, kept := apart(ms, stay)
	cp := &decant.Checkpoint{
		From: ms[0].Number, To: ms[len(ms)-1].Number, Messages: len(covered), Kept: kept,
		Placement: decant.PlaceMessage, Rung: decant.RungExtractive, Score: 1, Share: 1, Original: f.Estimator.Messages(covered),
	}
	if p := f.Proved; p != nil {
		cp.Facts, cp.Score, cp.Share, cp.Rung = p.Facts, p.Score, p.Share, p.Rung
	}
	pins := AllPins(f.Transcript, f.Preset, f.Pinned)
	if len(pins) > 0 {
		_, cp.Pins = pinnedText(f.Transcript.With(covered), pins)
	}
	text := f.text(cp, stay)
	var images int
	cp.Carried, images = pictures(covered, f.illustrated(ms), pins, f.Estimator, f.room())
	cp.Lost = lost(text, cp.Carried)
	for _, keep := range foldCuts {
		cp.Summary = strings.Join(slices.DeleteFunc([]string{foldBegin, recorded(f.View, shortened(text, keep, pins)), unseen(cp.Lost), foldEnd},
			func(s string) bool { return s == "" }), "\n\n")
		if cp.Compressed = f.Estimator.Count(cp.Summary) + images; cp.Compressed <= f.Target {
			break
		}
	}
	return decant.Decision{
		Kind: decant.Cover, Reduction: decant.ReductionFold, Reason: "everything as one message: " + f.Why,
		Before: cp.Original, After: cp.Compressed, Checkpoint: cp,
	}, true
}

// span returns the messages that the fold covers.
func (f *Folding) span() []decant.Message {
	ms := f.Transcript.Messages
	for len(ms) > 0 && unanswered(&ms[len(ms)-1]) {
		ms = ms[:len(ms)-1]
	}
	start, answered := 0, false
	for i := 0; i < len(ms) && f.Refused != Everything; i++ {
		switch m := &ms[i]; {
		case m.Role == decant.RoleAssistant && !answered:
			start, answered = i, true
		case f.Refused == Turn && m.UserWords() && !m.Has(decant.KindResult):
			answered = false
		}
	}
	if cp := decant.CheckpointIn(f.Made); cp != nil { // what it covers must not come back
		start = min(start, f.Transcript.Index(cp.From))
	}
	return ms[max(0, start):]
}

// illustrated returns the numbers of the messages whose pictures are kept.
func (f *Folding) illustrated(ms []decant.Message) map[int]bool {
	if f.Refused == Everything {
		return newestOf(ms)
	}
	all := map[int]bool{}
	for i := range ms {
		all[ms[i].Number] = true
	}
	return all
}

// room returns how many tokens pictures may take.
func (f *Folding) room() int {
	if f.Refused == Everything {
		return f.Target / 2
	}
	return f.Target
}

// lost counts the images and documents that are not carried along.
func lost(ms []decant.Message, carried []decant.Ref) (n int) {
	for i := range ms {
		for k := range ms[i].Blocks {
			if b := &ms[i].Blocks[k]; b.Ref.Message > 0 && !slices.Contains(carried, b.Ref) {
				n += b.Media.Count
			}
		}
	}
	return n
}

// unseen returns the note about omitted images and documents, or "".
func unseen(lost int) string {
	if lost == 0 {
		return ""
	}
	return fmt.Sprintf("[Images and documents of these messages that are left out here: %d.]", lost)
}

// text returns the messages of the view that become the text of a fold. Of Decant's own messages it takes the
// record only, without the joints to its neighbours.
func (f *Folding) text(of *decant.Checkpoint, stay map[int]bool) (out []decant.Message) {
	record := ""
	if cp := decant.CheckpointIn(f.Made); cp != nil {
		record = cp.Summary
	}
	for i := range f.View.Messages {
		m := &f.View.Messages[i]
		if m.Number > of.To || m.Number > 0 && m.Number < of.From || stay[m.Number] ||
			m.Number == 0 && m.Blocks[0].Text() != record {
			continue
		}
		out = append(out, *m)
	}
	return out
}

// recorded returns messages of a view as text. The record of an earlier fold becomes part of the new one,
// without the lines around it.
func recorded(view *decant.Conversation, ms []decant.Message) string {
	var parts []string
	from := 0
	for i := range ms {
		inner, ok := unfolded(&ms[i])
		if !ok {
			continue
		}
		parts = append(parts, wire.Text(view.With(ms[from:i])), inner)
		from = i + 1
	}
	parts = append(parts, wire.Text(view.With(ms[from:])))
	parts = slices.DeleteFunc(parts, func(s string) bool { return strings.TrimSpace(s) == "" })
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return strings.Join(parts, "\n\n")
}

// unanswered reports whether m follows the last round: it is not the assistant's and has no result.
func unanswered(m *decant.Message) bool {
	return m.Role != decant.RoleAssistant && !m.Has(decant.KindResult)
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

// foldCuts are the characters that a fold keeps of each end of a result or of a call's arguments, as many as
// the target allows. 0 keeps everything.
var foldCuts = [...]int{0, 4000, 1500, 500, 150}

// shortened returns ms with long results and arguments cut to their ends, those of the server's tools among
// them, keep characters each and whole lines where there are lines. Pinned blocks stay whole.
func shortened(ms []decant.Message, keep int, pins map[decant.Ref]decant.Hash) []decant.Message {
	if keep == 0 {
		return ms
	}
	out := slices.Clone(ms)
	for i := range out {
		out[i].Blocks = slices.Clone(out[i].Blocks)
		for k := range out[i].Blocks {
			b := &out[i].Blocks[k]
			switch _, pinned := pins[b.Ref]; {
			case pinned, b.Content == nil,
				b.Kind != decant.KindResult && b.Kind != decant.KindUse && b.Kind != decant.KindOpaque:
				continue
			}
			if t := b.Text(); len(t) > 2*keep+100 {
				b.Content = decant.Text(ends(t, keep))
			}
		}
	}
	return out
}

// ends returns the two ends of a text with a note about the size of the gap.
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
