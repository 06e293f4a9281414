package engine_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
)

// locked is a store that another process may keep locked: a commit then waits for as long as its caller lets it.
type locked struct {
	engine.Store
	by    bool
	waits []time.Duration // how long each commit was let wait; 0: for ever
}

func (l *locked) Commit(ctx context.Context, b *store.Batch) (int64, error) {
	if !l.by {
		return l.Store.Commit(ctx, b)
	}
	wait := time.Duration(0)
	if until, ok := ctx.Deadline(); ok {
		wait = time.Until(until)
	}
	l.waits = append(l.waits, wait)
	return 0, store.ErrBusy
}

// TestALockedStoreIsWaitedForOnce guards what a lock may cost: the second of optional work, of one request. Those that
// follow know of it, until a commit succeeds.
func TestALockedStoreIsWaitedForOnce(t *testing.T) {
	k := newDialogue(t, engine.Options{})
	l := &locked{Store: k.store}
	k.store = l
	k.start(engine.Options{Logger: slog.New(slog.DiscardHandler), Timeouts: engine.Timeouts{Optional: time.Minute}})
	k.user("look")
	decide := func(n int) *engine.Prepared {
		k.round(n, strings.Repeat("\x1b[32mok\x1b[0m\n", 2000))
		return k.prepare()
	}
	meet := func(n int) {
		l.by = true
		if p := decide(n); !errors.Is(p.Fault, store.ErrBusy) || len(p.Report.Decisions) > 0 {
			t.Errorf("round %d: fault %v, %d decisions", n, p.Fault, len(p.Report.Decisions))
		}
		l.by = false
	}
	meet(1)
	meet(2)
	p := decide(3)
	for range 100 { // a slow machine may need more than is given now
		if p.Fault == nil {
			break
		}
		p = k.prepare()
	}
	if p.Fault != nil || len(p.Report.Decisions) == 0 {
		t.Fatalf("when the lock has gone: fault %v, %d decisions", p.Fault, len(p.Report.Decisions))
	}
	meet(4)
	if len(l.waits) != 3 {
		t.Fatalf("%d commits met the lock, want 3", len(l.waits))
	}
	for i, long := range []bool{true, false, true} {
		if w := l.waits[i]; w == 0 || w > time.Minute || long != (w > 10*time.Second) {
			t.Errorf("commit %d was let wait for %s, long: %t", i+1, w, long)
		}
	}
}

// A request that the provider has refused for its size has nothing without a pour: it waits for a locked store as long as
// necessary work may take, also when others have just waited in vain.
func TestARefusedRequestWaitsForALockedStore(t *testing.T) {
	k := newDialogue(t, engine.Options{})
	l := &locked{Store: k.store}
	k.store = l
	k.start(engine.Options{Logger: slog.New(slog.DiscardHandler), NoEarlyPours: true, Timeouts: engine.Timeouts{Optional: 20 * time.Second, Required: time.Minute}})
	k.user("look")
	for n := range 40 {
		k.round(n, strings.Repeat("a line of output that says nothing new\n", 100))
	}
	refused := k.prepare()
	l.by = true
	k.round(40, strings.Repeat("\x1b[32mok\x1b[0m\n", 2000))
	if p := k.prepare(); !errors.Is(p.Fault, store.ErrBusy) {
		t.Fatalf("fault %v, want that the store is busy", p.Fault)
	}
	l.waits = nil
	tooLong := []byte(`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 260000 tokens > 200000 maximum"}}`)
	if _, ok := k.engine.Recover(t.Context(), refused, 400, tooLong); ok {
		t.Error("it was made anew without a commit")
	}
	if len(l.waits) == 0 || l.waits[0] < 30*time.Second {
		t.Errorf("its commit was let wait for %v, want about a minute", l.waits)
	}
	l.by = false
	if _, ok := k.engine.Recover(t.Context(), refused, 400, tooLong); !ok {
		t.Error("it was not made anew when the lock had gone")
	}
}
