package engine

import (
	"context"
	"fmt"

	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/store"
)

// announce notes in the store that a request is tried again which has failed before, so that no other
// process replaces what it ends with while its answer may come.
func (a *attempt) announce(ctx context.Context) error {
	if a.req.Count || a.Stored == nil || a.committed || !a.Repeats() {
		return nil
	}
	first := 0 // entry of the tail
	if spine := lineage.SpineOf(a.State); a.LastAnswer(spine) >= 0 {
		first = spine[a.LastAnswer(spine)] + 1
	}
	t, err := a.e.finder.TailOf(ctx, a.State)
	if err != nil || t.Settled(first) {
		return err
	}
	if a.ticket, err = a.e.ids.Next(); err != nil {
		return err
	}
	r := store.Request{ID: a.ticket, Time: a.e.opts.Now().UTC(), Version: a.State.Version, Length: len(a.State.Chain), API: "anthropic", Model: a.Conv.Model, Fixed: a.Conv.Fixed.Version}
	ctx, cancel := a.e.waiting(ctx)
	defer cancel()
	if err := a.e.store.Record(ctx, a.Stored.Key, &store.Events{Requests: []store.Request{r}}); err != nil {
		return fmt.Errorf("note that a request is tried again: %w", err)
	}
	return nil
}
