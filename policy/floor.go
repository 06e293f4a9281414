package policy

import (
	"errors"
	"fmt"

	"github.com/decantdev/decant"
)

// floor returns the error of a target that cannot be met, with the least target that can. It is called
// when everything was given up that may be: what is left is the newest round, or nothing, and a
// summary of the rest.
func (p *planner) floor() error {
	e := &decant.IrreducibleError{Target: p.Target, Size: p.size(), What: p.largest(0)}
	budget, err := p.leastBudget()
	if err != nil {
		return err
	}
	if budget == 0 {
		return e
	}
	e.Size = budget + p.quoted(p.tail)
	for i, n := range p.sizes {
		if i < p.head || i >= p.tail {
			e.Size += n
		}
	}
	e.What = "a summary of everything"
	if p.tail < len(p.conv.Messages) {
		e.What = p.largest(p.tail) + " and a summary of the rest"
	}
	return e
}

// leastBudget returns the tokens of the smallest acceptable summary of what may be summarised; 0 when
// there is none that is smaller than what it covers.
func (p *planner) leastBudget() (int, error) {
	low, high := 0, 1 // a summary of low tokens is not acceptable
	for ; ; low, high = high, 2*high {
		if high > p.covered(p.tail) {
			return 0, nil
		}
		ok, err := p.summarises(high)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
	}
	for high-low > 1 {
		mid := (low + high) / 2
		ok, err := p.summarises(mid)
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

// summarises reports whether a summary of so many tokens is acceptable.
func (p *planner) summarises(budget int) (bool, error) {
	_, err := p.summarise(p.tail, budget)
	if errors.Is(err, errTooSmall) {
		return false, nil
	}
	return err == nil, err
}

// largest names the largest message of the view from index on.
func (p *planner) largest(from int) string {
	what, most := "the summary", 0
	for i := from; i < len(p.conv.Messages); i++ {
		if n := p.sizes[i]; n > most {
			m := &p.conv.Messages[i]
			what, most = fmt.Sprintf("%s (%s, %d tokens)", m.Name(), m.Role, n), n
		}
	}
	return what
}
