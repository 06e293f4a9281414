package policy

import (
	"errors"

	"github.com/decantdev/decant"
)

// floor returns the error of a target that cannot be met, with the least target that can. It is called
// when everything was given up that may be: what is left is the newest round, or nothing, and a
// summary of the rest.
func (p *planner) floor() error {
	e := &decant.IrreducibleError{Target: p.opts.Target, Size: p.sizes.total(), What: p.sizes.largest(0)}
	head, tail := p.bounds.head, p.bounds.tail
	budget, err := least(p.sizes.original(head, tail), p.summarises)
	if err != nil {
		return err
	}
	if budget == 0 {
		return e
	}
	e.Size = budget + p.sizes.quoted(head, tail) + p.sizes.outside(head, tail)
	e.What = "a summary of everything"
	if tail < len(p.conv.Messages) {
		e.What = p.sizes.largest(tail) + " and a summary of the rest"
	}
	return e
}

// summarises reports whether a summary of so many tokens is acceptable for all that may be summarised.
func (p *planner) summarises(budget int) (bool, error) {
	r := p.recorder()
	_, err := r.record(p.ctx, r.passage(p.ctx, p.bounds.head, p.bounds.tail, budget))
	if errors.Is(err, errTooSmall) {
		return false, nil
	}
	return err == nil, err
}

// least returns the smallest number up to most that is enough; 0 when none is.
func least(most int, enough func(int) (bool, error)) (int, error) {
	low, high := 0, 1 // low is not enough
	for ; ; low, high = high, 2*high {
		if high > most {
			return 0, nil
		}
		ok, err := enough(high)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
	}
	for high-low > 1 {
		mid := (low + high) / 2
		ok, err := enough(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			high = mid
		} else {
			low = mid
		}
	}
	return high, nil
}
