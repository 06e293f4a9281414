package wire

import (
	"slices"

	"github.com/decantdev/decant"
)

// adoptMarker keeps a cache marker that would be lost with a block that the view leaves out: the
// newest such marker goes to the last block of the first message that Decant wrote, or to the block
// that it added to one of the client's. So there are never more markers than there were.
//
// A marker that lives for an hour may not come after one that lives for five minutes
// (docs/reference/anthropic.md, "The prompt cache"), so one that would break that order is left out.
func (r *renderer) adoptMarker() {
	if !r.added() {
		return
	}
	lost := r.lostMarker()
	if lost == "" {
		return
	}
	for i := range r.view.Messages {
		m := &r.view.Messages[i]
		k := lastAdded(m)
		if k < 0 {
			continue
		}
		if m.Blocks[k].Cache == "" && (lost == "1h" || !r.hourAfter(i)) {
			r.mark(i, k, lost)
		}
		return
	}
}

// added reports whether there is a block in the view that could take a marker over.
func (r *renderer) added() bool {
	return slices.ContainsFunc(r.view.Messages, func(m decant.Message) bool { return lastAdded(&m) >= 0 })
}

// lostMarker returns the lifetime of the newest marker whose block is not in the view, "" for none.
func (r *renderer) lostMarker() string {
	kept := map[decant.Ref]bool{}
	for i := range r.view.Messages {
		for k := range r.view.Messages[i].Blocks {
			kept[r.view.Messages[i].Blocks[k].Ref] = true
		}
	}
	for i := len(r.conv.Messages) - 1; i >= 0; i-- {
		bs := r.conv.Messages[i].Blocks
		for k := len(bs) - 1; k >= 0; k-- {
			if life := bs[k].Marker(); life != "" && !kept[bs[k].Ref] {
				return life
			}
		}
	}
	return ""
}

// lastAdded returns the index of the last text block of m that Decant wrote, -1 when there is none.
func lastAdded(m *decant.Message) int {
	for k := len(m.Blocks) - 1; k >= 0; k-- {
		if b := &m.Blocks[k]; b.Ref.Message == 0 && b.Kind == decant.KindText {
			return k
		}
	}
	return -1
}

// hourAfter reports whether a marker that lives for an hour stands behind the view's message i.
func (r *renderer) hourAfter(i int) bool {
	for _, m := range r.view.Messages[i:] {
		if slices.ContainsFunc(m.Blocks, func(b decant.Block) bool { return b.Cache == "1h" || slices.Contains(b.Inside, "1h") }) {
			return true
		}
	}
	return r.view.Cache == "1h"
}

// mark sets the marker of one block in a copy of the view.
func (r *renderer) mark(i, k int, ttl string) {
	ms := slices.Clone(r.view.Messages)
	ms[i].Blocks = slices.Clone(ms[i].Blocks)
	ms[i].Blocks[k].Cache = ttl
	r.view = r.view.With(ms)
}
