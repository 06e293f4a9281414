package engine

import (
	"context"
	"fmt"

	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/store"
)

// announce notes in the store that a request is tried again which has failed before, so that no other
// process replaces what it ends with while its answer may come.
func (c *committer) announce(ctx context.Context) error {
	if c.tk.Draft.Query.Request.Count || c.tk.Draft.Query.Match.Stored == nil || c.tk.Committed || !c.tk.Draft.Query.Match.Repeats() {
		return nil
	}
	first := 0 // entry of the tail
	if spine := lineage.SpineOf(c.tk.Draft.Query.Match.State); c.tk.Draft.Query.Match.LastAnswer(spine) >= 0 {
		first = spine[c.tk.Draft.Query.Match.LastAnswer(spine)] + 1
	}
	t, err := c.e.finder.TailOf(ctx, c.tk.Draft.Query.Match.State)
	if err != nil || t.Settled(first) {
		return err
	}
	if c.tk.Announced, err = c.tk.Draft.Query.Env.IDs.Next(); err != nil {
		return err
	}
	r := store.Request{ID: c.tk.Announced, Time: c.tk.Draft.Query.Env.Now().UTC(), Version: c.tk.Draft.Query.Match.State.Version, Length: len(c.tk.Draft.Query.Match.State.Chain), API: "anthropic", Model: c.tk.Draft.Query.Refs.Conv.Model, Fixed: c.tk.Draft.Query.Refs.Conv.Fixed.Version}
	ctx, cancel := c.e.patience.Waiting(ctx)
	defer cancel()
	if err := c.e.store.Record(ctx, c.tk.Draft.Query.Match.Stored.Key, &store.Events{Requests: []store.Request{r}}); err != nil {
		return fmt.Errorf("note that a request is tried again: %w", err)
	}
	return nil
}
