package decant_test

import (
	"testing"

	"github.com/decantdev/decant"
)

// The newest checkpoint that was not taken back is the one in force, wherever the decision stands that takes it back.
func TestCheckpointIn(t *testing.T) {
	first, second := &decant.Checkpoint{Number: 1}, &decant.Checkpoint{Number: 2}
	one := decant.Decision{ID: "one", Kind: decant.Cover, Checkpoint: first}
	two := decant.Decision{ID: "two", Kind: decant.Cover, Checkpoint: second}
	back := func(id string) decant.Decision {
		return decant.Decision{ID: "back " + id, Kind: decant.Revoke, Revokes: id}
	}
	other := decant.Decision{ID: "other", Kind: decant.Hold}
	for _, tt := range []struct {
		ds   []decant.Decision
		want *decant.Checkpoint
	}{
		{nil, nil},
		{[]decant.Decision{other}, nil},
		{[]decant.Decision{one, other}, first},
		{[]decant.Decision{one, two, other}, second},
		{[]decant.Decision{one, two, back("two")}, first},
		{[]decant.Decision{back("two"), one, two}, first},
		{[]decant.Decision{one, two, back("one")}, second},
		{[]decant.Decision{one, back("one"), other}, nil},
	} {
		if got := decant.CheckpointIn(tt.ds); got != tt.want {
			t.Errorf("%+v: got %+v, want %+v", tt.ds, got, tt.want)
		}
	}
}
