package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// markers are the markers for the cache, as agents write them.
var markers = regexp.MustCompile(`,"cache_control":\{"type":"ephemeral"(,"ttl":"1h")?\}`)

// received returns the messages of a request, in bytes, without markers.
func received(t *testing.T, body []byte) (out []string) {
	t.Helper()
	var request struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(body, &request); err != nil {
		t.Fatal(err)
	}
	for _, m := range request.Messages {
		out = append(out, markers.ReplaceAllString(string(m), ""))
	}
	return out
}

// requestOf returns what the sandbox has received first with a text in the last message.
func (w *world) requestOf(text string) []byte {
	w.Helper()
	for _, e := range w.server.Log.Entries() {
		if ms := received(w.T, e.Body); len(ms) > 0 && strings.Contains(ms[len(ms)-1], text) {
			return e.Body
		}
	}
	w.Fatalf("there is no request that ends with %q", text)
	return nil
}

// A member answers what it is told, reads a little when it is told to work, and asks two others when it is told to delegate.
func member(p *sandbox.Prompt) sandbox.Answer {
	last := p.Messages[len(p.Messages)-1].Blocks
	told, n := last[len(last)-1].Text, len(p.Messages)
	switch {
	case len(sandboxtest.Results(p)) > 0:
		return says(text("Done."))
	case strings.HasPrefix(told, "Delegate"):
		return says(use(fmt.Sprintf("toolu_a%d", n), "delegate", `{"task":"Task one."}`), use(fmt.Sprintf("toolu_b%d", n), "delegate", `{"task":"Task two."}`))
	case strings.HasPrefix(told, "Read"):
		return says(use(fmt.Sprintf("toolu_%d", n), "read", `{}`))
	}
	return says(text("I did: " + told))
}

func sizes(ms []json.RawMessage) (n int) {
	for _, m := range ms {
		n += len(m)
	}
	return n
}

// Delegates begin with the bytes that the model was sent when it asked for them, poured as they were, side by side; and what each
// of them says and pours afterwards stays its own.
func TestDelegatesBeginWithOneSnapshot(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(member))
	var mu sync.Mutex
	var seals []*Snapshot
	var begun []*Session
	both := make(chan bool)
	var other *Agent
	type args struct {
		Task string `json:"task"`
	}
	delegate := Func("delegate", "Delegates.", func(ctx context.Context, _ *Call, a args) (Result, error) {
		select {
		case both <- true:
		case <-both:
		}
		snap := SnapshotOf(ctx)
		s, err := other.Start(ctx, snap, "")
		if err != nil {
			return Result{}, err
		}
		_, o, err := finished(t, s.Run(ctx, a.Task))
		mu.Lock()
		defer mu.Unlock()
		seals, begun = append(seals, snap), append(begun, s)
		return Result{Text: o.Text}, err
	})
	delegate.Parallel = true
	read := readsMuch(40_000)
	o := Options{System: "You work.", Tools: []Tool{read, delegate}}
	other = w.agent(o)
	s := other.Session("")
	for i := range 24 {
		if _, _, err := finished(t, s.Run(t.Context(), fmt.Sprintf("Read file %d.", i))); err != nil {
			t.Fatal(err)
		}
	}
	all, _, err := finished(t, s.Run(t.Context(), "Delegate it."))
	if err != nil || count(all, EventResult) != 2 || len(seals) != 2 || seals[0] != seals[1] {
		t.Fatalf("%d snapshots, error %v", len(seals), err)
	}
	snap := seals[0]
	want, err := snap.Sent()
	if err != nil {
		t.Fatal(err)
	}
	coordinator := received(t, w.requestOf("Delegate it."))
	if sizes(snap.Messages()) < 2*sizes(want) {
		t.Error("nothing was poured before the delegation: the test is about less than it says")
	}
	for i, task := range []string{"Task one.", "Task two."} {
		got := received(t, w.requestOf(task))
		if len(got) != len(want)+1 || !slices.Equal(got[:len(want)], coordinator) || string(want[len(want)-1]) != coordinator[len(want)-1] {
			t.Errorf("%s begins with %d messages that are not the %d of the snapshot", task, len(got)-1, len(want))
		}
		if begun[i].Projection() != snap.Hash() || len(snap.Hash()) != 64 {
			t.Errorf("delegate %d began with %s, the snapshot is %s", i, begun[i].Projection(), snap.Hash())
		}
	}
	if SnapshotOf(t.Context()) != nil {
		t.Error("there is a snapshot outside of a call")
	}
	w.legal()
}

// An agent with a smaller window gets a projection, which has a hash of its own.
func TestASnapshotIsPouredWhereItDoesNotFit(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(member))
	var snap *Snapshot
	seal := Tool{Name: "delegate", Run: func(ctx context.Context, _ *Call) (Result, error) {
		snap = SnapshotOf(ctx)
		return Result{}, nil
	}}
	set, err := preset.Load("default")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := set.WithEarlyPours("off") // so that the snapshot is large
	if err != nil {
		t.Fatal(err)
	}
	o := Options{System: "You work.", Tools: []Tool{readsMuch(40_000), seal}, Preset: whole}
	s := w.agent(o).Session("")
	for i := range 8 {
		if _, _, err := finished(t, s.Run(t.Context(), fmt.Sprintf("Read file %d.", i))); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := finished(t, s.Run(t.Context(), "Delegate it.")); err != nil || snap == nil {
		t.Fatal(err)
	}
	small := *set
	small.Trigger.Window = 30_000
	o.Preset = &small
	f, err := w.agent(o).Start(t.Context(), snap, "")
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := finished(t, f.Run(t.Context(), "A small task."))
	if err != nil || count(all, EventPour) != 1 || f.Projection() == snap.Hash() || len(f.Projection()) != 64 {
		t.Errorf("a projection of %s is %s, error %v", snap.Hash(), f.Projection(), err)
	}
	w.legal()
}

// What is sent of a snapshot is the same where its conversation was poured meanwhile, at this very place, and where the engine knows
// nothing of it. It is the same once more when another process opens the session before it was answered.
func TestASnapshotIsSealed(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(member))
	var snap *Snapshot
	seal := Tool{Name: "delegate", Run: func(ctx context.Context, _ *Call) (Result, error) {
		snap = SnapshotOf(ctx)
		return Result{}, nil
	}}
	// Nothing is poured by itself, and there is something to pour by hand.
	roomy, err := preset.Parse("roomy.yaml", []byte("name: roomy\nbase: default\ntrigger: {window: 40000}\nearly_pours: {level: off}\n"))
	if err != nil {
		t.Fatal(err)
	}
	w.db.Close()
	if w.db, err = embedded.Open(t.Context(), w.path, &embedded.Options{Engine: engine.Options{Preset: roomy, Timeouts: sandboxtest.Patient}}); err != nil {
		t.Fatal(err)
	}
	var fails error
	o := Options{System: "You work.", Tools: []Tool{readsMuch(40_000), seal}, Journals: w.db.Store(), Project: "p",
		Hooks: Hooks{BeforeModel: func(context.Context, []byte) error { return fails }}}
	s := w.agent(o).Session("")
	for i := range 16 {
		if _, _, err := finished(t, s.Run(t.Context(), fmt.Sprintf("Read file %d.", i))); err != nil {
			t.Fatal(err)
		}
	}
	poured := false
	pourOnce := func(context.Context, *provider.Answer) error {
		for !poured {
			change, err := w.db.Engine().Preview(t.Context(), s.Conversation())
			if errors.Is(err, decant.ErrNothing) {
				return nil
			} else if err != nil {
				return err
			}
			if err = w.db.Engine().Apply(t.Context(), change); !errors.Is(err, decant.ErrStale) {
				poured = err == nil
				return err
			}
		}
		return nil
	}
	// Where it was poured just now there is nothing to pour: more is read, and it is tried again.
	asked := ""
	for n := 0; !poured && n < 8; n++ {
		o.Hooks.AfterModel = nil
		if _, _, err := finished(t, opened(t, w.agent(o), s.ID()).Run(t.Context(), fmt.Sprintf("Read file %d.", 16+n))); err != nil {
			t.Fatal(err)
		}
		o.Hooks.AfterModel, asked = pourOnce, fmt.Sprintf("Delegate it, try %d.", n)
		s = opened(t, w.agent(o), s.ID())
		if _, _, err := finished(t, s.Run(t.Context(), asked)); snap == nil {
			t.Fatal(err)
		}
	}
	if !poured {
		t.Fatal("there was never anything to pour")
	}
	o.Hooks.AfterModel = nil
	apart := *w
	if apart.db, err = embedded.Open(t.Context(), filepath.Join(t.TempDir(), "other.db"), &embedded.Options{Engine: engine.Options{Timeouts: sandboxtest.Patient}}); err != nil {
		t.Fatal(err)
	}
	defer apart.db.Close()
	coordinator := received(t, w.requestOf(asked))
	for where, w := range map[string]*world{"poured by hand": w, "another engine": &apart} {
		o.Journals = w.db.Store()
		fails = errors.New("not yet")
		if f, err := w.agent(o).Start(t.Context(), snap, "apart"); err != nil {
			t.Fatal(err)
		} else if _, _, err := finished(t, f.Run(t.Context(), "A task "+where+".")); !errors.Is(err, fails) {
			t.Fatal(err)
		}
		fails = nil
		f, err := w.agent(o).Start(t.Context(), snap, "apart") // as another process would
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := finished(t, f.Continue(t.Context())); err != nil || f.Projection() != snap.Hash() {
			t.Errorf("%s: error %v, projection %s of %s", where, err, f.Projection(), snap.Hash())
		}
		if got := received(t, w.requestOf("A task "+where)); len(got) != len(coordinator)+1 || !slices.Equal(got[:len(coordinator)], coordinator) {
			t.Errorf("%s: the session begins with %d messages that are not the %d of the snapshot", where, len(got)-1, len(coordinator))
		}
		if _, _, err := finished(t, f.Run(t.Context(), "Read more.")); err != nil {
			t.Errorf("%s: afterwards %v", where, err)
		}
		if f, err = w.agent(o).Start(t.Context(), snap, "apart"); err != nil || len(f.Messages()) != len(coordinator)+6 || f.Root() != "apart" {
			t.Errorf("%s: %d messages of %s, error %v", where, len(f.Messages()), f.Root(), err)
		}
	}
	w.legal()
}

// A pour that somebody takes back while a delegate begins leaves more in the conversation than the window takes. What was sealed has room, and
// is what the delegate is sent: no projection.
func TestASnapshotOutlivesAnUndo(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(member))
	var snap *Snapshot
	var s *Session
	seal := Tool{Name: "delegate", Run: func(ctx context.Context, _ *Call) (Result, error) {
		snap = SnapshotOf(ctx)
		return Result{}, undoAll(ctx, w.db.Engine(), s.Conversation())
	}}
	o := Options{System: "You work.", Tools: []Tool{readsMuch(40_000), seal}}
	s = w.agent(o).Session("")
	for i := range 24 {
		if _, _, err := finished(t, s.Run(t.Context(), fmt.Sprintf("Read file %d.", i))); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := finished(t, s.Run(t.Context(), "Delegate it.")); err != nil || snap == nil {
		t.Fatal(err)
	}
	f, err := w.agent(o).Start(t.Context(), snap, "")
	if err != nil {
		t.Fatal(err)
	}
	// A pour for money, of a plan that was ready in time, may follow the first request.
	if _, _, err := finished(t, f.Run(t.Context(), "A task.")); err != nil || f.Projection() != snap.Hash() {
		t.Errorf("projection %s of %s, error %v", f.Projection(), snap.Hash(), err)
	}
	coordinator := received(t, w.requestOf("Delegate it."))
	if got := received(t, w.requestOf("A task.")); len(got) != len(coordinator)+1 || !slices.Equal(got[:len(coordinator)], coordinator) {
		t.Errorf("the session begins with %d messages that are not the %d of the snapshot", len(got)-1, len(coordinator))
	}
	w.legal()
}

// undoAll takes all pours of a conversation back.
func undoAll(ctx context.Context, e *engine.Engine, k store.Key) error {
	for {
		change, err := e.Undo(ctx, k)
		if errors.Is(err, decant.ErrNothing) {
			return nil
		}
		if err == nil {
			err = e.Apply(ctx, change)
		}
		if err != nil && !errors.Is(err, decant.ErrStale) {
			return err
		}
	}
}

// A delegation that somebody allows in another process begins with what the model was sent in the first one.
func TestASnapshotIsTheSameElsewhere(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(member))
	var snap *Snapshot
	seal := Tool{Name: "delegate", Ask: true, Run: func(ctx context.Context, _ *Call) (Result, error) {
		snap = SnapshotOf(ctx)
		_, err := snap.Sent()
		return Result{Text: "ok"}, err
	}}
	o := Options{System: "You work.", Tools: []Tool{readsMuch(40_000), seal}, Journals: w.db.Store()}
	s := w.agent(o).Session("one")
	for i := range 24 {
		if _, _, err := finished(t, s.Run(t.Context(), fmt.Sprintf("Read file %d.", i))); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := finished(t, s.Run(t.Context(), "Delegate it.")); err != nil || len(s.Waiting()) != 2 {
		t.Fatalf("%d calls wait, error %v", len(s.Waiting()), err)
	}
	there := opened(t, w.elsewhere(o), "one")
	for _, c := range there.Waiting() {
		if _, _, err := finished(t, there.Resume(t.Context(), c.ID, Verdict{Kind: Allow})); err != nil {
			t.Fatal(err)
		}
	}
	sent, err := snap.Sent()
	if err != nil || sizes(snap.Messages()) < 2*sizes(sent) {
		t.Fatalf("%d bytes were sent of %d, error %v", sizes(sent), sizes(snap.Messages()), err)
	}
	for i, m := range received(t, w.requestOf("Delegate it.")) {
		if m != string(sent[i]) {
			t.Errorf("message %d is not what was sent:\n%.300s\n%.300s", i, sent[i], m)
		}
	}
	w.legal()
}
