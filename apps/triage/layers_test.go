package triage_test

import (
	"testing"

	"github.com/decantdev/decant/apps/triage"
	"github.com/decantdev/decant/apps/triage/code"
	"github.com/decantdev/decant/apps/triage/internal/deliver"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/apps/triage/internal/mask"
	"github.com/decantdev/decant/apps/triage/source"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/testing/analyst"
	"github.com/decantdev/decant/testing/sample"
)

// layered has the errors of the sample investigated one at a time, with some layers switched off.
func layered(t *testing.T, off investigate.LayerSet) *deliver.Report {
	t.Helper()
	w := newWorld(t, analyst.Analyst{})
	s, err := sample.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	repos, err := s.Repos(sampleDir)
	if err != nil {
		t.Fatal(err)
	}
	var m mask.Masker
	reader, err := code.New(code.Options{Repos: repos, Mask: m.Code, Whole: !off.On(investigate.LayerCaps),
		Cache: code.NewCache(code.CacheOptions{Off: !off.On(investigate.LayerCodeCache)})})
	if err != nil {
		t.Fatal(err)
	}
	p, err := preset.Load("night-watch")
	if err != nil {
		t.Fatal(err)
	}
	o := triage.Options{Journals: w.db.Store(), Code: reader, Parallel: 1, Investigator: investigate.New(investigate.Options{Client: w.client,
		Model: "claude-sonnet-4-5", Engine: w.db.Engine(), Journals: w.db.Store(), Preset: p, Code: reader, LongFixed: true, Off: off})}
	look := &triage.Look{Sources: []source.Source{s.Source()}, Window: source.Window{Since: s.Now.AddDate(0, 0, -60), Until: s.Now}, Most: 20,
		Services: s.Services(), Mask: m.Text, Off: off, Simulated: true}
	return worked(t, o, look)
}

// worked plans a run and works on it to its end.
func worked(t *testing.T, o triage.Options, look *triage.Look) *deliver.Report {
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
	if err == nil {
		err = r.Work(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return r.Report()
}

// With all layers at most half as many tokens are billed and paid for as with none, and as many errors are explained.
func TestLayersHalveTheSample(t *testing.T) {
	off, on := layered(t, investigate.OnlyLayers()), layered(t, investigate.LayerSet{})
	billed := func(r *deliver.Report) (n float64) {
		for i := range r.Errors {
			n += investigate.Billed(r.Errors[i].Finding.Usage)
		}
		return n
	}
	a, b := billed(off), billed(on)
	t.Logf("billed %.0f and %.0f tokens (%.0f %% fewer), $%.2f and $%.2f; explained %d and %d of %d", a, b, 100*(1-b/a), off.Totals.USD, on.Totals.USD,
		off.Totals.Investigated-off.Totals.Inconclusive, on.Totals.Investigated-on.Totals.Inconclusive, len(on.Errors))
	if b > a/2 || on.Totals.USD > off.Totals.USD/2 {
		t.Errorf("%.0f tokens are billed with all layers, %.0f with none; $%.4f and $%.4f", b, a, on.Totals.USD, off.Totals.USD)
	}
	if len(on.Errors) != 12 || on.Totals.Inconclusive > off.Totals.Inconclusive || on.Totals.Inconclusive > 3 {
		t.Errorf("%d errors, inconclusive %d and %d", len(on.Errors), off.Totals.Inconclusive, on.Totals.Inconclusive)
	}
	if c := on.Totals.Code; off.Totals.Code.Hits != 0 || c.Rate() < .3 {
		t.Errorf("the code cache had %.0f %% of all reads, %d without the layer", 100*c.Rate(), off.Totals.Code.Hits)
	}
}

// A finding about an earlier error of the run saves at least a third of the answers about a second one with the same cause.
// What is quoted was shown in the investigation itself all the same.
func TestAnEarlierErrorSavesReads(t *testing.T) {
	answers := map[bool]int{}
	for _, told := range []bool{true, false} {
		w := newWorld(t, analyst.Analyst{})
		w.commit("v1", map[string]string{"shop/cart.py": goodCart})
		w.commit("v2", map[string]string{"shop/cart.py": badCart})
		o := w.options()
		var off investigate.LayerSet
		if !told {
			off = investigate.WithoutLayers(investigate.LayerCrossError)
		}
		o.Investigator = investigate.New(investigate.Options{Client: w.client, Model: "claude-sonnet-4-5", Engine: w.db.Engine(), Journals: w.db.Store(), Code: o.Code, Off: off})
		second := cartCases()[0]
		second.Key, second.Transaction = "b", "POST /mail"
		r, err := triage.Start(t.Context(), o, w.plan(o, "v1", "v2", cartCases()[0], second))
		if err == nil {
			err = r.Work(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		f := r.Report().Errors[1].Finding
		if related := map[bool]int{true: 1}[told]; f.Related != related || f.Work.Earlier != related || len(f.Evidence) == 0 || len(f.Struck) > 0 {
			t.Errorf("told of the first error: %v; %+v", told, f)
		}
		answers[told] = f.Iterations
	}
	if answers[true]*3 > answers[false]*2 {
		t.Errorf("%d answers, %d without the earlier finding", answers[true], answers[false])
	}
}
