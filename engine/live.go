package engine

import (
	"math"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/refs"
	"github.com/decantdev/decant/store"
)

// applicable returns the decisions in force that concern the request at its place: edits of blocks
// that it has, with the content that was decided about, and the newest checkpoint if the request has
// its range. What concerns a replaced tail or another branch is left out. more are decisions that will be
// committed after those of the line. The result is not to be changed.
func applicable(p *place, n *refs.Map, more []decant.Decision) []decant.Decision {
	if p.line == nil || len(p.state.Decisions)+len(more) == 0 {
		return nil
	}
	w := witness{conv: n.Conv, unknown: p.firstNew(n)}
	if p.rel == continues && n.Same && len(more) == 0 {
		if ds := p.line.confirmed(p.state); n.Fits && w.covers(coverIn(ds)) && !dropsThinking(ds) {
			return ds
		}
	}
	ds := slices.Concat(p.state.Decisions, more)
	if p.rel == forks || p.rel == returns {
		ds = slices.Concat(p.atBranch(), p.arrived())
	}
	if n.Fits {
		w.texts = p.texts()
	}
	return w.apply(decant.InForce(ds), n.Fits)
}

// apply returns those of the live decisions ds that the witness confirms, with one checkpoint: the newest
// as far as the request has its range.
func (w *witness) apply(ds []decant.Decision, fits bool) []decant.Decision {
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
		case (d.Kind.Edits() || d.Kind == decant.Insert) && !w.confirms(&d.Target):
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

// covers reports whether the request has the whole range of a checkpoint, or there is none.
func (w *witness) covers(cp *decant.Checkpoint) bool { return cp == nil || w.narrow(cp) == cp }

// confirmed returns the decisions in force for a request that has all of state. Of one state they are
// found out once: the next requests have what this one has.
func (l *line) confirmed(state *store.State) []decant.Decision {
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
	w := witness{texts: make(map[decant.Ref]decant.Hash, len(s.Chain)), whole: true}
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

// shared returns how many entries from the beginning the request and the state have in common.
func (p *place) shared() int {
	n := 0
	for _, k := range p.to {
		if k != n && !(k > n && thinkingOnly(p.state.Chain[n:k])) {
			break
		}
		n = k + 1
	}
	return n
}

// firstNew returns the transcript number of the first message that holds a block which is not known.
func (p *place) firstNew(n *refs.Map) int {
	at := 0
	for i := range n.Conv.Messages {
		m := &n.Conv.Messages[i]
		for k := range m.Blocks {
			if m.Blocks[k].Kind == decant.KindThinking {
				continue
			}
			if p.to[at] < 0 {
				return m.Number
			}
			at++
		}
	}
	return math.MaxInt
}

func thinkingOnly(es []store.Entry) bool {
	for i := range es {
		if es[i].Kind != decant.KindThinking {
			return false
		}
	}
	return true
}

// texts returns the hash of the text of every entry that the request has.
func (p *place) texts() map[decant.Ref]decant.Hash {
	out := make(map[decant.Ref]decant.Hash, len(p.to))
	for _, k := range p.to {
		if k >= 0 {
			out[p.state.Chain[k].Ref] = p.state.Chain[k].Text
		}
	}
	return out
}

// A witness knows what is in a request: from the store for blocks that are known, else by looking.
type witness struct {
	texts   map[decant.Ref]decant.Hash
	conv    *decant.Conversation
	unknown int  // number of the first message that holds something new
	whole   bool // it knows all that there is, and no request
}

// confirms reports whether the block that t names is in the request as it was.
func (w *witness) confirms(t *decant.Target) bool {
	if h, ok := w.texts[t.Ref]; ok {
		return h == t.Hash || h.IsZero() && t.Hash == decant.HashText("")
	}
	if w.whole {
		return false
	}
	b := w.conv.Block(t.Ref)
	return b != nil && b.Hash() == t.Hash
}

// narrow returns a checkpoint whose range is the part of cp's that the request still has; nil when
// the request has something new in it.
func (w *witness) narrow(cp *decant.Checkpoint) *decant.Checkpoint {
	if w.whole {
		return cp
	}
	if cp.To >= w.unknown {
		return nil
	}
	if w.conv.Message(cp.From) != nil && w.conv.Message(cp.To) != nil {
		return cp
	}
	out := *cp
	out.From = 0
	for i := range w.conv.Messages {
		switch n := w.conv.Messages[i].Number; {
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
