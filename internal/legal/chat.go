package legal

import "github.com/decantdev/decant"

// chat checks the rules of Chat Completions: all messages of tools that answer the calls of a message
// must follow it directly, and must be nowhere else. Results in a message of the user are sent as
// messages of tools before it.
func (c *checker) chat() {
	var calls map[string]place // unanswered calls of the newest assistant message
	var order []place
	flush := func() {
		for _, p := range order {
			id := c.block(p).CallID
			if _, open := calls[id]; open {
				c.report(p, ToolMessageMissing, "call %s has no tool message directly after it", id)
			}
		}
		calls, order = nil, nil
	}
	for i := range c.ms {
		c.chatResults(i, calls)
		if c.ms[i].Role == decant.RoleAssistant || speaks(&c.ms[i]) {
			flush()
		}
		if c.ms[i].Role == decant.RoleAssistant {
			calls, order = c.chatCalls(i)
		}
	}
	if !c.rules.Record {
		flush()
	}
}

// chatResults checks the results in message i and removes the calls that they answer from calls.
func (c *checker) chatResults(i int, calls map[string]place) {
	for k := range c.ms[i].Blocks {
		b := &c.ms[i].Blocks[k]
		if b.Kind != decant.KindResult {
			continue
		}
		if _, ok := calls[b.CallID]; !ok || c.ms[i].Role == decant.RoleSystem {
			c.report(place{i, k}, ToolMessageOrphan, "the result of %s does not follow its call", b.CallID)
		}
		delete(calls, b.CallID)
	}
}

// speaks reports whether a message is more than results.
func speaks(m *decant.Message) bool {
	for i := range m.Blocks {
		if m.Blocks[i].Kind != decant.KindResult {
			return true
		}
	}
	return m.Role != decant.RoleTool && len(m.Blocks) == 0
}

// chatCalls returns the calls of message i by id, and in order.
func (c *checker) chatCalls(i int) (calls map[string]place, order []place) {
	calls = map[string]place{}
	for k := range c.ms[i].Blocks {
		b := &c.ms[i].Blocks[k]
		if b.Kind != decant.KindUse {
			continue
		}
		if _, ok := calls[b.CallID]; ok {
			c.report(place{i, k}, ToolMessageMissing, "call id %s is used twice in one message", b.CallID)
			continue
		}
		calls[b.CallID] = place{i, k}
		order = append(order, place{i, k})
	}
	return calls, order
}
