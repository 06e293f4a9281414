package replay

import (
	"strconv"
	"strings"

	"github.com/decantdev/decant"
)

// Bounds of the provider's cache (anthropic-wire section 12).
const lookBack = 20

// A boundary is where the gateway puts a cache marker of its own, beside the three that the recorded
// agents are taken to set: the indexes of two blocks of a view, -1 for none. The rule is the engine's.
type boundary struct {
	kept    int // before everything that the newest pour changed: the provider has it already
	settled int // the last that it changed: the next one begins behind it
}

var nowhere = boundary{-1, -1}

// at returns the block to mark in a view of so many blocks.
func (b boundary) at(blocks int) int {
	if b.settled >= 0 && (b.kept < 0 || blocks-b.settled > lookBack) {
		return b.settled
	}
	return b.kept
}

// boundaryOf returns the boundary of the newest pour, whose decisions are ds, in a view.
func boundaryOf(view []decant.Message, pour int, ds []decant.Decision) boundary {
	first := earliest(ds)
	b, i, was, newest := nowhere, -1, -1, 0 // was is the last block that the newest pour before changed
	unchanged, can := true, -1              // can is the last block that may carry a marker
	for m := range view {
		for k := range view[m].Blocks {
			i++
			block := &view[m].Blocks[k]
			by := pourOf(block.Changed)
			if by == pour || block.Ref.Message > 0 && !first.After(block.Ref) {
				unchanged = false
			}
			if markable(&view[m], block) {
				can = i
			}
			switch {
			case by == pour:
				b.settled = can
			case by > 0 && by >= newest:
				newest, was = by, can
			}
			if unchanged {
				b.kept = can
			}
		}
	}
	if was >= 0 {
		b.kept = min(b.kept, was)
	}
	return b
}

// earliest returns the first place that decisions change.
func earliest(ds []decant.Decision) decant.Ref {
	var first decant.Ref
	for i := range ds {
		at := ds[i].Target.Ref
		if cp := ds[i].Checkpoint; cp != nil {
			at = decant.Ref{Message: cp.From}
		}
		if i == 0 || first.After(at) {
			first = at
		}
	}
	return first
}

// markable reports whether a block may carry a marker.
func markable(m *decant.Message, b *decant.Block) bool {
	switch {
	case m.Role == decant.RoleSystem:
		return false
	case b.Kind == decant.KindUse, b.Kind == decant.KindResult:
		return true
	}
	return b.Kind == decant.KindText && b.Content != nil && b.Content.Size() > 0
}

// pourID returns the id of the n-th decision of a session, made by a pour; 0: by none.
func pourID(pour, n int) string { return strconv.Itoa(pour) + "." + strconv.Itoa(n) }

// pourOf returns the pour that made a decision, 0 for none.
func pourOf(id string) int {
	number, _, _ := strings.Cut(id, ".")
	n, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	return n
}
