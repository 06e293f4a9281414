package sandbox

import (
	"slices"
	"strings"
)

// isBilling reports whether a block of the system prompt is the line about itself that Claude Code sends
// first, which has other values on every request. Signatures of thinking do not depend on it, or no
// conversation of that program could go on; whether the cache does, public reports disagree (see
// Options.CountBilling).
func isBilling(b *node) bool {
	text := strings.TrimSpace(b.str("text"))
	return strings.HasPrefix(text, "x-anthropic-billing-header:") && !strings.Contains(text, "\n")
}

// withoutBilling returns the blocks that are not billing lines.
func withoutBilling(bs []*node) []*node {
	return slices.DeleteFunc(slices.Clone(bs), isBilling)
}
