package replay

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/recorded"
	"github.com/decantdev/decant/token"
)

// everyRequest is the preset chat, pruning on every request.
const everyRequest = "testdata/every-request.yaml"

func parsed(t *testing.T, name string) Policy {
	t.Helper()
	p, err := Parse(name, "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A preset's view is grown from the one before; it must be the view of all decisions.
func TestGrownViewIsTheWholeView(t *testing.T) {
	for _, name := range []string{"default:high", "agent-loop", "chat", everyRequest, "night-watch"} {
		policy := parsed(t, name)
		p := policy.start(played(t, recorded.Claude, &Options{Model: "claude-opus-4-6", Fixed: 1000, Window: 50_000})).(*pourer)
		seg := p.seg
		pours := 0
		for q := range seg.requests {
			n := seg.requests[q].messages
			s, err := p.view(q)
			if err != nil {
				t.Fatal(err)
			}
			if s.reason != "" {
				pours++
			}
			want, err := decant.View(seg.conv.With(seg.conv.Messages[:n]), p.ds)
			if err != nil {
				t.Fatal(err)
			}
			texts := cmp.Transformer("text", func(b decant.Block) string { return string(b.Kind) + b.CallID + b.Changed + b.Text() })
			if diff := cmp.Diff(want.Messages, s.messages, texts, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%s, request %d:\n%s", name, q+1, diff)
			}
		}
		if pours == 0 {
			t.Errorf("%s never poured", name)
		}
	}
}

// Pruning on every request rewrites the cache with each of them.
func TestPruningOnEveryRequestHasAPrice(t *testing.T) {
	cost := map[string]float64{}
	for _, name := range []string{"none", "chat", everyRequest} {
		p := parsed(t, name)
		catalog, err := token.Builtin()
		if err != nil {
			t.Fatal(err)
		}
		s, err := Play(name, recorded.Session(t, recorded.Claude).Conversation, Options{Policies: []Policy{p}, Catalog: catalog})
		if err != nil {
			t.Fatal(err)
		}
		r := &s.Results[0]
		cost[name] = r.USD
		if pruned := r.Necessary > 10; pruned != (name == everyRequest) {
			t.Errorf("%s: %d pours by rule", name, r.Necessary)
		}
	}
	if got := cost[everyRequest] / cost["none"]; got < 1.3 {
		t.Errorf("pruning on every request costs %.2f times as much as doing nothing, want more than 1.3", got)
	}
	if cost["chat"] > cost["none"] {
		t.Errorf("pruning at pours costs %.2f, doing nothing %.2f", cost["chat"], cost["none"])
	}
}
