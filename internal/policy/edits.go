package policy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
)

// edits are the decisions of an unfinished plan, on top of earlier ones, and the view under them.
type edits struct {
	conv  *decant.Conversation
	made  []decant.Decision    // before the plan
	list  []decant.Decision    // the plan's
	at    map[decant.Ref]int   // which of list edits a block
	view  *decant.Conversation // under the decisions when it was made, see current
	stale bool                 // decisions were made since
}

func newEdits(c *decant.Conversation, made []decant.Decision) (*edits, error) {
	e := &edits{conv: c, made: made, at: map[decant.Ref]int{}, view: c}
	if len(made) == 0 {
		return e, nil
	}
	v, err := decant.View(c, made)
	if err != nil {
		return nil, fmt.Errorf("apply earlier decisions: %w", err)
	}
	e.view = v
	return e, nil
}

// less returns the tokens that earlier decisions save in each message.
func (e *edits) less() []int {
	out := make([]int, len(e.conv.Messages))
	for i := range e.made {
		d := &e.made[i]
		k := e.index(d.Target.Message)
		if k < len(out) && e.conv.Messages[k].Number == d.Target.Message {
			out[k] += d.Before - d.After
		}
	}
	return out
}

// add adds a decision and returns the tokens that it saves. Of two edits of one block, both made from the
// original, it keeps the one that leaves less.
func (e *edits) add(d decant.Decision) (freed int) {
	i, again := e.at[d.Target.Ref]
	switch {
	case d.Target.Message == 0:
		e.list = append(e.list, d)
	case !again:
		e.at[d.Target.Ref] = len(e.list)
		e.list = append(e.list, d)
		freed = d.Before - d.After
	case d.After < e.list[i].After:
		old := e.list[i]
		e.list[i] = d
		freed = d.Before - d.After - (old.Before - old.After)
	default:
		return 0
	}
	e.stale = true
	return freed
}

// keep drops all decisions but those that ok reports true for.
func (e *edits) keep(ok func(*decant.Decision) bool) {
	e.list = slices.DeleteFunc(e.list, func(d decant.Decision) bool { return !ok(&d) })
	clear(e.at)
	for i := range e.list {
		if ref := e.list[i].Target.Ref; ref.Message > 0 {
			e.at[ref] = i
		}
	}
	e.stale = true
}

// recorded returns a copy with another record in the plan's checkpoint.
func (e *edits) recorded(cp *decant.Checkpoint) *edits {
	out := *e
	out.list, out.stale = slices.Clone(e.list), true
	for i := range out.list {
		if d := &out.list[i]; d.Checkpoint != nil {
			d.Checkpoint, d.After = cp, cp.Compressed
		}
	}
	return &out
}

// current returns the view under the decisions so far.
func (e *edits) current() (*decant.Conversation, error) {
	if !e.stale {
		return e.view, nil
	}
	for i := range e.list {
		e.list[i].ID = fmt.Sprintf("d%d", i+1)
	}
	v, err := decant.View(e.conv, e.all())
	if err != nil {
		return nil, fmt.Errorf("apply the planned decisions: %w", err)
	}
	e.view, e.stale = v, false
	return v, nil
}

// all returns all decisions in force: those made before, then the plan's.
func (e *edits) all() []decant.Decision {
	if len(e.made) == 0 {
		return e.list
	}
	return slices.Concat(e.made, e.list)
}

// messages returns the number of messages in the view.
func (e *edits) messages() int {
	n := len(e.conv.Messages)
	for i := range e.list {
		if cp := e.list[i].Checkpoint; cp != nil {
			n -= cp.Messages - 1
		}
	}
	return n
}

// index returns the index in the conversation of the message with the given number.
func (e *edits) index(number int) int {
	i, _ := slices.BinarySearchFunc(e.conv.Messages, number, func(m decant.Message, n int) int {
		return cmp.Compare(m.Number, n)
	})
	return i
}
