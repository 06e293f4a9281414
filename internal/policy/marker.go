package policy

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
)

// The provider finds what it has kept of a prompt by looking back from the request's cache markers, at most
// 20 blocks from each (docs/reference/anthropic.md, "The prompt cache"), and clients put theirs on the system
// prompt and on what is newest. So of a pour's request nothing between the system prompt and the first change
// would be read without a marker there. If the client leaves one of its four, Decant places it:
//
//   - in the request of a pour, and while little has come after it, where the pour before ended: that
//     is what the provider has kept and what this pour left alone;
//   - afterwards at the last block that the pour changed, so that it is kept until the next pour.
//
// Where the marker goes follows from the request and the decisions alone, so it is the same on every node.
// Neither the prefix that the provider recognises nor the binding of thinking includes markers.

// MarkView returns what is sent of a view with Decant's own markers. It is sent itself when no pour is among
// the decisions ds, when the request asks for no cache at its end, or when it leaves no marker.
func MarkView(sent, view, request *decant.Conversation, ds []decant.Decision) *decant.Conversation {
	p := newestPour(decant.InForce(ds))
	if p == nil {
		return sent
	}
	free, ends := cost.FreeMarkers(request)
	if free <= 0 || !ends {
		return sent
	}
	l := layOut(view, ds) // which has the blocks of what is sent
	for _, at := range l.boundary(p).Marks(len(l.block), free) {
		sent = l.mark(sent, at, l.markerLife(at))
	}
	return sent
}

// A rewrite is a pour in force: its id, and the first block that it changed.
type rewrite struct {
	pour  string
	first decant.Ref
}

// newestPour returns the newest pour among decisions, nil when there is none. Ids of pours rise with time;
// decisions may be in another order.
func newestPour(ds []decant.Decision) (out *rewrite) {
	for i := range ds {
		out = out.or(&ds[i])
	}
	return out
}

// or returns the newer of a pour and the one that a decision is part of.
func (p *rewrite) or(d *decant.Decision) *rewrite {
	if d.Pour == "" || !d.Kind.Edits() && d.Kind != decant.Cover {
		return p
	}
	at := d.Target.Ref
	if d.Checkpoint != nil {
		at = decant.Ref{Message: d.Checkpoint.From}
	}
	if p == nil || d.Pour > p.pour || d.Pour == p.pour && p.first.After(at) {
		return &rewrite{d.Pour, at}
	}
	return p
}

// A laid is a view as the blocks of a prompt.
type laid struct {
	view  *decant.Conversation
	at    []decant.Ref // index of message and block in the view
	block []*decant.Block
	pour  []string // that changed the block, empty for none
}

// layOut lays out a view that the decisions ds made.
func layOut(view *decant.Conversation, ds []decant.Decision) *laid {
	pours := make(map[string]string, len(ds)) // by decision
	for i := range ds {
		if ds[i].Pour != "" {
			pours[ds[i].ID] = ds[i].Pour
		}
	}
	n := 0
	for i := range view.Messages {
		n += len(view.Messages[i].Blocks)
	}
	l := &laid{view: view, at: make([]decant.Ref, 0, n), block: make([]*decant.Block, 0, n), pour: make([]string, 0, n)}
	for i := range view.Messages {
		for k := range view.Messages[i].Blocks {
			l.at = append(l.at, decant.Ref{Message: i, Block: k})
			b := &view.Messages[i].Blocks[k]
			l.block = append(l.block, b)
			by := ""
			if b.Changed != "" {
				by = pours[b.Changed]
			}
			l.pour = append(l.pour, by)
		}
	}
	return l
}

// last returns the index of the last block that a pour changed, or -1.
func (l *laid) last(pour string) int {
	for i := len(l.pour) - 1; pour != "" && i >= 0; i-- {
		if l.pour[i] == pour {
			return i
		}
	}
	return -1
}

// before returns the newest pour before another that has changed something in the view, "" for none.
func (l *laid) before(pour string) (out string) {
	for _, other := range l.pour {
		if other < pour {
			out = max(out, other)
		}
	}
	return out
}

// unchanged returns the index of the last block before everything that a pour changed, or -1.
func (l *laid) unchanged(p *rewrite) int {
	for i, b := range l.block {
		if l.pour[i] == p.pour || b.Ref.Message > 0 && !p.first.After(b.Ref) {
			return i - 1
		}
	}
	return len(l.block) - 1
}

// A Boundary has the places where Decant's own markers help, as indexes of blocks of a view; -1 means none.
type Boundary struct {
	Kept    int // the last block before everything that the newest pour changed: the provider has it already
	Settled int // the last one that it changed: the next pour begins behind it
}

// BoundaryOf returns the boundary of the newest pour among decisions in a view that they made; false when there is no
// pour.
func BoundaryOf(view *decant.Conversation, ds []decant.Decision) (Boundary, bool) {
	p := newestPour(decant.InForce(ds))
	if p == nil {
		return Boundary{-1, -1}, false
	}
	return layOut(view, ds).boundary(p), true
}

func (l *laid) boundary(p *rewrite) Boundary {
	settled, kept := l.last(p.pour), l.unchanged(p)
	if was := l.last(l.before(p.pour)); was >= 0 {
		kept = min(kept, was)
	}
	return Boundary{Kept: l.markable(kept), Settled: l.markable(settled)}
}

// Marks returns the indexes of the blocks to mark in a view of so many blocks, when a request leaves so many markers.
func (b Boundary) Marks(blocks, free int) []int {
	switch {
	case free <= 0 || b.Settled < 0 && b.Kept < 0:
		return nil
	case b.Settled < 0:
		return []int{b.Kept}
	case b.Kept < 0 || blocks-b.Settled > cost.LookBack:
		return []int{b.Settled}
	case free > 1:
		return []int{b.Kept, b.Settled}
	}
	return []int{b.Kept}
}

// markable returns the index of the last block at or before i that may carry a marker, or -1.
func (l *laid) markable(i int) int {
	for ; i >= 0; i-- {
		b := l.block[i]
		switch role := l.view.Messages[l.at[i].Message].Role; {
		case role != decant.RoleUser && role != decant.RoleAssistant:
		case b.Kind == decant.KindUse, b.Kind == decant.KindResult:
			return i
		case b.Kind == decant.KindText && b.Content != nil && b.Content.Size() > 0:
			return i
		}
	}
	return -1
}

// mark returns v with a marker on the i-th block.
func (l *laid) mark(v *decant.Conversation, i int, life string) *decant.Conversation {
	if l.block[i].Cache != "" || life == "" {
		return v
	}
	at := l.at[i]
	ms := append([]decant.Message(nil), v.Messages...)
	bs := append([]decant.Block(nil), ms[at.Message].Blocks...)
	bs[at.Block].Cache = life
	ms[at.Message].Blocks = bs
	return v.With(ms)
}

// markerLife returns how long an entry at the i-th block shall live: as long as the client's next
// marker says, because one of an hour may not come after one of five minutes.
func (l *laid) markerLife(i int) string {
	for _, b := range l.block[i+1:] {
		if len(b.Inside) > 0 {
			return b.Inside[0]
		}
		if b.Cache != "" {
			return b.Cache
		}
	}
	return l.view.Cache
}
