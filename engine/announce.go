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
	if tk.req.Count || tk.Stored == nil || tk.committed || !tk.Repeats() {
		return nil
	}
	first := 0 // entry of the tail
	if spine := lineage.SpineOf(tk.State); tk.LastAnswer(spine) >= 0 {
		first = spine[tk.LastAnswer(spine)] + 1
	}
	t, err := tk.e.finder.TailOf(ctx, tk.State)
	if err != nil || t.Settled(first) {
		return err
	}
	if tk.announced, err = tk.e.ids.Next(); err != nil {
		return err
	}
	r := store.Request{ID: tk.announced, Time: tk.e.opts.Now().UTC(), Version: tk.State.Version, Length: len(tk.State.Chain), API: "anthropic", Model: tk.Conv.Model, Fixed: tk.Conv.Fixed.Version}
	ctx, cancel := tk.e.waiting(ctx)
	defer cancel()
	if err := tk.e.store.Record(ctx, tk.Stored.Key, &store.Events{Requests: []store.Request{r}}); err != nil {
		return fmt.Errorf("note that a request is tried again: %w", err)
	}
	return nil
}
