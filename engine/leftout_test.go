package engine_test

import (
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/store"
)

// What a view lacks counts once: of checkpoints the newest that was not taken back.
func TestLeftOut(t *testing.T) {
	stub := func(id string, message, before, after int) decant.Decision {
		return decant.Decision{ID: id, Kind: decant.Stub, Target: decant.Target{Ref: decant.Ref{Message: message}}, Before: before, After: after}
	}
	cover := func(id string, from, to, before, after int) decant.Decision {
		return decant.Decision{ID: id, Kind: decant.Cover, Checkpoint: &decant.Checkpoint{From: from, To: to, Original: before, Compressed: after}}
	}
	revoke := func(id string) decant.Decision {
		return decant.Decision{ID: "r" + id, Kind: decant.Revoke, Revokes: id}
	}
	for _, tt := range []struct {
		name string
		ds   []decant.Decision
		want int
	}{
		{"Nothing", nil, 0},
		{"Edits", []decant.Decision{stub("a", 2, 100, 10), stub("b", 4, 50, 5)}, 135},
		{"TwoOfOneBlock", []decant.Decision{stub("a", 2, 100, 40), stub("b", 2, 40, 5)}, 95},
		{"RevokedEdit", []decant.Decision{stub("a", 2, 100, 10), stub("b", 4, 50, 5), revoke("a")}, 45},
		{"CoveredEdit", []decant.Decision{stub("a", 2, 100, 10), stub("b", 9, 50, 5), cover("c", 1, 8, 1000, 100)}, 945},
		{"SupersededCheckpoint", []decant.Decision{cover("c", 1, 8, 1000, 100), cover("d", 1, 16, 2000, 150)}, 1850},
		{"RevokedCheckpoint", []decant.Decision{stub("a", 2, 100, 10), cover("c", 1, 8, 1000, 100), cover("d", 1, 16, 2000, 150), revoke("d")}, 900},
		{"PinsAndHolds", []decant.Decision{{ID: "p", Kind: decant.Pin, Before: 7}, {ID: "h", Kind: decant.Hold}}, 0},
	} {
		if got := policy.LeftOut(tt.ds); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}

// A plan says exactly what will be left out once it is applied.
func TestAPlanSavesWhatIsLeftOut(t *testing.T) {
	k := newDialogue(t, engine.Options{})
	k.pour()
	k.round(99, output("call_99", 20))
	k.mustSend()
	key := store.Key{ID: k.last.Conversation}
	before := policy.LeftOut(k.state().Live())
	undo, err := k.engine.Undo(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.engine.Apply(t.Context(), undo); err != nil {
		t.Fatal(err)
	}
	after := policy.LeftOut(k.state().Live())
	if got := undo.Plan.Price.Saved; before == 0 || after-before != got {
		t.Errorf("the plan saves %d tokens; %d are left out instead of %d", got, after, before)
	}
	pour, err := k.engine.Preview(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.engine.Apply(t.Context(), pour); err != nil {
		t.Fatal(err)
	}
	if got, now := pour.Plan.Price.Saved, policy.LeftOut(k.state().Live()); got <= 0 || now-after != got {
		t.Errorf("the plan saves %d tokens; %d are left out instead of %d", got, now, after)
	}
}
