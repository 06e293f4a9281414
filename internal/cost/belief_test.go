package cost_test

import (
	"testing"
	"time"

	"github.com/decantdev/decant/internal/cost"
)

// What other conversations keep warm, system prompt and tools, is no evidence about the messages.
func TestTestify(t *testing.T) {
	for _, tt := range []struct {
		name              string
		left, fixed, read int
		want              cost.Testimony
	}{
		{"Everything", 50_000, 10_000, 50_000, cost.Kept},
		{"Nothing", 50_000, 10_000, 0, cost.Lost},
		{"FixedPartAlone", 50_000, 10_000, 10_000, cost.Lost},
		{"FixedPartLargerThanEstimated", 50_000, 10_000, 12_000, cost.Lost},
		{"FirstWordsToo", 50_000, 10_000, 14_000, cost.Lost},
		{"MostOfIt", 50_000, 10_000, 40_000, cost.Kept},
		{"HardlyMoreThanTheFixedPart", 13_000, 10_000, 13_000, cost.Silent},
		{"FewMessages", 900, 0, 900, cost.Silent},
	} {
		if got := cost.Testify(tt.left, tt.fixed, tt.read); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestBelief(t *testing.T) {
	change := cost.Moment{Changed: true, Asked: true, Pause: time.Minute, Life: 5 * time.Minute}
	late := cost.Moment{Asked: true, Pause: 20 * time.Minute, Life: 5 * time.Minute}
	soon := cost.Moment{Asked: true, Pause: time.Minute, Life: 5 * time.Minute}
	unasked := cost.Moment{Pause: time.Minute}
	night := cost.Moment{Pause: 10 * time.Hour}

	var b cost.Belief
	if !b.Moves() || b.Life(5*time.Minute) != 5*time.Minute || b.Life(0) < 24*time.Hour {
		t.Errorf("untaught: %+v", b)
	}
	if b = b.Learn(change, cost.Kept); b.Moves() {
		t.Error("a change after which everything was read is still believed")
	}
	if b = b.Learn(change, cost.Lost); !b.Moves() {
		t.Error("a change after which nothing was read is not believed")
	}
	if b = b.Acted(); b.Moves() || b.Learn(change, cost.Silent).Moves() {
		t.Error("what was acted upon in vain is acted upon again")
	}
	if !b.Learn(soon, cost.Silent).Moves() || !b.Learn(change, cost.Lost).Moves() {
		t.Error("a change that lasted, or one that was confirmed, is not believed")
	}
	if b = b.Learn(late, cost.Kept); b.Life(5*time.Minute) != 20*time.Minute {
		t.Errorf("kept for 20 minutes, believed to be kept for %v", b.Life(5*time.Minute))
	}
	if b = b.Learn(soon, cost.Lost); b.Life(5*time.Minute) != 5*time.Minute {
		t.Errorf("lost after a minute, believed to be kept for %v", b.Life(5*time.Minute))
	}
	if got := b.Learn(unasked, cost.Lost); got.Life(0) != 0 {
		t.Errorf("not kept where no marker asks, believed to be kept for %v", got.Life(0))
	}
	b = b.Learn(unasked, cost.Kept)
	if b.Life(0) < 24*time.Hour || b.Learn(unasked, cost.Lost).Life(0) < 24*time.Hour {
		t.Error("kept unasked, and one miss after a minute ends the belief")
	}
	if b = b.Learn(night, cost.Lost); b.Life(0) >= 10*time.Hour || b.Life(0) < 9*time.Hour {
		t.Errorf("lost after ten hours, believed to be kept for %v", b.Life(0))
	}
	if b = b.Learn(night, cost.Kept); b.Life(0) < 10*time.Hour {
		t.Errorf("kept for ten hours, believed to be kept for %v", b.Life(0))
	}
}
