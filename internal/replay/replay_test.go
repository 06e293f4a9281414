package replay

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant/testing/recorded"
	"github.com/decantdev/decant/token"
)

func options(tb testing.TB, names ...string) Options {
	tb.Helper()
	models, err := token.Builtin()
	if err != nil {
		tb.Fatal(err)
	}
	o := Options{Catalog: models, Details: true}
	for _, n := range names {
		p, err := Parse(n, "")
		if err != nil {
			tb.Fatal(err)
		}
		o.Policies = append(o.Policies, p)
	}
	return o
}

func play(tb testing.TB, name string, o Options) *Session {
	tb.Helper()
	s, err := Play(name, recorded.Session(tb, name).Conversation, o)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestEveryPolicyIsLegalAndNoneMissesNothing(t *testing.T) {
	names := append(Defaults(), "agent-loop", "chat", "orchestrator", "trim-500", "keep-last-3")
	for _, file := range []string{recorded.Claude, recorded.Codex} {
		s := play(t, file, options(t, names...))
		for i := range s.Results {
			r := &s.Results[i]
			if r.Requests < 10 || r.Requests != s.Results[0].Requests || r.Gold != s.Results[0].Gold {
				t.Errorf("%s: %s played %d requests with %d strings", file, r.Policy, r.Requests, r.Gold)
			}
			if r.Illegal > 0 {
				t.Errorf("%s: %s broke %d rules", file, r.Policy, r.Illegal)
			}
			if r.Grounded > r.Kept || r.Kept > r.Gold {
				t.Errorf("%s: %s kept %d of %d and grounded %d", file, r.Policy, r.Kept, r.Gold, r.Grounded)
			}
		}
		if none := &s.Results[1]; none.Recall() != 1 || none.GroundedRecall() != 1 || none.Busts != 0 || none.AtRisk != 0 {
			t.Errorf("%s: sending everything misses something: %+v", file, none)
		}
	}
}

// The session in the repository is short and its fixed part is large, so there is little to save; but
// there must be no loss, and the order of the levels must be about right: each pours once, in the form that costs
// least for each fact, and the one that keeps more facts may cost more.
func TestDefaultIsCheaperAtHighRecall(t *testing.T) {
	o := options(t, "none", "default", "default:low", "default:high", "keep-last-10")
	s := play(t, recorded.Claude, o)
	share := func(i int) float64 { return s.Results[i].USD / s.Results[0].USD }
	def := &s.Results[1]
	if share(1) > 0.93 || def.Recall() < 0.97 || def.GroundedRecall() < 0.9 {
		t.Errorf("default costs %.3f with recall %.3f and %.3f grounded", share(1), def.Recall(), def.GroundedRecall())
	}
	if share(2) < share(1) || share(3) > share(1)+0.02 {
		t.Errorf("low, default and high cost %.3f, %.3f and %.3f", share(2), share(1), share(3))
	}
	if share(4) < 1 {
		t.Errorf("clearing on every request costs %.3f: the cache is not priced", share(4))
	}
	if def.Busts*100 > 6*def.Requests {
		t.Errorf("the prefix was rewritten %d times in %d requests", def.Busts, def.Requests)
	}
}

func TestPlayingTwiceGivesTheSame(t *testing.T) {
	o := options(t, "none", "trim", "default")
	if diff := cmp.Diff(play(t, recorded.Claude, o), play(t, recorded.Claude, o)); diff != "" {
		t.Error(diff)
	}
}

func TestPartsAddUp(t *testing.T) {
	o := options(t, "none", "trim", "default")
	a, b := play(t, recorded.Claude, o), play(t, recorded.Codex, o)
	sum := Sum([]*Session{a, b})
	for i, total := range sum {
		x, y := a.Results[i], b.Results[i]
		if total.Usage != x.Usage.Add(y.Usage) || total.Requests != x.Requests+y.Requests || total.Kept != x.Kept+y.Kept {
			t.Errorf("%s: %+v is not the sum of its parts", total.Policy, total)
		}
		usd := 0.0
		for _, p := range append(x.Series, y.Series...) {
			usd += p.USD
		}
		if math.Abs(usd-total.USD) > 1e-9 {
			t.Errorf("%s: the requests cost %v, the total is %v", total.Policy, usd, total.USD)
		}
	}
}

func TestSmallWindowForcesCheckpoints(t *testing.T) {
	o := options(t, "none", "default:off", "drop-oldest")
	o.Window = 40_000
	o.Fixed = 2000
	s := play(t, recorded.Claude, o)
	if s.Results[0].Burst == 0 || s.Results[0].FirstBurst == 0 {
		t.Error("everything fits a window of 40,000 tokens")
	}
	for _, r := range s.Results[1:] {
		if r.Burst > 0 || r.Illegal > 0 {
			t.Errorf("%s: %d requests over the window, %d broken rules", r.Policy, r.Burst, r.Illegal)
		}
	}
	if s.Results[1].Necessary == 0 {
		t.Error("the preset never poured")
	}
}

func TestParseNamesWhatIsWrong(t *testing.T) {
	for _, name := range []string{"nothing", "default:some", "./no-such-file.yaml"} {
		if p, err := Parse(name, ""); err == nil {
			t.Errorf("%q was read as %+v", name, p)
		}
	}
}

func BenchmarkPlay(b *testing.B) {
	o := options(b, Defaults()...)
	o.Details = false
	c := recorded.Session(b, recorded.Claude).Conversation
	n := 0
	for i := range c.Messages {
		n += len(c.Messages[i].Text())
	}
	b.SetBytes(int64(n))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Play(recorded.Claude, c, o); err != nil {
			b.Fatal(err)
		}
	}
}
