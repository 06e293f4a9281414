package match

import (
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect"
	"github.com/decantdev/decant/store"
)

// A Tail is what became of the newest requests whose entries still stand in the conversation.
type Tail []store.Request

// mostTail is how many requests are looked at to find out what became of a tail: mostly there is one.
const mostTail = 32

// TailOf reads what became of the newest requests whose entries still stand in a conversation. Errors are those of
// store.Log.
func (f *Finder) TailOf(ctx context.Context, s *store.State) (Tail, error) {
	rs, err := f.Store.Standing(ctx, s.Key, mostTail)
	if err != nil {
		return nil, fmt.Errorf("read what became of the requests of %s: %w", s.ID, err)
	}
	return rs, nil
}

// Settled reports whether the entries from index first on must be taken for answered: they were, or
// nothing is known about them, because another process waits for the answer or has ended before it came.
func (t Tail) Settled(first int) bool {
	failed := false
	for i := range t {
		if t[i].Length <= first {
			continue
		}
		if !t[i].Failed() {
			return true
		}
		failed = true
	}
	return !failed
}

// endsAt reports whether a request was answered that held exactly the first n entries.
func (t Tail) endsAt(n int) bool {
	return slices.ContainsFunc(t, func(r store.Request) bool { return r.Length == n && r.Answered() })
}

// goesOn reports whether a request which lacks the entry with index first goes on with the answer that
// was given to it all the same: its client has left something out since, or rewritten it, as clients do
// with their reminders. A delegate that has other work in its place goes on with an answer of its own.
func (t Tail) goesOn(ctx context.Context, blobs store.Blobs, p *Match, r *Prompt, first int) (bool, error) {
	said, at := r.Answer(p.rest.next)
	removed := p.rest.next == at
	if len(said) == 0 || removed && t.endsAt(first) {
		return false, nil
	}
	stored := false
	for i := range t {
		if t[i].Length <= first || !t[i].Answered() || t[i].Answer.IsZero() {
			continue
		}
		stored = true
		content, err := blobs.Blobs(ctx, p.State.Tenant, t[i].Answer)
		if err != nil {
			return false, fmt.Errorf("read an answer in %s: %w", p.State.ID, err)
		}
		if sameAnswer(r.Dialect, content[0], said, p.sharesTail()) {
			return true, nil
		}
	}
	return removed && !stored, nil
}

// sharesTail reports whether the request has some of the conversation's tail.
func (p *Match) sharesTail() bool {
	spine := SpineOf(p.State)
	last := p.LastAnswer(spine)
	return slices.ContainsFunc(p.Entries, func(k int) bool { return k >= 0 && (last < 0 || k > spine[last]) })
}

// sameAnswer reports whether what a client has sent back is the answer with a content, thinking left
// out. Calls have ids that tell; words alone may be said twice, so they count only where the client has
// kept some of what they answer.
func sameAnswer(d dialect.Dialect, content []byte, said []*Block, shares bool) bool {
	doc, err := d.Parse(d.Assemble(&dialect.Parts{Answer: content}))
	if err != nil || len(doc.Conversation.Messages) != 1 {
		return false
	}
	var ids, sentIDs []string
	var text, sent string
	for i := range doc.Conversation.Messages[0].Blocks {
		b := &doc.Conversation.Messages[0].Blocks[i]
		ids, text = spoken(b, ids, text)
	}
	for _, a := range said {
		sentIDs, sent = spoken(a.Block, sentIDs, sent)
	}
	if len(ids) > 0 || len(sentIDs) > 0 {
		return slices.Equal(ids, sentIDs)
	}
	return shares && text != "" && text == sent
}

// spoken adds what a block of the assistant says to the ids of calls and to the text.
func spoken(b *decant.Block, ids []string, text string) ([]string, string) {
	switch b.Kind {
	case decant.KindUse:
		return append(ids, b.CallID), text
	case decant.KindText:
		return ids, text + b.Text()
	}
	return ids, text
}
