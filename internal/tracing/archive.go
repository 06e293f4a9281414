package tracing

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
)

// Store returns s with a span for every commit. The span is a child of the request's span or, if answers are archived
// after the requests, a trace of its own with links to the requests. Without tracing Store returns s itself.
func (t *Tracing) Store(s engine.Store) engine.Store {
	if t == nil {
		return s
	}
	return &traced{s, t}
}

// traced is a store whose commits are traced.
type traced struct {
	engine.Store
	t *Tracing
}

// Commit implements store.Committer.
func (s *traced) Commit(ctx context.Context, b *store.Batch) (int64, error) {
	ctx, end := s.t.commit(ctx, b.ID, len(b.Entries), len(b.Events.Requests))
	v, err := s.Store.Commit(ctx, b)
	end(err)
	return v, err
}

// Record implements store.Committer.
func (s *traced) Record(ctx context.Context, k store.Key, e *store.Events) error {
	ctx, end := s.t.commit(ctx, k.ID, 0, len(e.Requests))
	err := s.Store.Record(ctx, k, e)
	end(err)
	return err
}

// commit begins the span of a commit to a conversation, of some blocks and requests.
func (t *Tracing) commit(ctx context.Context, conversation string, blocks, requests int) (context.Context, func(error)) {
	var span trace.Span
	var links []trace.Link
	switch at := trace.SpanFromContext(ctx); {
	case at.IsRecording():
		ctx, span = t.tracer.Start(ctx, "decant.commit")
	case !at.SpanContext().IsValid():
		links = t.waiting.of(conversation)
	}
	if len(links) > 0 {
		ctx, span = t.tracer.Start(ctx, "decant.archive", trace.WithLinks(links...))
	}
	if span == nil {
		return ctx, func(error) {}
	}
	span.SetAttributes(conversationID.String(conversation), blockCount.Int(blocks), requestCount.Int(requests))
	return ctx, func(err error) {
		if err != nil {
			failed(span, kindOf(err))
		} else {
			t.waiting.remove(conversation, len(links))
		}
		span.End()
	}
}

// waiting holds the recorded requests that have not been archived yet, by conversation.
type waiting struct {
	mu sync.Mutex
	by map[string]*await
}

// An await holds the waiting requests of one conversation.
type await struct {
	since time.Time // of the last of them
	links []trace.Link
}

// The waiting requests are limited, because some are never archived. Archives come a second later.
const (
	mostConversations = 4096
	mostLinks         = 64
	longestWait       = time.Minute
)

// add notes that a request of a conversation is to be archived.
func (w *waiting) add(conversation string, at trace.SpanContext) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.by == nil {
		w.by = map[string]*await{}
	}
	a := w.by[conversation]
	if a == nil {
		if !w.room() {
			return
		}
		a = &await{}
		w.by[conversation] = a
	}
	a.since = time.Now()
	if len(a.links) < mostLinks {
		a.links = append(a.links, trace.Link{SpanContext: at})
	}
}

// room reports whether there is room for another conversation, and makes room by dropping what has waited too long.
func (w *waiting) room() bool {
	if len(w.by) < mostConversations {
		return true
	}
	for id, a := range w.by {
		if time.Since(a.since) > longestWait {
			delete(w.by, id)
		}
	}
	return len(w.by) < mostConversations
}

// of returns links to what waits in a conversation.
func (w *waiting) of(conversation string) []trace.Link {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.by[conversation]
	if a == nil {
		return nil
	}
	return append([]trace.Link(nil), a.links...)
}

// remove forgets the first n of what waits in a conversation.
func (w *waiting) remove(conversation string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.by[conversation]
	if a == nil || n == 0 {
		return
	}
	if a.links = a.links[min(n, len(a.links)):]; len(a.links) == 0 {
		delete(w.by, conversation)
	}
}
