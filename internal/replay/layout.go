package replay

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/token"
)

// A layout lays views out as prompts. It remembers blocks, because from one request to the next
// nearly all stay the same.
type layout struct {
	est   *token.Estimator
	known map[blockKey]cost.Block // by the estimate
	frame int
	front *front
	fixed []cost.Block // system prompt and tools: what all sessions share, and the rest
	sizes *sizes
	ends  int // messages at the end that are marked
	lives lives

	left   []float64 // by number of the message: what remains of its tokens after cuts; nil: all
	edited []string  // by number: what the client has changed of it, part of its identity
}

// blockKey tells blocks of one conversation apart: where they stand, and what changed them.
type blockKey struct {
	ref     decant.Ref
	changed string
	role    decant.Role
}

// newLayout returns the layout of a segment's prompts.
func newLayout(e *token.Estimator, s *segment) *layout {
	l := &layout{est: e, known: map[blockKey]cost.Block{}, frame: e.Message(&decant.Message{}), sizes: s.sizes, ends: s.ends}
	l.lives = lives{short, short}
	if len(s.requests) > 0 {
		l.begin(s.requests[0].front)
	}
	return l
}

// begin lays out prompts behind another system prompt and other tools, unless they are the same.
func (l *layout) begin(f *front) {
	if l.front == f {
		return
	}
	l.front, l.fixed = f, nil
	if f.shared > 0 {
		l.fixed = append(l.fixed, cost.Block{ID: decant.HashText("what all sessions share"), Tokens: f.shared})
	}
	l.fixed = append(l.fixed, cost.Block{ID: decant.HashText(f.name), Tokens: f.fixed - f.shared})
}

// fork returns a layout that shares what is known about blocks that no decision has changed.
func (l *layout) fork() *layout {
	out := *l
	out.known = make(map[blockKey]cost.Block, len(l.known))
	for k, b := range l.known {
		out.known[k] = b
	}
	out.fixed = append([]cost.Block(nil), l.fixed...)
	return &out
}

// prompt returns a view as the blocks of a prompt, more blocks in front of it. Like the agents that were
// recorded it asks for caching behind the fixed part and at the ends of the newest messages.
func (l *layout) prompt(ms []decant.Message, more ...cost.Block) (blocks []cost.Block, tokens int) {
	blocks = append(append(make([]cost.Block, 0, 2*len(ms)+3), l.system()...), more...)
	for i := range blocks {
		tokens += blocks[i].Tokens
	}
	marked := l.firstMarked(ms)
	for i := range ms {
		for k := range ms[i].Blocks {
			b := l.block(&ms[i], k)
			if k == len(ms[i].Blocks)-1 && i >= marked && ms[i].Role != decant.RoleAssistant {
				b.Cache = l.lives.messages
			}
			tokens += b.Tokens
			blocks = append(blocks, b)
		}
	}
	return blocks, tokens
}

// before returns how many blocks of a prompt stand before those of its messages, besides what is attached.
func (l *layout) before() int { return len(l.fixed) }

// system returns the blocks of system prompt and tools.
func (l *layout) system() []cost.Block {
	for i := range l.fixed {
		l.fixed[i].Cache = l.lives.fixed
	}
	return l.fixed
}

// firstMarked returns the index of the first message that may be marked at its end: as many messages that are
// not the assistant's come from there on as the client marks.
func (l *layout) firstMarked(ms []decant.Message) int {
	n := 0
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].Role == decant.RoleAssistant {
			continue
		}
		if n++; n == l.ends {
			return i
		}
	}
	return 0
}

// block returns the k-th block of a message, with the framing of the message at its first block and what
// came along unseen at its last.
func (l *layout) block(m *decant.Message, k int) cost.Block {
	b := &m.Blocks[k]
	key := blockKey{b.Ref, b.Changed, m.Role}
	out, ok := l.known[key]
	if !ok {
		out = cost.LayBlock(b, m.Role, l.est)
		l.known[key] = out
	}
	out.Cache = ""
	if k == 0 {
		out.Tokens += l.frame
	}
	n := m.Number
	out.Tokens = l.sizes.of(n, out.Tokens)
	if k == len(m.Blocks)-1 {
		out.Tokens += l.sizes.beside(n)
	}
	if l.left != nil && n > 0 && n < len(l.left) {
		out.Tokens = int(float64(out.Tokens) * l.left[n])
	}
	if l.edited != nil && n > 0 && n < len(l.edited) && l.edited[n] != "" {
		out.ID = decant.HashText(l.edited[n] + string(out.ID[:]))
	}
	return out
}

// cut makes the messages of a cut smaller from now on.
func (l *layout) cut(c *cut) {
	if l.left == nil {
		l.left = make([]float64, len(l.sizes.factor))
		for i := range l.left {
			l.left[i] = 1
		}
	}
	for n := c.from; n < c.to && n < len(l.left); n++ {
		l.left[n] *= c.by
	}
}

// edit gives the messages of a view another identity from a share of the prompt on, as when the client has
// changed something there.
func (l *layout) edit(ms []decant.Message, from float64, request int) {
	if l.edited == nil {
		l.edited = make([]string, len(l.sizes.factor))
	}
	_, whole := l.prompt(ms)
	at := 0
	for _, b := range l.fixed {
		at += b.Tokens
	}
	for i := range ms {
		for k := range ms[i].Blocks {
			at += l.block(&ms[i], k).Tokens
		}
		if n := ms[i].Number; n > 0 && n < len(l.edited) && float64(at) > from*float64(whole) {
			l.edited[n] = fmt.Sprintf("edit %d ", request)
		}
	}
}

// renew gives the part of system prompt and tools that is the session's own another identity.
func (l *layout) renew(request int) {
	l.fixed[len(l.fixed)-1].ID = decant.HashText(fmt.Sprintf("%s %d", l.front.name, request))
}
