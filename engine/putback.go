package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/fact"
	"github.com/decantdev/decant/wire"
)

// putBack takes back the reductions that cost the reader the most and that the target alone demanded,
// as far as it has room left for their originals, so that more room never keeps less. Where the
// conversation goes on by itself, the room is what the next messages need.
func (p *planner) putBack() error {
	room := p.Target - p.size()
	if p.Trigger > 0 || !p.due || room <= 0 {
		return nil
	}
	lost, err := p.lost(room)
	if err != nil {
		return err
	}
	slices.SortStableFunc(lost, func(a, b loss) int {
		return cmp.Compare(b.weight*float64(a.cost), a.weight*float64(b.cost))
	})
	for _, l := range lost {
		if l.cost <= room {
			room -= l.cost
			p.takeBack(l.target)
		}
	}
	return nil
}

// loss is what a reduction has taken out of view.
type loss struct {
	target decant.Ref
	weight float64 // of the must-keep facts that are in view nowhere else
	cost   int     // tokens that the original has more
}

// lost returns the reductions of this plan that took must-keep facts out of view, and whose originals
// have at most room tokens more.
func (p *planner) lost(room int) ([]loss, error) {
	view, err := p.current()
	if err != nil {
		return nil, err
	}
	missing := fact.Check(p.mustKeep(), wire.Text(view)).Missing
	var out []loss
	for _, d := range p.decisions {
		cost := d.Before - d.After
		if d.Kind != decant.Stub && d.Kind != decant.Shrink || cost > room || p.demanded(d.Reduction) {
			continue
		}
		text := p.conv.Messages[p.index(d.Target.Message)].Blocks[d.Target.Block].Text()
		l := loss{target: d.Target.Ref, cost: max(1, cost)}
		for _, f := range missing {
			if strings.Contains(text, f.Text) {
				l.weight += f.Weight
			}
		}
		if l.weight > 0 {
			out = append(out, l)
		}
	}
	return out, nil
}

// demanded reports whether the preset makes a reduction whatever the target is.
func (p *planner) demanded(reduction string) bool {
	r := p.Preset.Reduce
	return slices.Contains(r.Always, reduction) || p.Preset.Tools.Cap > 0 && (reduction == "trim" || reduction == "first_sight")
}

// takeBack leaves a block as it was.
func (p *planner) takeBack(target decant.Ref) {
	i := slices.IndexFunc(p.decisions, func(d decant.Decision) bool { return d.Target.Ref == target })
	d := p.decisions[i]
	p.sizes[p.index(target.Message)] += d.Before - d.After
	p.decisions = slices.Delete(p.decisions, i, i+1)
	p.stale = true
}
