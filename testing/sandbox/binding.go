package sandbox

import (
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/decantdev/decant/internal/jsonspan"
)

// A chain walks over a prompt and knows at each block what a thinking signature there must say
// (docs/reference/anthropic.md, "Bound thinking"). Everything before the block is bound: system, tools, and all messages. Thinking
// itself is bound by links from each block to the one before, so that it may be missing at the start
// and at the end, but not in the middle, and does not come back once it is gone.
type chain struct {
	system, tools [8]byte
	before        [sha256.Size]byte
	earlier       [][sha256.Size]byte // what before would be without the compaction that the messages begin with, or an earlier one
	pos           uint32              // blocks passed, thinking left out
	last          thoughtID
	first         uint32
	seen          map[thoughtID]bool // the thinking that was accepted
	buf           []byte
	canon         canon
}

// newChain returns a chain at the beginning of the messages.
func newChain(q *request) *chain {
	c := &chain{system: blocksHash(withoutBilling(q.system)), tools: blocksHash(q.tools), seen: map[thoughtID]bool{}}
	c.before = mix(c.before, c.system[:])
	c.before = mix(c.before, c.tools[:])
	return c
}

func blocksHash(bs []*node) [8]byte {
	var out []byte
	for _, b := range bs {
		out = canon{}.block(out, b)
	}
	return short(string(out))
}

// pass goes on over a block that is not thinking.
func (c *chain) pass(role string, b *node) {
	c.buf = append(append(c.buf[:0], role...), 0)
	c.buf = c.canon.block(c.buf, b)
	c.before = mix(c.before, c.buf)
	for i := range c.earlier {
		c.earlier[i] = mix(c.earlier[i], c.buf)
	}
	c.pos++
}

// accept goes on over a thinking block that is in its place.
func (c *chain) accept(id thoughtID) {
	if len(c.seen) == 0 {
		c.first = c.pos
	}
	c.last = id
	c.seen[id] = true
}

// seal returns what a signature made here says.
func (c *chain) seal(model string, bound bool) seal {
	s := seal{model: short(model), bound: bound, system: c.system, tools: c.tools, before: [16]byte(c.before[:16]), last: c.last, first: c.pos}
	if len(c.seen) > 0 {
		s.first = c.first
	}
	return s
}

// broken says what is different from the conversation that a signature was made in, "" when nothing is.
func (c *chain) broken(s seal) string {
	switch {
	case s.system != c.system:
		return "The system prompt has changed since the block was created."
	case s.tools != c.tools:
		return "The tools have changed since the block was created."
	case !c.follows(s.before):
		return "A message before the block has changed since it was created."
	case len(c.seen) == 0 || s.last == c.last && s.first <= c.first:
		return ""
	case s.last == thoughtID{}, s.last == c.last, c.seen[s.last]:
		return "A thinking block that had been removed was added again before it."
	}
	return "A thinking block between this one and an earlier one was removed."
}

// follows reports whether the blocks passed are those that a signature names.
func (c *chain) follows(before [16]byte) bool {
	return before == [16]byte(c.before[:16]) || slices.ContainsFunc(c.earlier, func(h [sha256.Size]byte) bool { return before == [16]byte(h[:16]) })
}

// A transformation is what the server did to the prompt before the model read it.
type transformation struct{ path, reason string }

// thoughts is the result of checking a request's thinking.
type thoughts struct {
	chain   *chain // at the end of the prompt
	changes []transformation
	dropped map[*node]bool
}

// checkThoughts verifies every thinking block of a request.
func (s *Server) checkThoughts(q *request) (*thoughts, *apiError) {
	th := &thoughts{chain: newChain(q), dropped: map[*node]bool{}}
	signed := q.signedFirst()
	if signed != nil {
		r, wrong := reopen(s.secret, signed.str("signature"), signed.str("content"))
		if wrong != "" {
			return nil, coded(wrong, "%s: the `compaction` block was changed after it was returned; send it exactly as it came", signed.path)
		}
		th.chain.resume(signed.node, r, q.next())
	}
	for _, t := range q.turns {
		for _, b := range t.blocks {
			if signed != nil && b.node == signed.node {
				continue
			}
			text, signature, isThought := thought(b)
			if !isThought {
				th.chain.pass(t.role, b.node)
				continue
			}
			seal, id, ok := unseal(s.secret, signature, text)
			if !ok {
				return nil, invalid("%s: Invalid `signature` in `thinking` block", b.path)
			}
			if err := s.checkThought(q, b, seal, id, th); err != nil {
				return nil, err
			}
		}
	}
	return th, nil
}

// thought returns the text and the signature of a thinking block; that of a redacted one is all it has.
func thought(b block) (text, signature string, ok bool) {
	switch b.kind {
	case "thinking":
		return b.str("thinking"), b.str("signature"), true
	case "redacted_thinking":
		return "", b.str("data"), true
	}
	return "", "", false
}

// checkThought decides about one block with a valid signature: it is accepted, dropped or refused.
func (s *Server) checkThought(q *request, b block, made seal, id thoughtID, th *thoughts) *apiError {
	if made.model != short(q.model.ID) && (made.bound || q.model.Binds) {
		th.drop(b, "model_binding_mismatch")
		return nil
	}
	if !made.bound || !s.binds(q) {
		th.chain.accept(id)
		return nil
	}
	why := th.chain.broken(made)
	if why == "" {
		th.chain.accept(id)
		return nil
	}
	binding := q.body.get("thinking").get("block_binding")
	if binding.str("prefix_mismatch_behavior") == "drop_block" || binding == nil && q.batch { // in batches that is the default
		th.drop(b, "prefix_binding_mismatch")
		return nil
	}
	hint := ""
	if !q.betas.has(betaBinding) {
		hint = " This needs the beta `" + betaBinding + "`."
	}
	return invalid("%s: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". %s%s", b.path, why, hint)
}

// binds reports whether the binding is enforced: always for new accounts, for old ones when the
// request speaks of it.
func (s *Server) binds(q *request) bool {
	return q.model.Binds && (!s.opts.OldAccount || q.body.get("thinking").get("block_binding") != nil)
}

func (th *thoughts) drop(b block, reason string) {
	th.dropped[b.node] = true
	th.changes = append(th.changes, transformation{b.path, reason})
}

// appendChanges appends the member input_transformations, if there is anything to report.
func (th *thoughts) appendChanges(dst []byte) []byte {
	if len(th.changes) == 0 {
		return dst
	}
	dst = append(dst, `,"input_transformations":[`...)
	for i, c := range th.changes {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"type":"thinking_dropped","path":`...)
		dst = jsonspan.AppendQuote(dst, c.path)
		dst = append(dst, `,"reason":`...)
		dst = append(jsonspan.AppendQuote(dst, c.reason), '}')
	}
	return append(dst, ']')
}

// A memory knows which thinking went with the calls that the server made, to tell whether the
// assistant's open turn came back as it was. It forgets the oldest beyond its size.
type memory struct {
	mu    sync.Mutex
	byID  map[string][]string // call id, with its account: the signatures of the answer, each with its text
	order []string
}

const memorySize = 1 << 16

func (m *memory) keep(account string, calls, thoughts []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byID == nil {
		m.byID = map[string][]string{}
	}
	for _, id := range calls {
		key := account + "\x00" + id
		if _, again := m.byID[key]; !again {
			m.order = append(m.order, key)
		}
		m.byID[key] = thoughts
	}
	if extra := len(m.order) - memorySize; extra > 0 {
		for _, key := range m.order[:extra] {
			delete(m.byID, key)
		}
		m.order = slices.Clone(m.order[extra:])
	}
}

// of returns the thinking of the answer that made a call.
func (m *memory) of(account, call string) ([]string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out, ok := m.byID[account+"\x00"+call]
	return out, ok
}

// checkOpenTurn is the rule thinking-changed: while a turn is open its thinking is as it was sent.
func (s *Server) checkOpenTurn(account string, q *request) *apiError {
	t := q.open()
	if t == nil || !q.thinks() || s.opts.ForgetAnswers {
		return nil
	}
	calls := t.ids("tool_use", "id")
	if len(calls) == 0 {
		return nil
	}
	want, known := s.memory.of(account, calls[len(calls)-1])
	if !known {
		return nil
	}
	var got []string
	for _, b := range t.blocks {
		if text, signature, ok := thought(b); ok {
			got = append(got, signature+"\x00"+text)
		}
	}
	if len(got) >= len(want) && slices.Equal(want, got[len(got)-len(want):]) {
		return nil
	}
	return invalid("%s.content: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.", t.path)
}
