package policy

import (
	"context"
	"sync"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider"
)

// Once returns a Summarizer that asks s once for the same messages, whether it fails or not, as long as what
// it wrote has room. It is for a pour that has to be made again, because another request of the conversation
// came in between. For nil and Extractive it returns these.
func Once(s provider.Summarizer) provider.Summarizer {
	if _, same := s.(Extractive); s == nil || same {
		return s
	}
	return &once{ask: s}
}

type once struct {
	ask provider.Summarizer

	mu      sync.Mutex
	asked   bool
	of      decant.Hash // the messages that it was asked for
	written provider.Summary
	err     error
}

// Summarize asks, or returns what was written before.
func (o *once) Summarize(ctx context.Context, in provider.SummaryInput) (provider.Summary, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	of := (&decant.Conversation{Messages: in.Messages}).Hash()
	if o.asked && o.of == of && in.Counter.Count(o.written.Text) <= in.MaxTokens {
		return o.written, o.err
	}
	o.asked, o.of = true, of
	o.written, o.err = o.ask.Summarize(ctx, in)
	return o.written, o.err
}
