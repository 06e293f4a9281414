package match

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/store"
)

// Applicable returns the decisions in force that concern the request at its place: edits of blocks
// that it has, with the content that was decided about, and the newest checkpoint if the request has
// its range. What concerns a replaced tail or another branch is left out. more are decisions that will be
// committed after those of the conversation. The result is not to be changed.
func (p *Match) Applicable(n *archive.References, more []decant.Decision) []decant.Decision {
	if p.Stored == nil || len(p.State.Decisions)+len(more) == 0 {
		return nil
	}
	w := Presence{Conv: n.Conv, Unknown: p.FirstNew(n)}
	if p.Relation == Continues && n.Same && len(more) == 0 {
		if ds := p.Stored.confirmed(p.State); n.Fits && w.Covers(coverIn(ds)) && !dropsThinking(ds) {
			return ds
		}
	}
	ds := slices.Concat(p.State.Decisions, more)
	if p.Relation == Forks || p.Relation == Returns {
		ds = slices.Concat(p.AtBranch(), p.Arrived())
	}
	if n.Fits {
		w.texts = p.texts()
	}
	return w.apply(decant.InForce(ds), n.Fits)
}

// apply returns those of the live decisions ds that the witness confirms, with one checkpoint: the newest
// as far as the request has its range.
func (w *Presence) apply(ds []decant.Decision, fits bool) []decant.Decision {
	cover := -1
	var out []decant.Decision
	for _, d := range ds {
		switch {
		case d.Kind == decant.Cover:
			cp := w.narrow(d.Checkpoint)
			if !fits || cp == nil {
				continue
			}
			d.Checkpoint = cp
			if cover >= 0 {
				out[cover] = d
				continue
			}
			cover = len(out)
		case (d.Kind.Edits() || d.Kind == decant.Insert) && !w.Confirms(&d.Target):
			continue
		}
		out = append(out, d)
	}
	return withRecords(out)
}

// coverIn returns the checkpoint among decisions that the witness has let pass.
func coverIn(ds []decant.Decision) *decant.Checkpoint {
	for i := range ds {
		if ds[i].Kind == decant.Cover {
			return ds[i].Checkpoint
		}
	}
	return nil
}

// Covers reports whether the request has the whole range of a checkpoint, or there is none.
func (w *Presence) Covers(cp *decant.Checkpoint) bool { return cp == nil || w.narrow(cp) == cp }

// confirmed returns the decisions in force for a request that has all of state. Of one state they are
// found out once: the next requests have what this one has.
func (l *Stored) confirmed(state *store.State) []decant.Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state != state {
		return confirmed(state)
	}
	if !l.vouched {
		l.inForce, l.vouched = confirmed(state), true
	}
	return l.inForce
}

func confirmed(s *store.State) []decant.Decision {
	w := Presence{texts: make(map[decant.Ref]decant.Hash, len(s.Chain)), whole: true}
	for i := range s.Chain {
		w.texts[s.Chain[i].Ref] = s.Chain[i].Text
	}
	return slices.Clip(w.apply(decant.InForce(s.Decisions), true))
}

// dropsThinking reports whether one of ds is about thinking, which is no part of the chain: whether a
// request has the thinking that was decided about has to be looked at.
func dropsThinking(ds []decant.Decision) bool {
	return slices.ContainsFunc(ds, func(d decant.Decision) bool { return d.Kind == decant.DropThinking })
}

// A Presence knows what is in a request: from the store for blocks that are known, else by looking.
type Presence struct {
	texts   map[decant.Ref]decant.Hash
	Conv    *decant.Conversation
	Unknown int  // number of the first message that holds something new
	whole   bool // it knows all that there is, and no request
}

// Confirms reports whether the block that t names is in the request as it was.
func (w *Presence) Confirms(t *decant.Target) bool {
	if h, ok := w.texts[t.Ref]; ok {
		return h == t.Hash || h.IsZero() && t.Hash == decant.HashText("")
	}
	if w.whole {
		return false
	}
	b := w.Conv.Block(t.Ref)
	return b != nil && b.Hash() == t.Hash
}

// narrow returns a checkpoint whose range is the part of cp's that the request still has; nil when
// the request has something new in it.
func (w *Presence) narrow(cp *decant.Checkpoint) *decant.Checkpoint {
	if w.whole {
		return cp
	}
	if cp.To >= w.Unknown {
		return nil
	}
	if w.Conv.Message(cp.From) != nil && w.Conv.Message(cp.To) != nil {
		return cp
	}
	out := *cp
	out.From = 0
	for i := range w.Conv.Messages {
		switch n := w.Conv.Messages[i].Number; {
		case n < cp.From || n > cp.To:
		case out.From == 0:
			out.From, out.To = n, n
		default:
			out.To = n
		}
	}
	if out.From == 0 {
		return nil
	}
	return &out
}

// withRecords returns decisions that are to be replayed without the clearings whose record is not among them:
// nobody would know what was cleared. A fork has a clearing that was made behind its branch point so.
func withRecords(ds []decant.Decision) []decant.Decision {
	recorded := map[string]bool{} // by pour
	for i := range ds {
		if ds[i].Kind == decant.Insert {
			recorded[ds[i].Pour] = true
		}
	}
	return slices.DeleteFunc(ds, func(d decant.Decision) bool { return d.Kind == decant.Native && !recorded[d.Pour] })
}

// OnHold reports whether pours have been put off until somebody releases the conversation. Of a request that leaves it,
// the decisions in force tell.
func (p *Match) OnHold(inForce []decant.Decision) bool {
	if p.Relation != Forks && p.Relation != Returns {
		return p.State != nil && p.State.Head.Hold
	}
	return slices.ContainsFunc(inForce, func(d decant.Decision) bool { return d.Kind == decant.Hold })
}
