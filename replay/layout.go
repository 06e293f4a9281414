package replay

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/cost"
	"github.com/decantdev/decant/token"
)

// A layout lays views out as prompts. It remembers blocks, because from one request to the next
// nearly all stay the same.
type layout struct {
	est   *token.Estimator
	known map[blockKey]cost.Block
	frame int
	fixed cost.Block
}

// blockKey tells blocks of one conversation apart: where they stand, and what changed them.
type blockKey struct {
	ref     decant.Ref
	changed string
	role    decant.Role
}

func newLayout(e *token.Estimator, fixed int) *layout {
	return &layout{
		est: e, known: map[blockKey]cost.Block{}, frame: e.Message(&decant.Message{}),
		fixed: cost.Block{ID: decant.HashText("system and tools"), Tokens: fixed, Cache: "5m"},
	}
}

// fork returns a layout that shares what is known about blocks that no decision has changed.
func (l *layout) fork() *layout {
	out := *l
	out.known = make(map[blockKey]cost.Block, len(l.known))
	for k, b := range l.known {
		out.known[k] = b
	}
	return &out
}

// prompt returns a view as the blocks of a prompt, more blocks in front of it. Like the agents that were
// recorded it asks for caching behind the fixed part and at the ends of the last two messages of the user.
func (l *layout) prompt(ms []decant.Message, more ...cost.Block) (blocks []cost.Block, tokens int) {
	blocks = append(append(make([]cost.Block, 0, 2*len(ms)+2), l.fixed), more...)
	for i := range blocks {
		tokens += blocks[i].Tokens
	}
	ends := lastUsers(ms, 2)
	for i := range ms {
		frame := l.frame
		for k := range ms[i].Blocks {
			b := l.block(&ms[i].Blocks[k], ms[i].Role)
			b.Tokens += frame
			frame = 0
			b.Cache = ""
			if k == len(ms[i].Blocks)-1 && ends[i] {
				b.Cache = "5m"
			}
			tokens += b.Tokens
			blocks = append(blocks, b)
		}
	}
	return blocks, tokens
}

// lastUsers marks the last n messages of the user.
func lastUsers(ms []decant.Message, n int) map[int]bool {
	out := map[int]bool{}
	for i := len(ms) - 1; i >= 0 && len(out) < n; i-- {
		if ms[i].Role != decant.RoleAssistant {
			out[i] = true
		}
	}
	return out
}

func (l *layout) block(b *decant.Block, role decant.Role) cost.Block {
	k := blockKey{b.Ref, b.Changed, role}
	out, ok := l.known[k]
	if !ok {
		out = cost.LayBlock(b, role, l.est)
		l.known[k] = out
	}
	return out
}
