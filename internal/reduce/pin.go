package reduce

import (
	"slices"

	"github.com/decantdev/decant"
)

// Pins returns the calls and results of every round in which a tool was called whose name matches one
// of the patterns, each with the hash of its text: what Options.Pinned leaves alone. It is nil when
// there are none.
func Pins(ms []decant.Message, patterns []string) map[decant.Ref]decant.Hash {
	if len(patterns) == 0 {
		return nil
	}
	var out map[decant.Ref]decant.Hash
	pins := func(b decant.Block) bool { return calls(&b, patterns) }
	for _, r := range decant.Rounds(ms) {
		round := ms[r.Start:r.End]
		if !slices.ContainsFunc(round, func(m decant.Message) bool { return slices.ContainsFunc(m.Blocks, pins) }) {
			continue
		}
		if out == nil {
			out = map[decant.Ref]decant.Hash{}
		}
		for i := range round {
			pin(out, round[i].Blocks)
		}
	}
	return out
}

// pin adds the calls and results among bs.
func pin(to map[decant.Ref]decant.Hash, bs []decant.Block) {
	for i := range bs {
		if b := &bs[i]; b.Kind == decant.KindUse || b.Kind == decant.KindResult {
			to[b.Ref] = b.Hash()
		}
	}
}

// calls reports whether a block calls a tool whose name matches one of the patterns.
func calls(b *decant.Block, patterns []string) bool {
	return b.Kind == decant.KindUse && matchAny(patterns, b.Name)
}
