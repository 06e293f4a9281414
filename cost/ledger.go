package cost

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// A Ledger adds up what a conversation cost and what it would have cost without Decant. The zero
// value is an empty one.
type Ledger struct {
	Requests  int
	Sent      Bill // what was billed
	Full      Bill // what would have been billed for the client's own requests
	Own       Bill // our own model calls
	Rewritten Bill // the part of Sent that wrote cache anew because we changed something

	SentTokens int // prompt tokens of Sent
	FullTokens int // prompt tokens of Full
}

// An Entry is one request in a ledger.
type Entry struct {
	Sent      decant.Usage // as the provider reported it
	Full      decant.Usage // as predicted for the client's own request; equal to Sent where nothing was changed
	Own       decant.Usage // our own calls on behalf of the request
	Rewritten int          // tokens of Sent.CacheWrite that were cached before we changed what is before them
}

// Add returns the ledger with one more request. own is the model of our own calls.
func (l Ledger) Add(e Entry, m, own token.Model, t Terms) Ledger {
	l.Requests++
	l.Sent = l.Sent.Add(Of(m, e.Sent, t))
	l.Full = l.Full.Add(Of(m, e.Full, t))
	l.Own = l.Own.Add(Of(own, e.Own, Terms{At: t.At}))
	l.Rewritten = l.Rewritten.Add(rewritten(m, e, t))
	l.SentTokens += e.Sent.Prompt()
	l.FullTokens += e.Full.Prompt()
	return l
}

// Net returns what was saved, our own calls paid: negative when Decant cost more than it saved. The
// rewritten cache is part of what was sent, so a saving counts once. It returns false when a price
// is unknown.
func (l Ledger) Net() (usd float64, ok bool) {
	full, ok1 := l.Full.Total()
	sent, ok2 := l.Sent.Total()
	own, ok3 := l.Own.Total()
	return full - sent - own, ok1 && ok2 && ok3
}

// rewritten prices the tokens that were written anew as their share of all that the request wrote.
func rewritten(m token.Model, e Entry, t Terms) Bill {
	n := min(max(0, e.Rewritten), e.Sent.CacheWrite)
	if n == 0 {
		return Bill{}
	}
	share := float64(n) / float64(e.Sent.CacheWrite)
	only := decant.Usage{CacheWrite: e.Sent.CacheWrite, Write1h: e.Sent.Write1h}
	whole, written := Of(m, e.Sent, t), Of(m, only, t)
	return Bill{
		Write5m: whole.Write5m * share,
		Write1h: whole.Write1h * share,
		Unknown: int(float64(written.Unknown) * share),
		Stale:   whole.Stale,
		Long:    whole.Long,
	}
}
