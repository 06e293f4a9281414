package engine

import (
	"context"
	"fmt"

	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/store"
)

// announce notes in the store that a request is tried again which has failed before, so that no other
// process replaces what it ends with while its answer may come.
func (tk *ticket) announce(ctx context.Context) error {
	if tk.dr.Query.Request.Count || tk.dr.Query.Match.Stored == nil || tk.committed || !tk.dr.Query.Match.Repeats() {
		return nil
	}
	first := 0 // entry of the tail
	if spine := lineage.SpineOf(tk.dr.Query.Match.State); tk.dr.Query.Match.LastAnswer(spine) >= 0 {
		first = spine[tk.dr.Query.Match.LastAnswer(spine)] + 1
	}
	t, err := tk.e.finder.TailOf(ctx, tk.dr.Query.Match.State)
	if err != nil || t.Settled(first) {
		return err
	}
	if tk.announced, err = tk.dr.Query.Env.IDs.Next(); err != nil {
		return err
	}
	r := store.Request{ID: tk.announced, Time: tk.dr.Query.Env.Now().UTC(), Version: tk.dr.Query.Match.State.Version, Length: len(tk.dr.Query.Match.State.Chain), API: "anthropic", Model: tk.dr.Query.Refs.Conv.Model, Fixed: tk.dr.Query.Refs.Conv.Fixed.Version}
	ctx, cancel := tk.e.waiting(ctx)
	defer cancel()
	if err := tk.e.store.Record(ctx, tk.dr.Query.Match.Stored.Key, &store.Events{Requests: []store.Request{r}}); err != nil {
		return fmt.Errorf("note that a request is tried again: %w", err)
	}
	return nil
}
