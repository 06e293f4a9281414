package measure_test

import (
	"context"
	"iter"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/enginetest"
	"github.com/decantdev/decant/internal/sandboxtest"
	"github.com/decantdev/decant/internal/triage"
	"github.com/decantdev/decant/internal/triage/analyst"
	"github.com/decantdev/decant/internal/triage/code"
	"github.com/decantdev/decant/internal/triage/event"
	"github.com/decantdev/decant/internal/triage/investigate"
	"github.com/decantdev/decant/internal/triage/layer"
	"github.com/decantdev/decant/internal/triage/mask"
	"github.com/decantdev/decant/internal/triage/report"
	"github.com/decantdev/decant/internal/triage/source"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const modelID = "claude-sonnet-4-5"

// A world is programs and their errors.
type world struct {
	events   []event.Event
	repos    []code.Repo
	services map[string]string
	now      time.Time

	budget  int // tokens for each error; 0: the default
	analyst analyst.Analyst
}

// told is a source of events.
type told []event.Event

func (told) Name() string                { return "test" }
func (told) Check(context.Context) error { return nil }
func (t told) Events(_ context.Context, in source.Window) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range t {
			if in.Contains(e.Time) && !yield(e, nil) {
				return
			}
		}
	}
}

// investigated has the errors investigated, one at a time, with nothing left of other times.
func (w *world) investigated(t *testing.T, off layer.Set, thinking bool) *report.Report {
	t.Helper()
	server := sandbox.New(sandbox.Options{Model: w.analyst})
	client := sandboxtest.Client(t, server)
	db, err := embedded.Open(t.Context(), filepath.Join(t.TempDir(), "triage.db"), &embedded.Options{NoMarkers: true, Engine: engine.Options{Timeouts: enginetest.Patient}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	p, err := preset.Load("night-watch")
	if err != nil {
		t.Fatal(err)
	}
	var m mask.Masker
	reader, err := code.New(code.Options{Repos: w.repos, Mask: m.Code, Whole: !off.On(layer.Caps), Cache: code.NewCache(code.CacheOptions{Off: !off.On(layer.CodeCache)})})
	if err != nil {
		t.Fatal(err)
	}
	o := triage.Options{Journals: db.Store(), Code: reader, Parallel: 1, Investigator: investigate.New(investigate.Options{Client: client, Model: modelID, Engine: db.Engine(), Journals: db.Store(),
		Preset: p, Code: reader, Budget: w.budget, Allowance: agent.NewAllowance(agent.Budget{Tokens: 5_000_000}), LongFixed: true, Thinking: thinking, Off: off})}
	look := &triage.Look{Sources: []source.Source{told(w.events)}, Window: source.Window{Since: w.now.AddDate(0, 0, -60), Until: w.now.Add(time.Hour)}, Most: 200, Services: w.services, Mask: m.Text, Off: off, Simulated: true}
	r := worked(t, o, look)
	for _, e := range server.Log.Refused() {
		t.Errorf("request %d was refused with %d: %s", e.Number, e.Status, e.Error)
	}
	return r
}

// worked runs triage to its end.
func worked(t *testing.T, o triage.Options, look *triage.Look) *report.Report {
	t.Helper()
	seen, err := triage.Gather(t.Context(), o, look)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := look.Plan(t.Context(), o, seen)
	if err != nil {
		t.Fatal(err)
	}
	r, err := triage.Start(t.Context(), o, plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Work(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r.Report()
}
