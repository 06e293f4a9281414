package summary

import (
	"slices"
	"strings"

	"github.com/decantdev/decant"
)

// asides are lines of a client's summary that speak to the model about the summary itself.
var asides = []string{
	mark, continued, "Please continue the conversation from where",
	"If you need specific details from before compaction", "Continue the conversation from where it left off",
	"Recent messages are preserved verbatim",
}

func isAside(s string) bool {
	return slices.ContainsFunc(asides, func(a string) bool { return strings.HasPrefix(s, a) })
}

// earlier takes in a summary that the client's own model wrote: line by line, under a heading that says so.
func (c *concluder) earlier(t *text) {
	g := c.book.message(t)
	for s, kind := range marked(t.body) {
		if isAside(s) {
			continue
		}
		n := c.book.lex.line(s, true)
		c.book.lex.see(n, t.index, decant.AuthorUser)
		e := entry{sec: secEarlier, group: g, text: s, line: n, value: lineValue, voice: plainVoice, number: t.number}
		c.settle(&e, t, kind)
		c.book.add(e)
	}
}
