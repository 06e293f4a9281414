package source

import "github.com/decantdev/decant"

// openCalls are the calls of a conversation that no result has answered yet. Ids may repeat within a
// conversation, so an id alone does not name a call.
type openCalls struct {
	newest map[string]int // call id → index of the newest unanswered call
	chain  []call
}

// A call is an entry of the chain of calls with the same id.
type call struct {
	tool string
	prev int // the next older unanswered call with that id, -1: none
}

// opened notes a call of a tool, so that its result gets the tool's name.
func (c *openCalls) opened(id, tool string) {
	prev, ok := c.newest[id]
	if !ok {
		prev = -1
	}
	c.newest[id] = len(c.chain)
	c.chain = append(c.chain, call{tool, prev})
}

// answered closes the newest unanswered call with the given id and returns its tool's name.
func (c *openCalls) answered(id string) (tool string, ok bool) {
	i, ok := c.newest[id]
	if !ok {
		return "", false
	}
	if prev := c.chain[i].prev; prev >= 0 {
		c.newest[id] = prev
	} else {
		delete(c.newest, id)
	}
	return c.chain[i].tool, true
}

func (c *openCalls) forget() {
	c.chain = c.chain[:0]
	clear(c.newest)
}

// earlierCalls are the calls in messages that were taken over from an earlier reading. Hardly any result answers
// one of them, so they are looked for when one does.
type earlierCalls struct {
	messages int            // how many messages were taken over
	answered map[string]int // how many of their calls with an id were answered since
	steps    int            // how many of their blocks were looked at
}

// patience is how many blocks of messages that were taken over are looked at for the calls that later
// results answer, before the source is read as a whole: most are answered by the next message.
const patience = 1 << 20

// answer closes the newest unanswered call with the given id and returns its tool's name.
func (c *earlierCalls) answer(conv *decant.Conversation, id string) (tool string) {
	answers := c.answered[id]
	for i := c.messages - 1; i >= 0 && c.steps <= patience; i-- {
		bs := conv.Messages[i].Blocks
		c.steps += len(bs)
		for k := len(bs) - 1; k >= 0; k-- {
			switch blk := &bs[k]; {
			case blk.CallID != id:
			case blk.Kind == decant.KindResult:
				answers++
			case blk.Kind == decant.KindUse && answers > 0:
				answers--
			case blk.Kind == decant.KindUse:
				c.close(id)
				return blk.Name
			}
		}
	}
	return ""
}

// close notes that a call with an id is answered.
func (c *earlierCalls) close(id string) {
	if c.answered == nil {
		c.answered = map[string]int{}
	}
	c.answered[id]++
}
