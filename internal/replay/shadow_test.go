package replay

import (
	"reflect"
	"testing"

	"github.com/decantdev/decant/internal/recorded"
	"github.com/decantdev/decant/token"
)

// Checkpoints of a recorded session are held against candidates that nobody watched the agent for. What is counted adds
// up, and asking changes nothing else of the result.
func TestShadow(t *testing.T) {
	c := recorded.Session(t, recorded.Claude).Conversation
	models, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	play := func(shadow bool) *Session {
		p, err := Parse("default", "")
		if err != nil {
			t.Fatal(err)
		}
		s, err := Play("", c, Options{Policies: []Policy{p}, Catalog: models, Window: 50_000, Fixed: 1000, Shadow: shadow})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	with, without := play(true), play(false)
	sum := SumShadows([]*Session{with})
	if len(sum) != 1 || without.Shadows != nil {
		t.Fatalf("asked: %+v, not asked: %+v", sum, without.Shadows)
	}
	s := sum[0]
	if s.Checkpoints == 0 || s.Changed == 0 || s.Ungrounded.Strings == 0 {
		t.Errorf("nothing is proved: %+v", s)
	}
	for _, l := range []Lack{s.Absent, s.Ungrounded} {
		if l.Whole > l.Repaired || l.Repaired > l.Checkpoints || l.Checkpoints > s.Checkpoints || l.Kept > l.Strings || l.Kept < l.Repaired {
			t.Errorf("%+v of %d checkpoints", l, s.Checkpoints)
		}
	}
	if s.Absent.Strings > s.Ungrounded.Strings || s.Idle > s.Changed || s.Changed > s.Checkpoints {
		t.Errorf("%+v", s)
	}
	if r := s.Ready; r.Pours == 0 || r.Plans < r.Pours || r.Surprised+r.Lacking > r.Pours || r.False > r.Lacking || r.Swapped > r.Strings || r.First.Kept > r.First.Strings || r.First.Strings == 0 {
		t.Errorf("plans that were made ahead: %+v", r)
	}
	if !reflect.DeepEqual(with.Results, without.Results) {
		t.Errorf("asking changed the result:\n%+v\n%+v", with.Results, without.Results)
	}
}

// A string counts as kept only where the candidate lacked it and the checkpoint has it with its context.
func TestLack(t *testing.T) {
	var l Lack
	for _, s := range []struct{ had, grounded, has bool }{
		{true, true, true}, {true, false, false}, {false, true, true}, {false, false, true}, {false, false, false},
	} {
		l.take(s.had, s.grounded, s.has)
	}
	l.settle()
	if want := (Lack{Checkpoints: 1, Repaired: 1, Strings: 3, Kept: 1, Lost: 1}); l != want {
		t.Errorf("%+v, want %+v", l, want)
	}
	if sum := l.sum(l); sum.Strings != 6 || sum.Repaired != 2 {
		t.Errorf("%+v", sum)
	}
}
