package engine_test

import (
	"errors"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
)

// Several blocks are pinned by one change, all or none of them.
func TestPinsAreOneChange(t *testing.T) {
	k := newDialogue(t, engine.Options{})
	k.user("Do the work.")
	k.round(1, output("call_1", 7))
	k.round(2, output("call_2", 7))
	k.mustSend()
	k.engine.Close()
	key, refs := store.Key{ID: k.last.Conversation}, []decant.Ref{{Message: 1}, {Message: 3}, {Message: 5}}
	version := k.state().Version
	pin, err := k.engine.Pin(t.Context(), key, refs, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.engine.Apply(t.Context(), pin); err != nil {
		t.Fatal(err)
	}
	pins := 0
	for _, d := range k.state().Decisions {
		if d.Kind == decant.Pin {
			pins++
		}
	}
	if now := k.state().Version; pins != len(refs) || now != version+1 {
		t.Errorf("%d pins at version %d, want %d at %d", pins, now, len(refs), version+1)
	}
	if _, err := k.engine.Pin(t.Context(), key, nil, true); !errors.Is(err, decant.ErrNothing) {
		t.Errorf("pin no block: %v, want ErrNothing", err)
	}
	if _, err := k.engine.Pin(t.Context(), key, append(refs, decant.Ref{Message: 99}), true); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("pin a block that is not there: %v, want ErrNotFound", err)
	}
}
