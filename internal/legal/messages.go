package legal

import (
	"strings"

	"github.com/decantdev/decant"
)

// mostMessages is how many messages a request may have (docs/reference/anthropic.md, "The request").
const mostMessages = 100_000

// messages checks the rules of the Messages API.
func (c *checker) messages() {
	turns := turnsOf(c.ms)
	if len(c.ms) > mostMessages {
		c.report(request, MessagesMany, "%d messages, at most %d are allowed", len(c.ms), mostMessages)
	}
	if limit := c.rules.MaxOutput; limit > 0 && c.view.MaxOutput > limit {
		c.report(request, OutputLimit, "%d output tokens asked for, the model gives at most %d", c.view.MaxOutput, limit)
	}
	c.pairing(turns)
	for i := range turns {
		if turns[i].role == decant.RoleSystem {
			c.systemPlace(turns, i)
		}
	}
	if c.rules.Claude {
		c.forms()
	}
	c.last(turns)
	c.markers()
	c.thinking(turns)
	c.binding()
}

// pairing checks what Repair can repair: empty text, the first message, and pairs of calls and
// results, the server's own among them.
func (c *checker) pairing(turns []turn) {
	c.texts()
	c.first(turns)
	for i := range turns {
		switch turns[i].role {
		case decant.RoleAssistant:
			c.answered(turns, i)
		default:
			c.results(turns, i)
		}
	}
	c.unique(turns)
	c.serverTools(turns)
}

// texts checks that no text and no message is empty.
func (c *checker) texts() {
	for i := range c.view.Fixed.System {
		if b := &c.view.Fixed.System[i]; b.Kind == decant.KindText && blank(b) {
			c.report(place{-1, i}, TextEmpty, "text of the system prompt is empty")
		}
	}
	for i := range c.ms {
		if len(c.ms[i].Blocks) == 0 {
			c.report(place{i, whole}, TextEmpty, "the message is empty")
		}
		for k := range c.ms[i].Blocks {
			if b := &c.ms[i].Blocks[k]; b.Kind == decant.KindText && blank(b) {
				c.report(place{i, k}, TextEmpty, "text must hold something besides blanks")
			}
		}
	}
}

func blank(b *decant.Block) bool { return strings.TrimSpace(b.Text()) == "" }

func (c *checker) first(turns []turn) {
	if len(turns) == 0 {
		c.report(request, FirstMessage, "there are no messages")
		return
	}
	if turns[0].role == decant.RoleAssistant && !compacted(&c.ms[0]) {
		c.report(place{0, whole}, FirstMessage, "the first message must be of the user")
	}
}

// compacted reports whether m starts with a compaction block of the server.
func compacted(m *decant.Message) bool {
	return len(m.Blocks) > 0 && (m.Compaction || itemOf(&m.Blocks[0]).Type == "compaction")
}

// answered checks that the calls of turn i are all answered in the turn after it.
func (c *checker) answered(turns []turn, i int) {
	open := i+1 == len(turns)
	if open && c.rules.Record {
		return
	}
	var next map[string]bool
	if !open && turns[i+1].role == decant.RoleUser {
		next = map[string]bool{}
		for _, p := range c.of(&turns[i+1], decant.KindResult) {
			next[c.block(p).CallID] = true
		}
	}
	for _, p := range c.of(&turns[i], decant.KindUse) {
		if id := c.block(p).CallID; !next[id] {
			c.report(p, ToolResultMissing, "call %s has no result in the next message", id)
		}
	}
	for _, p := range c.of(&turns[i], decant.KindResult) {
		c.report(p, ToolResultOrphan, "result of %s is in a message of the assistant", c.block(p).CallID)
	}
}

// results checks the results of a turn that is not the assistant's: each must answer one call of the turn
// before, and nothing may precede them.
func (c *checker) results(turns []turn, i int) {
	calls := map[string]int{}
	if i > 0 && turns[i-1].role == decant.RoleAssistant && turns[i].role == decant.RoleUser {
		for _, p := range c.of(&turns[i-1], decant.KindUse) {
			calls[c.block(p).CallID]++
		}
	}
	other := false
	for _, p := range turns[i].blocks {
		b := c.block(p)
		switch {
		case b.Kind == decant.KindUse:
			c.report(p, ToolResultMissing, "call %s is in a message of the %s", b.CallID, turns[i].role)
		case b.Kind != decant.KindResult:
			other = true
			continue
		case calls[b.CallID] <= 0:
			c.report(p, ToolResultOrphan, "result of %s answers no call of the message before", b.CallID)
		case other:
			c.report(p, ToolResultsFirst, "result of %s stands behind other content", b.CallID)
		}
		calls[b.CallID]--
	}
}

// unique checks that call ids do not repeat, at least within one turn.
func (c *checker) unique(turns []turn) {
	seen := map[string]bool{}
	for i := range turns {
		if c.rules.ReuseIDs {
			clear(seen)
		}
		for _, p := range c.of(&turns[i], decant.KindUse) {
			id := c.block(p).CallID
			if seen[id] {
				c.report(p, CallIDUnique, "call id %s is used twice", id)
			}
			seen[id] = true
		}
	}
}

// forms checks the form of what models write: ids and arguments of calls, and signatures of thinking.
func (c *checker) forms() {
	for _, p := range c.items() {
		switch b := c.block(p); b.Kind {
		case decant.KindUse:
			if !wellFormed(b.CallID) {
				c.report(p, CallIDForm, "call id %q: want letters, digits, _ and - only", b.CallID)
			}
			if !takesInput(b) {
				c.report(p, CallInputForm, "the arguments of call %s are not an object", b.CallID)
			}
		case decant.KindThinking:
			if !sendable(&c.ms[p.message], b) {
				c.report(p, ThinkingUnsigned, "no model of Anthropic has signed this thinking")
			}
		}
	}
}

// wellFormed reports whether id matches ^[a-zA-Z0-9_-]+$.
func wellFormed(id string) bool {
	for i := 0; i < len(id); i++ {
		c := id[i]
		if !(c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return id != ""
}

// last checks that the conversation ends with the user. A turn that the server interrupted in its own
// tools may be last, because the client continues it by sending it unchanged.
func (c *checker) last(turns []turn) {
	if c.rules.Prefill || c.rules.Record || len(turns) == 0 {
		return
	}
	t := &turns[len(turns)-1]
	if t.role == decant.RoleAssistant && !compacted(&c.ms[t.end-1]) && !c.paused(turns) {
		c.report(place{t.end - 1, whole}, Prefill, "the model does not continue a message of the assistant")
	}
}
