package policy

import (
	"cmp"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/wire"
)

// putBack takes back the costliest reductions that only the target demanded, as far as the originals fit, so
// that more room never keeps less. In a live conversation the next messages need that room, so nothing is put
// back.
func (p *planner) putBack() error {
	room := p.opts.Target - p.sizes.total()
	if p.opts.Quick || p.opts.Trigger > 0 || !p.due || room <= 0 {
		return nil
	}
	lost, err := p.lost(room)
	if err != nil {
		return err
	}
	slices.SortStableFunc(lost, func(a, b loss) int {
		return cmp.Compare(b.weight*float64(a.cost), a.weight*float64(b.cost))
	})
	back := map[decant.Ref]bool{}
	for _, l := range lost {
		if l.cost <= room {
			room -= l.cost
			back[l.target] = true
		}
	}
	p.takeBack(back)
	return nil
}

// A loss is a reduction that took facts out of view.
type loss struct {
	target decant.Ref
	weight float64 // of the must-keep facts that are in view nowhere else
	cost   int     // additional tokens of the original
}

// lost returns this plan's reductions that took must-keep facts out of view and whose originals need at most
// room more tokens.
func (p *planner) lost(room int) ([]loss, error) {
	view, err := p.current()
	if err != nil {
		return nil, err
	}
	missing := map[string]float64{}
	for _, f := range fact.Check(p.ctx, p.evidence.mustKeep(p.ctx), wire.Text(view)).Missing {
		missing[f.Text] = f.Weight
	}
	var out []loss
	for _, d := range p.edits.list {
		cost := d.Before - d.After
		if d.Kind != decant.Stub && d.Kind != decant.Shrink || cost > room || demanded(p.opts.Preset, d.Reduction) {
			continue
		}
		text := p.conv.Messages[p.edits.index(d.Target.Message)].Blocks[d.Target.Block].Text()
		if w := weightIn(text, missing); w > 0 {
			out = append(out, loss{target: d.Target.Ref, cost: max(1, cost), weight: w})
		}
	}
	return out, p.ctx.Err()
}

// weightIn returns the weight of the facts in a text.
func weightIn(text string, facts map[string]float64) (sum float64) {
	seen := map[string]bool{}
	for _, s := range fact.Scan(nil, text) {
		if t := text[s.Start:s.End]; !seen[t] {
			seen[t] = true
			sum += facts[t]
		}
	}
	return sum
}

// demanded reports whether the preset makes a reduction regardless of the target.
func demanded(set *preset.Preset, reduction decant.Reduction) bool {
	return slices.Contains(set.Reduce.Always, reduction) ||
		set.Tools.Cap > 0 && (reduction == decant.ReductionTrim || reduction == decant.ReductionFirstSight)
}

// takeBack restores blocks.
func (p *planner) takeBack(back map[decant.Ref]bool) {
	p.edits.keep(func(d *decant.Decision) bool {
		if !back[d.Target.Ref] {
			return true
		}
		p.sizes.view[p.edits.index(d.Target.Message)] += d.Before - d.After
		return false
	})
}
