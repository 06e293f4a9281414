package summary

import (
	"strings"

	"github.com/decantdev/decant"
)

// isEarlier reports whether the text of b is a summary of earlier messages that a client put there.
func isEarlier(b *decant.Block) bool {
	t := b.Text()
	return strings.HasPrefix(t, "This session is being continued from a previous conversation") || strings.HasPrefix(t, mark)
}

// earlier takes in an earlier summary.
func (r *reader) earlier(o origin, text string) {
	o.author = byEarlier
	r.text(o, text)
}
