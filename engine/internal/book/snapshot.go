package book

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/internal/cause"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/policy"
)

// A Snapshot is how a request stood to its conversation when it was sent, as far as what it cost depends on
// that: by the time its answer is booked, others may have moved the conversation on. Amounts are estimates without
// calibration.
type Snapshot struct {
	Prompt    cost.Prompt // as the client sent it
	Alike     int         // tokens from the beginning that are sent as the client sent them
	Lacks     int         // tokens of it that are not sent
	Cut       int         // of them, those that nothing has left out before
	Decisions int         // of the conversation before it
	Grows     bool        // it has all of the conversation as the client sent it before
	Pause     time.Duration
	Life      time.Duration // that the markers behind its messages ask for, 0: there is none
	Changed   bool          // it names another model or another fixed part than the request before
	Cold      bool          // it was taken to find nothing in the cache for that
	Kept      bool          // what it found there would have expired, had no call of ours kept it warm
	Sent      Sent          // as it is sent
}

// Sent is what a request leaves in the cache, and how it differs from what it should find there.
type Sent struct {
	cause.Prompt
	Ends   []int  // blocks of the messages up to each marker, the last first
	Edited string // the first block that the client has changed, "m12, block 2"; empty: it has not
}

// Marks returns the cache markers of the client's prompt.
func (s *Snapshot) Marks() []cost.Mark { return s.Prompt.Marks }

// snapshotOf returns the snapshot of a request that is decided about and not committed yet.
func snapshotOf(dr *plan.Draft) *Snapshot {
	in, m := dr.Input, dr.Match
	s := &Snapshot{Lacks: policy.LeftOut(dr.InForce, dr.Made), Changed: in.Switched(), Pause: dr.Idle(), Grows: m.Relation == match.Continues || m.Relation == match.Returns}
	s.Cut = s.Lacks - policy.LeftOut(dr.InForce)
	s.Cold = s.Changed && dr.Meter.Belief.Moves()
	if m.State != nil {
		s.Decisions = len(m.State.Decisions)
	}
	if marks := cost.MessageMarks(in.Conv); len(marks) > 0 {
		s.Life = cost.LifeOf(marks[0].Life)
		s.Kept = dr.KeptWarm(s.Life)
	}
	w := walk{dr: dr, see: s}
	w.edited = w.firstEdited()
	w.fixedMarks()
	w.messages()
	s.sent(dr)
	return s
}

// firstEdited returns the first block that the view has otherwise than the client, Message 0 when there is
// none.
func (w *walk) firstEdited() (first decant.Ref) {
	for _, ds := range [][]decant.Decision{w.dr.InForce, w.dr.Made} {
		for i := range ds {
			d := &ds[i]
			at := d.Target.Ref
			switch {
			case d.Checkpoint != nil:
				at = decant.Ref{Message: d.Checkpoint.From}
			case !d.Kind.Edits():
				continue
			}
			if first.Message == 0 || first.After(at) {
				first = at
			}
		}
	}
	return first
}

// A walk goes over a client's prompt and notes in a snapshot how many tokens stand before what matters.
type walk struct {
	dr     *plan.Draft
	see    *Snapshot
	edited decant.Ref // first block that was changed, Message 0: none
	before int        // tokens before the present block
}

func (w *walk) mark(end int, life string) {
	if life != "" {
		w.see.Prompt.Marks = append(w.see.Prompt.Marks, cost.Mark{End: end, Life: int(cost.LifeOf(life) / time.Second)})
	}
}

// fixedMarks notes the markers on tools and system prompt. How their tokens are divided follows from their
// bytes.
func (w *walk) fixedMarks() {
	in := w.dr.Input
	f := &in.Conv.Fixed
	w.see.Prompt.Fixed = in.Fixed
	whole, sum := 0, 0
	for i := range f.Tools {
		whole += size(f.Tools[i].Schema)
	}
	for i := range f.System {
		whole += size(f.System[i].Content)
	}
	upTo := func(c decant.Content) int {
		sum += size(c)
		return int(float64(in.Fixed) * float64(sum) / float64(max(1, whole)))
	}
	for i := range f.Tools {
		w.mark(upTo(f.Tools[i].Schema), f.Tools[i].Cache)
	}
	for i := range f.System {
		w.mark(upTo(f.System[i].Content), f.System[i].Cache)
	}
}

func size(c decant.Content) int {
	if c == nil {
		return 0
	}
	return c.Size()
}

// messages notes what matters in the messages.
func (w *walk) messages() {
	in := w.dr.Input
	p := &w.see.Prompt
	p.Same, w.see.Alike, w.before = math.MaxInt, math.MaxInt, in.Fixed
	spine := 0
	for i := range in.Prompt.Blocks {
		at := &in.Prompt.Blocks[i]
		if at.Ref.Block == 0 {
			w.before += plan.MessageFrame
		}
		if w.edited.Message > 0 && !w.edited.After(w.numbered(at)) {
			w.see.Alike = min(w.see.Alike, w.before)
		}
		entry := -1
		if at.Kind != decant.KindThinking {
			entry = in.Match.Entries[spine]
			spine++
			if !w.see.Grows && (entry < 0 || entry >= in.Match.Kept) {
				w.differs(at)
			}
		}
		w.before += w.counted(i, entry)
		for _, life := range at.Inside {
			w.mark(w.before, life)
		}
		w.mark(w.before, at.Cache)
	}
	p.Tokens = w.before
	w.mark(p.Tokens, in.Conv.Cache)
}

// numbered returns the transcript reference of a block.
func (w *walk) numbered(at *match.Block) decant.Ref {
	return w.dr.Conv.Messages[at.Message].Blocks[at.Ref.Block].Ref
}

// counted returns the tokens of the i-th block: as counted, or as stored with its entry in the chain, so
// that what is known is not counted again.
func (w *walk) counted(i, entry int) int {
	in, m := w.dr.Input, w.dr.Match
	if n, ok := in.Prompt.Counted(i, in.Estimator); ok {
		return n
	}
	if entry >= 0 && m.State != nil && entry < len(m.State.Chain) {
		return m.State.Chain[entry].Tokens
	}
	return in.Prompt.Tokens(i, in.Estimator)
}

// Scaled returns a prompt of the given size, of which estimates say how it is divided.
func (s *Snapshot) Scaled(tokens, least int, unasked bool) cost.Prompt {
	p := s.Prompt
	scaled := func(n int) int {
		return min(tokens, int(math.Round(float64(n)*float64(tokens)/float64(max(1, s.Prompt.Tokens)))))
	}
	p.Tokens, p.Fixed, p.Least, p.Unasked = tokens, scaled(p.Fixed), least, unasked && s.Life == 0
	if p.Same < s.Prompt.Tokens {
		p.Same = scaled(p.Same)
	}
	p.Marks = slices.Clone(p.Marks)
	for i := range p.Marks {
		p.Marks[i].End = scaled(p.Marks[i].End)
	}
	return p
}

// sent notes what the request leaves in the cache, and what it should find there.
func (s *Snapshot) sent(dr *plan.Draft) {
	in := dr.Input
	s.Sent.Prompt = cause.Prompt{At: in.Begun, Model: in.Model.ID, Fixed: in.Conv.Fixed.Version}
	if before := dr.Meter.Newest.Sent; before != nil && before.Fixed == s.Sent.Fixed {
		s.Sent.Tools = before.Tools
	} else {
		s.Sent.Tools = toolsOf(&in.Conv.Fixed)
	}
	blocks := 0
	for i := range dr.View.Messages {
		blocks += len(dr.View.Messages[i].Blocks)
	}
	for _, m := range cost.MessageMarks(dr.View) {
		s.Sent.Ends = append(s.Sent.Ends, blocks-m.Behind)
		s.Sent.Life = max(s.Sent.Life, int(cost.LifeOf(m.Life)/time.Second))
	}
	if len(s.Sent.Ends) > 0 {
		s.Sent.Prompt.Marked = s.Sent.Ends[0]
	}
}

// toolsOf returns the identity of the tools of a request.
func toolsOf(f *decant.Fixed) decant.Hash {
	var all strings.Builder
	for i := range f.Tools {
		all.WriteString(f.Tools[i].Name)
		if f.Tools[i].Schema != nil {
			all.WriteString(f.Tools[i].Schema.Text())
		}
	}
	return decant.HashText(all.String())
}

// differs notes that the client sends a block that it has not sent before.
func (w *walk) differs(at *match.Block) {
	p := &w.see.Prompt
	if p.Same == math.MaxInt {
		w.see.Sent.Edited = fmt.Sprintf("m%d, block %d", at.Message+1, at.Ref.Block+1)
	}
	p.Same = min(p.Same, w.before)
}

// Step returns how the request stands to the one that was answered before, for the cause of what it wrote.
func (s *Snapshot) Step(before *cause.Prompt, u decant.Usage) *cause.Step {
	out := &cause.Step{Now: s.Sent.Prompt}
	out.Now.Usage = u
	if before == nil {
		return out
	}
	if !s.Grows {
		out.Edit = s.Sent.Edited
	}
	for _, end := range s.Sent.Ends {
		if n := end - before.Marked + 1; n > 0 && (out.Behind == 0 || n < out.Behind) {
			out.Behind = n
		}
	}
	return out
}
