package legal

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
)

// Check returns every place where the view breaks a rule, in the order of the view; nil when it is
// legal. It ignores messages that the client's own compaction hides.
func Check(view *decant.Conversation, rules Rules) []Violation {
	c := newChecker(view, rules)
	switch rules.API {
	case Chat:
		c.chat()
	case Responses:
		c.responses()
	default:
		c.messages()
	}
	c.fixed()
	slices.SortStableFunc(c.found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Block, b.Block))
	})
	return c.found
}

// checker collects the violations of one view.
type checker struct {
	view  *decant.Conversation
	rules Rules
	ms    []decant.Message // what the model is sent
	base  int              // index of ms[0] in the view
	found []Violation
}

func newChecker(view *decant.Conversation, rules Rules) *checker {
	c := &checker{view: view, rules: rules, ms: view.Live()}
	c.base = len(view.Messages) - len(c.ms)
	return c
}

// place is the position of a block: ms[message].Blocks[block].
type place struct{ message, block int }

// whole is the block index of a violation that is about a message.
const whole = -1

func (c *checker) report(p place, rule Rule, format string, args ...any) {
	v := Violation{Index: -1, Block: p.block, Rule: rule, Text: fmt.Sprintf(format, args...)}
	if p.message >= 0 {
		v.Index, v.Message = c.base+p.message, c.ms[p.message].Number
	}
	c.found = append(c.found, v)
}

// request is the place of everything that is not in a message.
var request = place{-1, whole}

func (c *checker) block(p place) *decant.Block { return &c.ms[p.message].Blocks[p.block] }

// A turn is neighbouring messages of one role, which the Messages API merges.
type turn struct {
	role   decant.Role
	start  int // index of its first message
	end    int // index after its last message
	blocks []place
}

// turnsOf returns the turns of ms. Messages of tools belong to the user's turn, as results do.
func turnsOf(ms []decant.Message) []turn {
	var out []turn
	for i := range ms {
		role := ms[i].Role
		if role == decant.RoleTool {
			role = decant.RoleUser
		}
		if len(out) == 0 || out[len(out)-1].role != role {
			out = append(out, turn{role: role, start: i})
		}
		t := &out[len(out)-1]
		t.end = i + 1
		for k := range ms[i].Blocks {
			t.blocks = append(t.blocks, place{i, k})
		}
	}
	return out
}

// of returns the places of the blocks of one kind.
func (c *checker) of(t *turn, kind decant.Kind) (out []place) {
	for _, p := range t.blocks {
		if c.block(p).Kind == kind {
			out = append(out, p)
		}
	}
	return out
}
