package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/decantdev/decant"
)

// Changes are the differences of two forms of a conversation, message by message.
type Changes struct {
	Before, After string // their names
	Was, Is       *decant.Conversation
	Size          Sizer
}

// A changed is a message, or several that follow each other, of which the other form has less, more, or nothing.
type changed struct {
	from, to    int // numbers of the messages; 0: Decant has written it
	was, is     int // tokens
	gone, added bool
	about       string
}

// mostChanges is how many changes are listed: what fits a screen.
const mostChanges = 24

// WriteText writes what has changed, a line each, the largest changes if there are too many, in their order.
func (c *Changes) WriteText(w io.Writer) error {
	p := &printer{Writer: w}
	was, is := c.tokens(c.Was), c.tokens(c.Is)
	all := c.list()
	if len(all) == 0 {
		p.line("no difference: %s and %s are the same", c.Before, c.After)
		return p.err
	}
	p.line("%s: %s, %s", c.Before, Count(len(c.Was.Messages), "message"), Count(was, "token"))
	p.line("%s: %s, %s (%s)", c.After, Count(len(c.Is.Messages), "message"), Count(is, "token"), percent(is, was))
	p.line("")
	rows := [][]string{{"", "tokens", "", "became", ""}}
	shown := largest(all)
	for i := range shown {
		rows = append(rows, shown[i].row())
	}
	p.table(rows, "fRlRl")
	p.line("")
	if n := len(all) - len(shown); n > 0 {
		p.line("and %d smaller ones", n)
	}
	p.line("--full prints the texts")
	return p.err
}

func (c *Changes) tokens(of *decant.Conversation) (n int) {
	for i := range of.Messages {
		n += tokens(&of.Messages[i], c.Size)
	}
	return n
}

// list returns what changed, in the order of the messages. What Decant wrote comes where it stands.
func (c *Changes) list() (out []changed) {
	left := map[int]*decant.Message{}
	for i := range c.Is.Messages {
		if m := &c.Is.Messages[i]; m.Number > 0 {
			left[m.Number] = m
		}
	}
	known := map[int]bool{}
	for i := range c.Was.Messages {
		m := &c.Was.Messages[i]
		known[m.Number] = true
		if m.Number == 0 {
			out = append(out, changed{was: tokens(m, c.Size), gone: true, about: aboutMessage(m)})
			continue
		}
		is := left[m.Number]
		switch n := len(out); {
		case is != nil && slices.EqualFunc(m.Blocks, is.Blocks, same):
		case is != nil:
			out = append(out, changed{from: m.Number, to: m.Number, was: tokens(m, c.Size), is: tokens(is, c.Size), about: aboutMessage(m)})
		case n > 0 && out[n-1].gone && out[n-1].to == m.Number-1 && out[n-1].from > 0:
			out[n-1].to, out[n-1].was = m.Number, out[n-1].was+tokens(m, c.Size)
		default:
			out = append(out, changed{from: m.Number, to: m.Number, was: tokens(m, c.Size), gone: true, about: aboutMessage(m)})
		}
	}
	for i := range c.Is.Messages {
		if m := &c.Is.Messages[i]; m.Number == 0 || !known[m.Number] {
			out = append(out, changed{from: m.Number, to: m.Number, is: tokens(m, c.Size), added: true, about: aboutMessage(m)})
		}
	}
	return out
}

// same reports whether two blocks say the same.
func same(x, y decant.Block) bool {
	return x.Kind == y.Kind && (x.Content == y.Content || x.Text() == y.Text())
}

// largest returns the changes that move most tokens, as many as are listed, in their order.
func largest(all []changed) []changed {
	if len(all) <= mostChanges {
		return all
	}
	moved := func(c changed) int { return max(c.was-c.is, c.is-c.was) }
	sizes := make([]int, len(all))
	for i := range all {
		sizes[i] = moved(all[i])
	}
	slices.Sort(sizes)
	least := sizes[len(sizes)-mostChanges]
	var out []changed
	for _, c := range all {
		if moved(c) >= least && len(out) < mostChanges {
			out = append(out, c)
		}
	}
	return out
}

func (c *changed) row() []string {
	which := fmt.Sprintf("m%d", c.from)
	switch {
	case c.from == 0:
		which = "Decant"
	case c.to > c.from:
		which = fmt.Sprintf("m%d to m%d", c.from, c.to)
	}
	became := Thousands(c.is)
	if c.gone {
		became = leftOut
	}
	was := Thousands(c.was)
	if c.added {
		was = "new"
	}
	return []string{which, was, "→", became, cut(c.about, 60)}
}
