package engine

import (
	"bytes"
	"fmt"

	"github.com/decantdev/decant"
)

// mostPerToken is how many bytes of text a token can stand for, on average over a whole prompt. Prose
// and code have about four.
const mostPerToken = 16

// believable reports whether the usage that an upstream reported can be that of the request. Simple
// stand-ins report the same few tokens for everything, and servers that imitate the API leave out what
// they read from their cache. A meter that started from such a report would be wrong by the whole
// conversation, while the estimate is wrong by a tenth.
//
// A client that asks the provider to clear old results is told the size of what was left of them.
func (f *finished) believable() bool {
	u := f.res.Usage
	return u.Prompt() == 0 || f.ticket.dr.text() <= mostPerToken*u.Prompt() || f.ticket.dr.q.cleared()
}

// text returns about how many bytes of text the request sends, without images and without thinking,
// of which the provider may count nothing.
func (dr *draft) text() (n int) {
	for i := range dr.q.refs.Conv.Fixed.System {
		n += textSize(&dr.q.refs.Conv.Fixed.System[i])
	}
	for i := range dr.q.refs.Conv.Fixed.Tools {
		if s := dr.q.refs.Conv.Fixed.Tools[i].Schema; s != nil {
			n += s.Size()
		}
	}
	for i := range dr.view.Messages {
		for k := range dr.view.Messages[i].Blocks {
			n += textSize(&dr.view.Messages[i].Blocks[k])
		}
	}
	return n
}

func textSize(b *decant.Block) int {
	if b.Content == nil || b.Media.Count > 0 || b.Kind == decant.KindThinking || b.Kind == decant.KindOpaque {
		return 0
	}
	return b.Content.Size()
}

// cleared reports whether the request asks the provider to leave out some of it.
func (q *query) cleared() bool {
	edits := q.r.Doc.Member("context_management")
	return !edits.IsZero() && (bytes.Contains(edits.Of(q.req.Body), []byte("clear_tool_uses")) || bytes.Contains(edits.Of(q.req.Body), []byte("compact")))
}

// disbelieve puts what was estimated in place of usage that cannot be true, so that no meter starts from
// it, and says so once. What is booked and stored of it stays as it was reported.
func (e *Engine) disbelieve(f *finished) {
	n, bytes := f.res.Usage.Prompt(), f.ticket.dr.text()
	f.res.Usage = decant.Usage{Input: f.ticket.dr.report.After, Output: f.res.Usage.Output}
	e.unbelieved.Do(func() {
		e.opts.Notice(fmt.Sprintf("the upstream reports %d tokens for a prompt of %d bytes of text; sizes are estimated where its reports cannot be true", n, bytes))
	})
}
