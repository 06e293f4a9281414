package lookup

import (
	"context"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// Overview returns the overview of a conversation that was read from the store, with the view of it.
func Overview(ctx context.Context, c *store.Summary, t *archive.Transcript, view *decant.Conversation, catalog *token.Catalog) *report.Overview {
	model, _ := catalog.Lookup(c.Model)
	size := token.For(model)
	o := report.NewOverview(Session(c), t.Conversation, view.With(view.Live()), t.State.Decisions, size)
	for i := range o.Checkpoints {
		if r := &o.Checkpoints[i]; r.Foreign() {
			prove(ctx, r, t.Conversation.Messages[:max(0, t.Conversation.Index(r.To)+1)])
		}
	}
	o.Compacted(Compactions(ctx, t.Conversation, size))
	o.Hold, o.Answered = t.State.Head.Hold, t.Answered
	return o
}
