package summary

import (
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/lazyregexp"
)

// introductions are beginnings of sentences that introduce a client's summary. What one says behind a colon is the summary.
var introductions = []string{"that ran out of context", "The summary below covers", "The conversation is summarized below"}

// asides are sentences of a client's summary that speak to the model about the summary itself.
var asides = []string{
	mark, "Please continue the conversation from where",
	"If you need specific details from before", "Continue the conversation from where it left off", "Continue with the last task that you were asked",
	"Recent messages are preserved verbatim", "Resume directly", "Pick up the last task as if",
}

// withoutAsides returns a line of a client's summary without such sentences. A client may put all on one line.
func withoutAsides(s string) string {
	s, begins := strings.CutPrefix(s, continued)
	holds := func(a string) bool { return strings.Contains(s, a) }
	if !begins && !slices.ContainsFunc(asides, holds) && !slices.ContainsFunc(introductions, holds) {
		return s
	}
	var kept []string
	for _, part := range apart(s) {
		part = strings.TrimLeft(part, " .:")
		says := func(a string) bool { return strings.HasPrefix(part, a) }
		if slices.ContainsFunc(introductions, says) {
			_, part, _ = strings.Cut(part, ":")
			part = strings.TrimSpace(part)
		}
		if part != "" && !slices.ContainsFunc(asides, says) {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, " ")
}

// earlier takes in a summary that the client's own model wrote: line by line, under a heading that says so. What it tells
// of the user's standing orders stays, as the rules do.
func (c *concluder) earlier(t *text) {
	g := c.book.message(t)
	room := ruleShare * c.book.budget
	for s, kind := range marked(t.body) {
		if s = withoutAsides(s); s == "" {
			continue
		}
		n := c.book.lex.line(s, true)
		c.book.lex.see(n, t.index, decant.AuthorUser)
		e := entry{sec: secEarlier, group: g, text: s, line: n, value: lineValue, voice: plainVoice, number: t.number}
		c.settle(&e, t, kind)
		if e.must == compete && orders(s) {
			if cost := estimate(s) + 4; cost <= room {
				room -= cost
				e.must = mustRule
			} else if of := strings.Join(fact.Standings(s), " "); of != "" && estimate(of) <= room { // of a long line
				room -= estimate(of)
				c.book.add(entry{sec: secEarlier, group: g, text: of, line: -1, number: t.number, must: mustRule})
			}
		}
		c.book.add(e)
	}
}

// retells is what a summary writes before an order of the user's.
var retells = lazyregexp.New(`^(?:[-*•\d.)\s]|\*\*[^*]{1,40}\*\*:?|(?i:the )?(?i:user) (?i:said|asked|wants|requires|stated|insists|instructed|emphasi[sz]ed|explicitly)[^:"]{0,20}[:"]?(?: (?:that|to))?|[^:"]{1,40}:|")+`)

// orders reports whether a line of a summary holds a standing order.
func orders(s string) bool {
	return len(fact.Standings(s)) > 0 || len(fact.Standings(retells.ReplaceAllString(s, ""))) > 0
}
