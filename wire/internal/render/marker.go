package render

import (
	"slices"

	"github.com/decantdev/decant"
)

// adoptMarker returns the view with a cache marker that would be lost with a block that the view leaves out: the
// newest such marker goes to the last block of the first message that Decant wrote, or to the block
// that it added to one of the client's. So there are never more markers than there were.
//
// A marker that lives for an hour may not come after one that lives for five minutes
// (docs/reference/anthropic.md, "The prompt cache"), so one that would break that order is left out.
func adoptMarker(conv, view *decant.Conversation) *decant.Conversation {
	if !added(view) {
		return view
	}
	lost := lostMarker(conv, view)
	if lost == "" {
		return view
	}
	for i := range view.Messages {
		m := &view.Messages[i]
		k := lastAdded(m)
		if k < 0 {
			continue
		}
		if m.Blocks[k].Cache == "" && (lost == "1h" || !hourAfter(view, i)) {
			return mark(view, i, k, lost)
		}
		return view
	}
	return view
}

// added reports whether there is a block in the view that could take a marker over.
func added(view *decant.Conversation) bool {
	return slices.ContainsFunc(view.Messages, func(m decant.Message) bool { return lastAdded(&m) >= 0 })
}

// lostMarker returns the lifetime of the newest marker whose block is not in the view, "" for none.
func lostMarker(conv, view *decant.Conversation) string {
	kept := map[decant.Ref]bool{}
	for i := range view.Messages {
		for k := range view.Messages[i].Blocks {
			kept[view.Messages[i].Blocks[k].Ref] = true
		}
	}
	for i := len(conv.Messages) - 1; i >= 0; i-- {
		bs := conv.Messages[i].Blocks
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
func hourAfter(view *decant.Conversation, i int) bool {
	for _, m := range view.Messages[i:] {
		if slices.ContainsFunc(m.Blocks, func(b decant.Block) bool { return b.Cache == "1h" || slices.Contains(b.Inside, "1h") }) {
			return true
		}
	}
	return view.Cache == "1h"
}

// mark returns the view with a marker on one block.
func mark(view *decant.Conversation, i, k int, ttl string) *decant.Conversation {
	ms := slices.Clone(view.Messages)
	ms[i].Blocks = slices.Clone(ms[i].Blocks)
	ms[i].Blocks[k].Cache = ttl
	return view.With(ms)
}
