package decant

import (
	"encoding/hex"
	"errors"
	"fmt"
)

// Conditions that callers branch on. Test with errors.Is.
var (
	// ErrStale means that a plan or a decision was made for a conversation that has changed since.
	ErrStale = errors.New("the conversation has changed since the plan was made")

	// ErrIllegal means that a view breaks a rule of the API or the model it is for.
	ErrIllegal = errors.New("the view breaks a rule of the model's API")

	// ErrNothing means that there is nothing to compact.
	ErrNothing = errors.New("nothing to compact")

	// ErrSummary means that a summary was refused because it was empty, not smaller than its source,
	// or missing too many facts. The next rung is tried.
	ErrSummary = errors.New("the summary is not acceptable")

	// ErrFixed means that system prompt, tools and pins alone exceed the trigger, so that no pour can
	// help.
	ErrFixed = errors.New("system prompt, tools and pins alone do not fit")
)

// An IrreducibleError says that no legal view reaches the target.
type IrreducibleError struct {
	Target int    // tokens wanted
	Size   int    // the smallest target for which a legal view was found
	What   string // what takes this size: "m12 (tool, 84000 tokens) and a summary of the rest"
}

// Error names the irreducible size.
func (e *IrreducibleError) Error() string {
	tokens := "tokens"
	if e.Target == 1 {
		tokens = "token"
	}
	return fmt.Sprintf("no legal view has %d %s or fewer: the smallest has %d, for %s", e.Target, tokens, e.Size, e.What)
}

func (h *Hash) parse(s string) error {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(h) {
		return fmt.Errorf("hash %q: want %d hexadecimal digits", s, 2*len(h))
	}
	copy(h[:], b)
	return nil
}
