package token

import (
	"slices"

	"github.com/decantdev/decant"
)

// A Meter reads how large a conversation is. Everything that shows or compares a size uses this
// number.
type Meter struct {
	Estimator   *Estimator  // never nil
	Calibration Calibration // what was learned about the conversation
}

// A Reading is how large a conversation is, in tokens, and how that is known.
type Reading struct {
	Tokens  int // what the next request would be: Anchor and Since together
	Anchor  int // reported by the provider, 0 if nothing usable was reported
	Since   int // estimated: what came after the anchor less what was removed since; everything if there is no anchor
	Message int // number of the message that reported the anchor, 0: none
}

// Read returns the size of the request that c would be now: the newest usage that the provider
// reported, its answer included, plus an estimate of what came after it. Three kinds of usage are not
// used: usage from before the client's last compaction, usage of messages that the client kept behind
// its summary, and usage without a prompt, which clients record for answers that failed or were
// aborted. Without usable usage everything is estimated.
func (m Meter) Read(c *decant.Conversation) Reading {
	e := m.Estimator.with(m.Calibration)
	ms := c.Live()
	at := anchor(ms)
	if at < 0 {
		n := e.Fixed(&c.Fixed) + e.Messages(ms)
		return Reading{Tokens: n, Since: n}
	}
	used := reported(&ms[at], e)
	since := e.Messages(ms[at+1:])
	if e.model.Provider == OpenAI && slices.ContainsFunc(ms[at+1:], asks) {
		since -= min(reasoned(ms[:at+1], e), used)
	}
	return Reading{Tokens: used + since, Anchor: used, Since: since, Message: ms[at].Number}
}

// reasoned returns the tokens of reasoning in the turn that ms ends with. OpenAI's models read it only
// until the user speaks again. Its text is not recorded, but text that the model wrote can be counted
// exactly, so the rest of the reported output is reasoning.
func reasoned(ms []decant.Message, e *Estimator) (n int) {
	for i := len(ms) - 1; i >= 0 && !asks(ms[i]); i-- {
		m := &ms[i]
		if usable(m) && slices.ContainsFunc(m.Blocks, isThinking) {
			n += max(0, m.Usage.Output-e.Message(m))
		}
	}
	return n
}

func isThinking(b decant.Block) bool { return b.Kind == decant.KindThinking }

// asks reports whether m is a message of the user with more than results.
func asks(m decant.Message) bool {
	return m.Role == decant.RoleUser && slices.ContainsFunc(m.Blocks, func(b decant.Block) bool {
		return b.Kind != decant.KindResult
	})
}

// anchor returns the index of the newest message with usable usage, or -1.
func anchor(ms []decant.Message) int {
	kept := decant.Kept(ms)
	for i := len(ms) - 1; i >= 0; i-- {
		if usable(&ms[i]) && !kept[i] {
			return i
		}
	}
	return -1
}

func usable(m *decant.Message) bool {
	return m.Role == decant.RoleAssistant && m.Usage != nil && m.Usage.Prompt() > 0 && m.Usage.Output >= 0
}

// reported returns what the request that m answers and m itself take in the window.
//
// Some clients record usage while the answer is still streaming, and note an output of a few tokens:
// in most recorded answers of Claude Code. If the output is less than half of the answer's estimate, it
// is such a record, and the estimate is better.
func reported(m *decant.Message, e *Estimator) int {
	output := m.Usage.Output
	if n := e.Message(m); 2*output < n {
		output = n + hidden(m)
	}
	return m.Usage.Prompt() + output
}

// fullThinking is up to how many bytes thinking is shown in full; longer thinking is summarised. In
// recorded sessions a third of a token is missing for each byte beyond it, and nothing below it.
const fullThinking = 2000

// hidden returns the tokens of thinking that is not shown.
func hidden(m *decant.Message) (n int) {
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Kind == decant.KindThinking {
			n += max(0, len(b.Text())-fullThinking) / 3
		}
	}
	return n
}
