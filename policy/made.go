package policy

import (
	"fmt"
	"slices"

	"github.com/decantdev/decant"
)

// madeSizes starts the planner on the view under the decisions made before, and returns by how many
// tokens each message is smaller there.
func (p *planner) madeSizes() ([]int, error) {
	less := make([]int, len(p.conv.Messages))
	if len(p.Made) == 0 {
		return less, nil
	}
	v, err := decant.View(p.conv, p.Made)
	if err != nil {
		return nil, fmt.Errorf("apply earlier decisions: %w", err)
	}
	p.view = v
	for i := range p.Made {
		d := &p.Made[i]
		k := p.index(d.Target.Message)
		if k < len(less) && p.conv.Messages[k].Number == d.Target.Message {
			less[k] += d.Before - d.After
		}
	}
	return less, nil
}

// withMade returns all decisions in force: those made before, then the plan's.
func (p *planner) withMade(ds []decant.Decision) []decant.Decision {
	if len(p.Made) == 0 {
		return ds
	}
	return slices.Concat(p.Made, ds)
}
