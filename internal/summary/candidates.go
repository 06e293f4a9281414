package summary

import (
	"github.com/decantdev/decant"
)

// Lines of results and of what calls wrote compete with their facts alone, and a little so that a large
// budget is used.
const (
	lineValue    = .0003
	commandValue = .02
	actionValue  = .1 // of a call of an unusual tool: an action in the world
)

// quote takes in what can be copied of a text, as candidates under the heading of group g.
func (b *book) quote(text string, g int32, index int, by decant.Author) {
	base := int32(len(b.entries))
	for _, x := range extracts(text) {
		n := b.lex.line(x.text, false)
		b.lex.see(n, index, by)
		e := entry{
			sec: secQuotes, group: g, text: x.text, line: n, value: lineValue, warm: cold(index, b.present), head: x.head, joins: x.joins,
		}
		if x.under >= 0 {
			e.under = base + int32(x.under) + 1
		}
		b.add(e)
	}
}

// Values of prose for being said, whatever facts are in it, in chances.
const (
	closingValue = .6 // what the model told the user at the end of a turn
	findingValue = .3 // what it found out while it worked
	plainVoice   = 1
	closingVoice = 1.5
)

// prosaic takes in a text line by line, for its words.
func (b *book) prosaic(t *text, sec section, voice float32) {
	g := b.message(t)
	for s := range pieces(t.body) {
		n := b.lex.line(s, true)
		b.lex.see(n, t.index, t.speaker())
		b.add(entry{sec: sec, group: g, text: s, line: n, value: lineValue, voice: voice, number: t.number})
	}
}

// message returns a group without a heading for the lines of one message.
func (b *book) message(t *text) int32 { return b.heading("", t.index) }
