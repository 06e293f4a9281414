package triage_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/apps/triage"
	"github.com/decantdev/decant/apps/triage/code"
	"github.com/decantdev/decant/apps/triage/internal/deliver"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/apps/triage/internal/mask"
	"github.com/decantdev/decant/apps/triage/source"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/analyst"
	"github.com/decantdev/decant/testing/sample"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// A night has the bundled sample, a clock of its own and a stand-in for the Messages API.
type night struct {
	*testing.T
	now    time.Time
	db     *embedded.DB
	server *sandbox.Server
	client *anthropic.Client
	reader *code.Reader
	sample *sample.Sample
	broken func() error // what is wrong with the way to the journals
	post   func() bool  // reports whether the answer to a submission is lost
}

// A way leads to the stand-in.
type way struct {
	n  *night
	to http.RoundTripper
}

func (w *way) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := w.to.RoundTrip(r)
	if err == nil && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/batches") && w.n.post != nil && w.n.post() {
		res.Body.Close()
		return nil, errors.New("the connection broke off")
	}
	return res, err
}

// A journal fails where its night says so, as a process does that is killed before or behind a write.
type journal struct {
	store.Store
	n *night
}

func (j *journal) AddSteps(ctx context.Context, a *store.Addition) error {
	if j.n.broken != nil {
		if err := j.n.broken(); err != nil {
			return err
		}
	}
	return j.Store.AddSteps(ctx, a)
}

func newNight(t *testing.T, o sandbox.Options) *night {
	t.Helper()
	n := &night{T: t, now: time.Date(2026, 11, 20, 6, 0, 0, 0, time.UTC)}
	o.Model, o.Now = analyst.Analyst{}, func() time.Time { return n.now }
	n.server = sandbox.New(o)
	rt, stop := n.server.Pipe()
	t.Cleanup(stop)
	var err error
	if n.client, err = anthropic.New(anthropic.Options{Base: "http://sandbox", Transport: &way{n, rt}, Credential: provider.Key("x-api-key", "test")}); err != nil {
		t.Fatal(err)
	}
	if n.db, err = embedded.Open(t.Context(), t.TempDir()+"/triage.db", &embedded.Options{NoMarkers: true, Engine: engine.Options{Timeouts: sandboxtest.Patient}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.db.Close() })
	if n.sample, err = sample.Bundled(); err != nil {
		t.Fatal(err)
	}
	repos, err := n.sample.Repos(sampleDir)
	if err != nil {
		t.Fatal(err)
	}
	var m mask.Masker
	if n.reader, err = code.New(code.Options{Repos: repos, Mask: m.Code}); err != nil {
		t.Fatal(err)
	}
	return n
}

const model = "claude-sonnet-4-5"

// options returns options of runs.
func (n *night) options() triage.Options {
	n.Helper()
	p, err := preset.Load("night-watch")
	if err != nil {
		n.Fatal(err)
	}
	j := &journal{n.db.Store(), n}
	with := investigate.Options{Client: n.client, Model: model, Engine: n.db.Engine(), Journals: j, Preset: p, Code: n.reader, LongCache: true, Budget: 60_000}
	return triage.Options{Journals: j, Code: n.reader, Investigator: investigate.New(with), Now: func() time.Time { return n.now }}
}

// plan plans a run of the sample.
func (n *night) plan(o triage.Options, most int, b *triage.Batch) *triage.Plan {
	n.Helper()
	look := &triage.Look{Sources: []source.Source{n.sample.Source()}, Window: source.Window{Since: n.sample.Now.AddDate(0, 0, -30), Until: n.sample.Now}, Most: most, Services: n.sample.Services(), Model: model, Simulated: true}
	seen, err := triage.Gather(n.Context(), o, look)
	if err != nil {
		n.Fatal(err)
	}
	p, err := look.Plan(n.Context(), o, seen)
	if err != nil {
		n.Fatal(err)
	}
	p.Batch = b
	return p
}

// phase opens a run as another process does, and continues it.
func (n *night) phase(id string) (*triage.Run, *triage.BatchState, error) {
	n.Helper()
	r, err := triage.Open(n.Context(), n.options(), id)
	if err != nil {
		return nil, nil, err
	}
	s, err := r.Advance(n.Context(), n.client)
	return r, s, err
}

// batched does a run to its end, with a time between its phases.
func (n *night) batched(every time.Duration, most int) *triage.Run {
	n.Helper()
	o := n.options()
	r, err := triage.Start(n.Context(), o, n.plan(o, triage.MaxPassed, &triage.Batch{MaxErrors: most, PerError: 60_000, PerRun: 2_000_000}))
	if err != nil {
		n.Fatal(err)
	}
	for range 40 {
		r, s, err := n.phase(r.ID())
		if err != nil {
			n.Fatal(err)
		}
		if s == nil {
			return r
		}
		n.now = n.now.Add(every)
	}
	n.Fatal("the run does not end")
	return nil
}

// loop does a run at once.
func (n *night) loop() *deliver.Report {
	n.Helper()
	o := n.options()
	r, err := triage.Start(n.Context(), o, n.plan(o, 20, nil))
	if err != nil {
		n.Fatal(err)
	}
	if err := r.Work(n.Context()); err != nil {
		n.Fatal(err)
	}
	return r.Report()
}

// The same sample, at once and in batches. Half the price is reached where the cache
// lives from round to round; what it costs where it does not is told, too.
func TestBatchesCostHalf(t *testing.T) {
	once := newNight(t, sandbox.Options{}).loop()
	t.Logf("at once: $%.4f; %d investigated, %d answers", once.Totals.USD, once.Totals.Investigated, once.Totals.Iterations)
	found := map[string]string{}
	for i := range once.Errors {
		found[once.Errors[i].Key] = once.Errors[i].Finding.Cause
	}
	for _, tt := range []struct {
		every time.Duration
		share float64 // of the price at once
	}{{30 * time.Minute, 0.5}, {2 * time.Hour, 1}}[:testkit.Depth(1, 2)] {
		n := newNight(t, sandbox.Options{})
		b := n.batched(tt.every, 20)
		rep := b.Report()
		t.Logf("every %v: %d batches, %v, $%.4f (%.0f %%); %d investigated, %d answers, cause known of %d", tt.every, len(n.batches()), n.now.Sub(rep.Began), rep.Totals.USD,
			100*rep.Totals.USD/once.Totals.USD, rep.Totals.Investigated, rep.Totals.Iterations, rep.Totals.Investigated-rep.Totals.Inconclusive)
		if rep.Totals.USD > tt.share*once.Totals.USD {
			t.Errorf("every %v: $%.4f, at once $%.4f", tt.every, rep.Totals.USD, once.Totals.USD)
		}
		for i := range rep.Errors {
			if f := rep.Errors[i].Finding; f != nil && f.Cause != found[rep.Errors[i].Key] {
				t.Errorf("%s: %q, at once %q", rep.Errors[i].Name(), f.Cause, found[rep.Errors[i].Key])
			}
		}
		for _, e := range n.server.Log.Refused() {
			t.Errorf("request %d was refused with %d: %s", e.Number, e.Status, e.Error)
		}
	}
}

// paid returns what is booked, in dollars.
func (n *night) paid() (usd float64) {
	n.Helper()
	if err := n.db.Engine().Close(); err != nil {
		n.Fatal(err)
	}
	totals, err := n.db.Store().Spending(n.Context(), store.SpendQuery{})
	if err != nil {
		n.Fatal(err)
	}
	for _, t := range totals {
		usd += t.Cost.USD()
	}
	return usd
}

// Of 12 errors in the pass 3 are investigated: one batch for each round, custom ids, "not ready" is no error, the pass chooses, and half
// of the price is booked.
func TestARunInBatches(t *testing.T) {
	n := newNight(t, sandbox.Options{BatchTime: 45 * time.Minute})
	o := n.options()
	r, err := triage.Start(t.Context(), o, n.plan(o, triage.MaxPassed, &triage.Batch{MaxErrors: 3, PerError: 60_000, PerRun: 500_000}))
	if err != nil {
		t.Fatal(err)
	}
	_, s, err := n.phase(r.ID())
	if err != nil || s == nil || s.Ready || s.Batch == "" {
		t.Fatalf("submitted: %+v, %v", s, err)
	}
	n.now = n.now.Add(30 * time.Minute)
	if _, again, err := n.phase(r.ID()); err != nil || again.Ready || again.Batch != s.Batch {
		t.Fatalf("too early: %+v, %v", again, err)
	}
	var b *triage.Run
	for s != nil {
		n.now = n.now.Add(30 * time.Minute)
		if b, s, err = n.phase(r.ID()); err != nil {
			t.Fatal(err)
		}
	}
	rep := b.Report()
	all := n.batches()
	if rep.Totals.Investigated != 3 || all[len(all)-1].Requests != 12 || all[len(all)-2].Requests != 3 {
		t.Errorf("%+v, %+v", rep.Totals, all)
	}
	for i := range rep.Errors {
		if e := &rep.Errors[i]; e.Finding == nil && e.Left == "" || strings.Contains(e.Class, "ConnectionReset") && !strings.Contains(e.Left, "not worth") {
			t.Errorf("%s: %q", e.Name(), e.Left)
		}
	}
	n.isBooked(rep)
}

// isBooked reports when something else is booked than a report says.
func (n *night) isBooked(r *deliver.Report) {
	n.Helper()
	if usd := n.paid(); usd < r.Totals.USD*0.999 || usd > r.Totals.USD*1.001 {
		n.Errorf("$%.6f are booked, the report says $%.6f", usd, r.Totals.USD)
	}
	if u := r.RunReport; u.TotalTokens != r.Totals.Tokens || u.CostPerRun != r.Totals.USD {
		n.Errorf("the run report has %d tokens and $%.6f, the totals %d and $%.6f", u.TotalTokens, u.CostPerRun, r.Totals.Tokens, r.Totals.USD)
	}
}

// batches returns the batches that the stand-in has.
func (n *night) batches() []provider.Batch {
	n.Helper()
	all, err := n.client.Batches(context.WithoutCancel(n.Context()), time.Time{})
	if err != nil {
		n.Fatal(err)
	}
	return all
}

// The process ends at a write, or the answer to a submission is lost: at another one each time. The next process goes on, nothing is asked twice,
// and the same is found.
func TestBatchesSurviveAnyEnd(t *testing.T) {
	whole := newNight(t, sandbox.Options{})
	b := whole.batched(30*time.Minute, 2)
	want := b.Report()
	answered := answers(whole)
	step := testkit.Depth(29, 5)
	for at, round := 1, 0; ; at, round = at+step, round+1 {
		n := newNight(t, sandbox.Options{})
		o := n.options()
		r, err := triage.Start(t.Context(), o, n.plan(o, triage.MaxPassed, &triage.Batch{MaxErrors: 2, PerError: 60_000, PerRun: 2_000_000}))
		if err != nil {
			t.Fatal(err)
		}
		writes, posts, killed := 0, 0, false
		n.broken = func() error {
			if writes++; writes >= at && !killed {
				killed = true
			} else if !killed || writes < at {
				return nil
			}
			return errors.New("killed")
		}
		n.post = func() bool { posts++; return round%2 == 1 && posts == 1+round/2 }
		fault := errors.New("")
		for range 60 {
			b, s, err := n.phase(r.ID())
			if err != nil {
				n.broken, fault = nil, err
			} else if s == nil {
				got := b.Report()
				if g, w := fmt.Sprint(outline(got)), fmt.Sprint(outline(want)); g != w {
					t.Errorf("end at write %d: %s, want %s", at, g, w)
				}
				n.isBooked(got)
				break
			}
			n.now = n.now.Add(30 * time.Minute)
		}
		if got := answers(n); got != answered {
			t.Errorf("end at write %d: %d answers are paid, want %d (%v)", at, got, answered, fault)
		}
		if !killed {
			break
		}
	}
}

// outline returns what was found.
func outline(r *deliver.Report) (out []string) {
	for i := range r.Errors {
		if f := r.Errors[i].Finding; f != nil {
			out = append(out, fmt.Sprint(r.Errors[i].Number, f.State, f.Cause, f.Iterations, f.Error))
		}
	}
	return out
}

// answers returns how many requests the model has answered.
func answers(n *night) (count int) {
	for _, e := range n.server.Log.Entries() {
		if e.Answer != nil {
			count++
		}
	}
	return count
}
