package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/store"
)

// A reluctant store takes longer for a commit than anybody waits, or fails in another way.
type reluctant struct {
	engine.Store
	commit func(ctx context.Context, s engine.Store, b *store.Batch) (int64, error) // nil: as the store does it
}

func (s *reluctant) Commit(ctx context.Context, b *store.Batch) (int64, error) {
	if s.commit == nil {
		return s.Store.Commit(ctx, b)
	}
	return s.commit(ctx, s.Store, b)
}

// slownesses are ways in which a commit may not be made.
var slownesses = map[string]func(context.Context, engine.Store, *store.Batch) (int64, error){
	"BusyAtOnce": func(context.Context, engine.Store, *store.Batch) (int64, error) { return 0, store.ErrBusy },
	"BusyInTheEnd": func(ctx context.Context, _ engine.Store, _ *store.Batch) (int64, error) {
		<-ctx.Done()
		return 0, fmt.Errorf("commit: %w", store.ErrBusy)
	},
	"GivenUp": func(ctx context.Context, _ engine.Store, _ *store.Batch) (int64, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	},
	"BrokenInTheEnd": func(ctx context.Context, _ engine.Store, _ *store.Batch) (int64, error) {
		<-ctx.Done()
		return 0, errors.New("the disk is full")
	},
	"MadeTooLate": func(ctx context.Context, s engine.Store, b *store.Batch) (int64, error) {
		<-ctx.Done()
		return s.Commit(context.WithoutCancel(ctx), b)
	},
}

// unstored returns which of the decisions that a request leaves with are not in the store.
func unstored(k *dialogue, p *engine.Prepared) (out []string) {
	k.Helper()
	stored := map[string]bool{}
	if p.Conversation != "" {
		s, err := k.store.Load(k.Context(), store.Key{ID: p.Conversation}, store.Newest)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			k.Fatal(err)
		}
		if err == nil {
			for _, d := range s.Decisions {
				stored[d.ID] = true
			}
		}
	}
	for _, d := range p.Report.Decisions {
		if !stored[d.ID] {
			out = append(out, fmt.Sprintf("%s %s", d.ID, d.Kind))
		}
	}
	return out
}

// What was decided about a request is stored before its bytes leave, also when the store is slower than anybody waits for it: then
// the request leaves without. Otherwise nobody would know later what the model was sent.
func TestDecisionsAreStoredBeforeTheyLeave(t *testing.T) {
	for name, commit := range slownesses {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newDialogue(t, engine.Options{})
				s := &reluctant{Store: k.store}
				k.store = s
				k.start(engine.Options{Logger: slog.New(slog.DiscardHandler), NoEarlyPours: true, ArchiveDelay: -1, Timeouts: engine.Timeouts{Optional: 20 * time.Second, Required: time.Minute}})
				k.user("look")
				for n, slowly := range []bool{false, true, true, false} {
					k.round(n, strings.Repeat(fmt.Sprintf("\x1b[32mok %d\x1b[0m\n", n), 100))
					if s.commit = nil; slowly {
						s.commit = commit
					}
					p := k.prepare()
					s.commit = nil
					if lost := unstored(k, p); len(lost) > 0 {
						t.Errorf("request %d leaves with what is not stored: %q (fault %v)", n, lost, p.Fault)
					}
					if with := len(p.Report.Decisions) > 0; with != (p.Fault == nil) || !slowly && !with {
						t.Errorf("request %d, slowly: %v: %d decisions, fault %v", n, slowly, len(p.Report.Decisions), p.Fault)
					}
					if colours := strings.Contains(string(p.Body), fmt.Sprintf(`[32mok %d`, n)); colours != (p.Fault != nil) {
						t.Errorf("request %d: fault %v, as the client sent it: %v", n, p.Fault, colours)
					}
					time.Sleep(time.Minute) // nobody takes the store for busy any longer
				}
				finish(k)
			})
		})
	}
}

// The same holds for a pour that a refusal of the provider demands: it is made anew with what is stored, or not at all.
func TestARecoveredRequestIsStoredBeforeItLeaves(t *testing.T) {
	for name, commit := range slownesses {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newDialogue(t, engine.Options{})
				s := &reluctant{Store: k.store}
				k.store = s
				k.start(engine.Options{Logger: slog.New(slog.DiscardHandler), NoEarlyPours: true, ArchiveDelay: -1, Window: 100_000, Timeouts: engine.Timeouts{Optional: 20 * time.Second, Required: time.Minute}})
				k.user("look")
				for n := range 8 {
					k.round(n, strings.Repeat("a line of output that says nothing new\n", 100))
				}
				refused := k.prepare()
				tooLong := []byte(`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 260000 tokens > 200000 maximum"}}`)
				s.commit = commit
				p, ok := k.engine.Recover(t.Context(), refused, 400, tooLong)
				s.commit = nil
				if made := name == "MadeTooLate"; ok != made {
					t.Fatalf("made anew: %v", ok)
				}
				if !ok {
					if p, ok = k.engine.Recover(t.Context(), refused, 400, tooLong); !ok {
						t.Fatal("it is not made anew when the store has time again")
					}
				}
				if lost := unstored(k, p); len(lost) > 0 || len(p.Report.Decisions) == 0 || p.Report.Reason != policy.Overflow {
					t.Errorf("poured (%s): it leaves with %d decisions, not stored: %q", p.Report.Reason, len(p.Report.Decisions), lost)
				}
				k.last = p
				finish(k)
			})
		})
	}
}
