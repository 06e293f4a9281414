package engine

import "github.com/decantdev/decant"

// lastWords returns the number of the last message of the user that brings no results: the turn that
// is under way begins there.
func lastWords(c *decant.Conversation) int {
	for i := len(c.Messages) - 1; i >= 0; i-- {
		if m := &c.Messages[i]; m.Role == decant.RoleUser && !m.Has(decant.KindResult) {
			return m.Number
		}
	}
	return 0
}

// thoughtless reports whether the turn under way, if calls were made in it, begins without thinking.
// That is the strict reading of the rule thinking-first: the
// first thing that the assistant said in the turn counts, whatever came with the results since. The
// words of the refusal also allow another, which legal checks in what clients send: the newest message
// of the turn may start with it instead. What a pour makes must be right under both.
func thoughtless(view *decant.Conversation) bool {
	var first *decant.Message
	for i := len(view.Messages) - 1; i >= 0; i-- {
		m := &view.Messages[i]
		if m.Role == decant.RoleAssistant {
			first = m
		}
		if m.Role == decant.RoleUser && !m.Has(decant.KindResult) {
			break
		}
	}
	return first != nil && len(first.Blocks) > 0 && first.Blocks[0].Kind != decant.KindThinking
}
