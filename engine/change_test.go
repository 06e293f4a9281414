package engine_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// What is said about a change before it is made is what the next request shows: its size, what it lacks,
// and what of it is written again. Checkpoints that come back by an undo count.
func TestPreviewsComeTrue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		k := newDialogue(t, engine.Options{Window: 6_000, NoEarlyPours: rapid.Bool().Draw(rt, "no early pours")})
		k.model = rapid.SampledFrom([]string{"claude-sonnet-4-5", "claude-sonnet-5-5"}).Draw(rt, "model")
		k.extra = `"cache_control":{"type":"ephemeral"},`
		if k.model == "claude-sonnet-5-5" {
			k.extra += `"thinking":{"type":"adaptive"},`
		}
		k.user("Do the work.")
		c := changes{T: rt, dialogue: k}
		for n := range rapid.SampledFrom([]int{4, 10, 16}).Draw(rt, "steps") {
			k.round(n, output(fmt.Sprintf("call_%d", n), rapid.SampledFrom([]int{7, 20, 40}).Draw(rt, "size")))
			k.mustSend()
			for range rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(rt, "changes") {
				c.one()
			}
		}
	})
}

// The newest of several checkpoints is taken back: the one before it covers again what it covered, and that is
// what the undo announces.
func TestUndoBringsTheEarlierCheckpointBack(t *testing.T) {
	policy, err := preset.Load("orchestrator")
	if err != nil {
		t.Fatal(err)
	}
	k := newDialogue(t, engine.Options{Preset: policy})
	k.user("Do the work.")
	covers := 0
	for n := 0; covers < 2 && n < 80; n++ {
		k.round(n, output(fmt.Sprintf("call_%d", n), 27))
		k.mustSend()
		for _, d := range k.last.Report.Decisions {
			if d.Checkpoint != nil {
				covers++
			}
		}
	}
	if covers < 2 {
		t.Fatal("fewer than two checkpoints")
	}
	undo, err := k.engine.Undo(t.Context(), store.Key{ID: k.last.Conversation})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.engine.Apply(t.Context(), undo); err != nil {
		t.Fatal(err)
	}
	p, err := k.engine.Prepare(t.Context(), &engine.Request{Session: k.session, Body: k.body(), Count: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := undo.Plan.After.Fixed+undo.Plan.After.Messages, p.Report.Before; got != want || !strings.Contains(string(p.Body), "Decant record of m1-") {
		t.Errorf("%d tokens were announced, %d are there; a record in the view: %t", got, want, strings.Contains(string(p.Body), "Decant record of m1-"))
	}
}

// changes makes changes to a dialogue.
type changes struct {
	*rapid.T
	*dialogue
	pinned bool // several pins may hold more than the window, and then the provider refuses with good reason
}

func (c *changes) one() {
	key := store.Key{ID: c.last.Conversation}
	c.engine.Close()
	pins := "pin"
	if c.pinned {
		pins = "unpin"
	}
	what := rapid.SampledFrom([]string{"pour", "undo", "undo", "release", pins, "unpin"}).Draw(c.T, "what")
	c.pinned = c.pinned || what == "pin"
	var change *engine.Change
	var err error
	switch what {
	case "pour":
		change, err = c.engine.Preview(c.Context(), key)
	case "undo":
		change, err = c.engine.Undo(c.Context(), key)
	case "release":
		change, err = c.engine.Release(c.Context(), key)
	default:
		n := rapid.IntRange(1, len(c.ms)).Draw(c.T, "message")
		change, err = c.engine.Pin(c.Context(), key, []decant.Ref{{Message: n}}, what == "pin")
	}
	if irreducible := new(decant.IrreducibleError); errors.Is(err, decant.ErrNothing) || errors.Is(err, decant.ErrIllegal) || errors.As(err, &irreducible) {
		return // what is pinned may leave no legal view that fits the window, and the preview says so
	}
	if err != nil {
		c.T.Fatalf("%s: %v", what, err)
	}
	before := c.next()
	if err := c.engine.Apply(c.Context(), change); err != nil {
		c.T.Fatalf("%s: %v", what, err)
	}
	after := c.next()
	p := change.Plan
	if got, want := p.After.Fixed+p.After.Messages, after.Report.Before; got != want {
		c.T.Errorf("%s: %d tokens were announced (%d before), the next request has %d", what, got, p.Before.Fixed+p.Before.Messages, want)
	}
	if got, want := p.Price.Saved, after.Report.LeftOut-before.Report.LeftOut; got != want {
		c.T.Errorf("%s: %d tokens less were announced, the next request lacks %d more", what, got, want)
	}
	if lost, want := p.Price.CacheLost, c.behind(before.View(), after.View(), p.After.Messages); math.Abs(float64(lost)-want) > 1+want/50 {
		c.T.Errorf("%s: %d tokens were announced to be written again, behind the first change stand %.0f", what, lost, want)
	}
}

// next returns what would be sent for the conversation as it is.
func (c *changes) next() *engine.Prepared {
	p, err := c.engine.Prepare(c.Context(), &engine.Request{Session: c.session, Body: c.body(), Count: true})
	if err != nil || p.Fault != nil {
		c.T.Fatalf("prepare: %v, %v", err, p)
	}
	return p
}

// behind returns how many of a view's tokens, which are all together as many as given, stand in messages from
// the first on that is different before.
func (c *changes) behind(before, after *decant.Conversation, tokens int) float64 {
	m, _ := catalog().Lookup(c.model)
	est := token.For(m)
	n := 0
	for n < min(len(before.Messages), len(after.Messages)) && same(before.Messages[n], after.Messages[n]) {
		n++
	}
	if n == len(after.Messages) && n == len(before.Messages) {
		return 0
	}
	return float64(est.Messages(after.Messages[n:])) * float64(tokens) / float64(est.Messages(after.Messages))
}

func same(a, b decant.Message) bool {
	return slices.EqualFunc(a.Blocks, b.Blocks, func(x, y decant.Block) bool { return x.Kind == y.Kind && x.CallID == y.CallID && x.Text() == y.Text() })
}

// A plan that was applied leaves nothing worth leaving out, and what is legal is not folded.
func TestPlanAppliedTwice(t *testing.T) {
	for _, early := range []bool{false, true} {
		k := newDialogue(t, engine.Options{NoEarlyPours: !early, Window: 200_000})
		k.user("Do the work.")
		for n := range 12 {
			k.round(n, output(fmt.Sprintf("call_%d", n), 27))
			k.mustSend()
		}
		key := store.Key{ID: k.last.Conversation}
		for _, window := range []int{dialogueWindow, 1_000_000} {
			k.start(engine.Options{NoEarlyPours: !early, Window: window})
			pours := 0
			for ; pours < 5; pours++ {
				change, err := k.engine.Preview(t.Context(), key)
				if errors.Is(err, decant.ErrNothing) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if folded := len(change.Plan.Decisions) > 0 && change.Plan.Decisions[0].Checkpoint != nil && change.Plan.Decisions[0].Checkpoint.To == len(k.ms); folded {
					t.Errorf("window %d: everything is folded: %s", window, change.Plan.Reason)
				}
				if err := k.engine.Apply(t.Context(), change); err != nil {
					t.Fatal(err)
				}
			}
			// Where early pours are allowed, one for money may come before the one that the window asks for.
			most := 1
			if early {
				most = 2
			}
			if window == dialogueWindow && (pours > most || pours == 0 && !early) || window > dialogueWindow && pours > 0 {
				t.Errorf("window %d: %d plans, one after the other, were worth it", window, pours)
			}
		}
	}
}

// What is kept stays kept through other changes, and keeping changes nothing else.
func TestKeep(t *testing.T) {
	k := newDialogue(t, engine.Options{})
	k.pour()
	key := store.Key{ID: k.last.Conversation}
	head := func() store.Head { return k.state().Head }
	apply := func(change *engine.Change, err error) {
		t.Helper()
		if err == nil {
			err = k.engine.Apply(t.Context(), change)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	was, decisions := head(), len(k.state().Decisions)
	apply(k.engine.Keep(t.Context(), key, true))
	if now := head(); !now.Pinned || now.Hold != was.Hold || now.Model != was.Model || len(k.state().Decisions) != decisions {
		t.Errorf("kept: %+v with %d decisions, before %+v with %d", now, len(k.state().Decisions), was, decisions)
	}
	change, err := k.engine.Keep(t.Context(), key, false)
	if err != nil {
		t.Fatal(err)
	}
	apply(k.engine.Undo(t.Context(), key))
	if now := head(); !now.Pinned || !now.Hold {
		t.Errorf("after an undo: %+v, want it kept and on hold", now)
	}
	if err := k.engine.Apply(t.Context(), change); !errors.Is(err, decant.ErrStale) {
		t.Errorf("a change for an earlier version: %v, want ErrStale", err)
	}
	apply(k.engine.Keep(t.Context(), key, false))
	if now := head(); now.Pinned || !now.Hold {
		t.Errorf("kept no longer: %+v, want it on hold still", now)
	}
}
