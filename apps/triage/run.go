// Package triage finds errors of programs in production that are new or have come back, has the most important ones
// investigated, and reports what was found and what it cost.
//
// [Gather] reads the sources, [Look.Plan] chooses the errors, [Start] begins a run, [Run.Advance] works on it, and
// [Run.Deliver] sends the findings. Each step of a run is stored (store.Journals), so that after an interruption [Open]
// continues it: with the same errors and open investigations, and without repeating what has ended.
package triage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/errgroup"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/triage/code"
	"github.com/decantdev/decant/apps/triage/internal/deliver"
	"github.com/decantdev/decant/apps/triage/internal/group"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/store"
)

// kind is the kind of the journals of runs.
const kind = "triage"

// ErrNoRun means that there is no such run.
var ErrNoRun = errors.New("there is no such run")

// A Plan says what a run investigates. It is made once and stored: later events do not change it.
type Plan struct {
	Report   deliver.Report            `json:"report"`             // without findings
	Events   int                       `json:"events"`             // that the sources told
	Known    []group.Known             `json:"known,omitempty"`    // what is known of each error with the events of this run, in the order of the report
	Scopes   map[int]investigate.Scope `json:"scopes,omitempty"`   // by the number of the error
	Batch    *Batch                    `json:"batch,omitzero"`     // the run is done in batches; nil: it is not
	OnSample bool                      `json:"on_sample,omitzero"` // the code that runs is the sample's, not that of the settings
	Owes     bool                      `json:"owes,omitzero"`      // its findings are delivered when it ends: see Run.Told
}

// Options configures runs. Journals is required, the rest to work on one.
type Options struct {
	Journals     store.Journals
	Tenant       string
	Investigator *investigate.Investigator
	Code         *code.Reader
	Parallel     int                                               // investigations at once; 0: 3
	Told         func(c *investigate.Case, e agent.Event)          // called for each event of an investigation, from several goroutines; may be nil
	Found        func(c *investigate.Case, f *investigate.Finding) // called when an investigation has ended, one call at a time; may be nil
	Now          func() time.Time
}

// A Run is one run.
type Run struct {
	o    Options
	key  store.Key
	plan Plan

	mu       sync.Mutex
	length   int
	findings map[int]*investigate.Finding // by the number of the error
	sent     map[string]deliver.Entry     // by their ids
	took     float64                      // seconds of the work of processes before this one
	done     bool
	told     bool
	pass     *pass    // nil: there was none yet
	notices  []string // of this process
}

// A step is one entry in the journal of a run. One of its fields is set.
type step struct {
	Plan    *Plan                `json:"plan,omitzero"`
	Finding *investigate.Finding `json:"finding,omitzero"`
	Sent    *deliver.Entry       `json:"sent,omitzero"`   // what is to be sent, or was
	Worked  float64              `json:"worked,omitzero"` // seconds, by a process that then has ended its work
	Done    bool                 `json:"done,omitzero"`
	Told    bool                 `json:"told,omitzero"`
	Pass    *pass                `json:"pass,omitzero"`
}

// A Summary describes a stored run.
type Summary struct {
	Run      string         `json:"run"`
	Began    time.Time      `json:"began"`
	Done     bool           `json:"done"`
	Owes     bool           `json:"owes,omitzero"`    // it is done, but its findings were not delivered
	Batched  bool           `json:"batched,omitzero"` // it is done in batches
	Headline string         `json:"headline"`
	Totals   deliver.Totals `json:"totals"`

	Usage deliver.RunReport `json:"run_report"` // of the totals, per error
}

// Start begins a run and stores its plan. Plan.Report.Run is its id, which must be new.
func Start(ctx context.Context, o Options, p *Plan) (*Run, error) {
	r := fresh(o, p.Report.Run)
	if err := r.write(ctx, &step{Plan: p}); err != nil {
		return nil, err
	}
	return r, nil
}

func fresh(o Options, id string) *Run {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Run{o: o, key: store.Key{Tenant: o.Tenant, ID: kind + "/" + id}, findings: map[int]*investigate.Finding{}, sent: map[string]deliver.Entry{}}
}

// Open opens a run by its id, or by the beginning of it; empty: the newest one. It returns ErrNoRun if there is none.
func Open(ctx context.Context, o Options, id string) (*Run, error) {
	found, err := o.Journals.Journals(ctx, store.JournalQuery{Tenant: o.Tenant, Kind: kind, Name: kind + "/" + id, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && id == "" {
		return nil, fmt.Errorf("%w: none was kept here", ErrNoRun)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNoRun, id)
	}
	r := fresh(o, found[0].ID[len(kind)+1:])
	steps, err := o.Journals.Steps(ctx, r.key, 0, 0)
	if err != nil {
		return nil, err
	}
	for _, b := range steps {
		var s step
		if err := json.Unmarshal(b, &s); err != nil {
			return nil, fmt.Errorf("run %s: step %d: %w", r.ID(), r.length, err)
		}
		r.take(&s)
		r.length++
	}
	return r, nil
}

// Runs returns the stored runs, the newest first, at most limit.
func Runs(ctx context.Context, o Options, limit int) (out []Summary, err error) {
	found, err := o.Journals.Journals(ctx, store.JournalQuery{Tenant: o.Tenant, Kind: kind, Limit: limit})
	if err != nil {
		return nil, err
	}
	for _, j := range found {
		var s Summary
		if err := json.Unmarshal(j.Head, &s); err != nil {
			return nil, fmt.Errorf("run %s: %w", j.ID, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// ID returns the id of the run.
func (r *Run) ID() string { return r.key.ID[len(kind)+1:] }

// OnSample reports whether the code of the run is the sample's.
func (r *Run) OnSample() bool { return r.plan.OnSample }

// Done reports whether the run has ended.
func (r *Run) Done() bool { return r.done }

// Owes reports whether the run has ended without its findings being delivered, since its process died.
func (r *Run) Owes() bool { return r.done && r.plan.Owes && !r.told }

// Told records that the findings were delivered.
func (r *Run) Told(ctx context.Context) error {
	if r.told {
		return nil
	}
	return r.write(ctx, &step{Told: true})
}

// write stores a step and applies it.
func (r *Run) write(ctx context.Context, s *step) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("run %s: %w", r.ID(), err)
	}
	r.take(s)
	rep := r.report()
	head, err := json.Marshal(&Summary{Run: r.ID(), Began: rep.Began, Done: r.done, Owes: r.Owes(), Batched: r.plan.Batch != nil, Headline: rep.Headline(), Totals: rep.Totals, Usage: rep.Totals.RunReport()})
	if err != nil {
		return fmt.Errorf("run %s: %w", r.ID(), err)
	}
	a := &store.Addition{Key: r.key, Length: r.length, Kind: kind, Head: head, Time: r.o.Now(), Steps: [][]byte{b}}
	if err := r.o.Journals.AddSteps(ctx, a); err != nil {
		return fmt.Errorf("run %s cannot be kept: %w", r.ID(), err)
	}
	r.length++
	return nil
}

// take applies a step. The caller holds mu, or has the only reference to the run.
func (r *Run) take(s *step) {
	if s.Plan != nil {
		r.plan = *s.Plan
	}
	if s.Finding != nil {
		r.findings[s.Finding.Number] = s.Finding
	}
	if s.Sent != nil {
		r.sent[s.Sent.Item.ID] = *s.Sent
	}
	if s.Pass != nil {
		r.pass = s.Pass
	}
	r.took += s.Worked
	r.done, r.told = r.done || s.Done, r.told || s.Told
}

// Report returns what the run has found so far.
func (r *Run) Report() *deliver.Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.report()
}

func (r *Run) report() *deliver.Report {
	out := r.plan.Report
	out.Errors = slices.Clone(out.Errors)
	for i := range out.Errors {
		if f := r.findings[out.Errors[i].Number]; f != nil && out.Errors[i].Number > 0 {
			out.Errors[i].Finding = f
		}
		if tried, ok := r.sent[deliver.ProofID(out.Errors[i].Number)]; ok {
			out.Errors[i].Trial = &deliver.Trial{Why: tried.Why, Printed: tried.Printed}
		}
	}
	var stats code.Stats
	if r.o.Code != nil {
		stats = r.o.Code.Stats()
	}
	r.link(out.Errors)
	out.Sum(r.plan.Events, stats, r.took)
	r.pass.into(&out)
	out.Notices = slices.Concat(out.Notices, r.notices)
	return &out
}

// link adds the addresses of quoted lines whose repository is on GitHub.
func (r *Run) link(all []deliver.ReportedError) {
	if r.o.Code == nil {
		return
	}
	for i := range all {
		if all[i].Finding == nil {
			continue
		}
		all[i].Links = nil
		for _, e := range all[i].Finding.Evidence {
			all[i].Links = append(all[i].Links, r.o.Code.Link(e.Repo, e.SHA, e.Path, e.Line))
		}
	}
}

// Remember stores what the run has seen and found for later runs. It may be called again.
func (r *Run) Remember(ctx context.Context) error {
	rep := r.Report()
	for i := range r.plan.Known {
		k, e := r.plan.Known[i], &rep.Errors[i]
		if f := e.Finding; f != nil && f.Cause != "" {
			k.Found = &group.Found{Run: r.ID(), Number: e.Number, Time: rep.Began, Class: e.Class, Transaction: e.Transaction, Tags: f.Tags, Cause: f.Cause, Confidence: string(f.Confidence)}
		}
		if err := keep(ctx, r.o, &k); err != nil {
			return err
		}
	}
	return nil
}

// Work investigates the remaining errors of the run, several at once, but similar ones one after the other. A failure of
// one investigation does not end the others. When ctx ends, what was found is stored. In both cases Open continues the run.
func (r *Run) Work(ctx context.Context) error {
	if r.done {
		return nil
	}
	began := r.o.Now()
	var g errgroup.Group
	g.SetLimit(cmp.Or(max(r.o.Parallel, 0), 3))
	clusters := investigate.Clusters(r.cases())
	faults := make([]error, len(clusters))
	for i := range clusters {
		g.Go(func() error {
			faults[i] = r.cluster(ctx, clusters[i])
			return nil
		})
	}
	err := errors.Join(g.Wait(), errors.Join(faults...))
	last := &step{Worked: r.o.Now().Sub(began).Seconds(), Done: err == nil}
	return errors.Join(err, r.write(context.WithoutCancel(ctx), last))
}

// Ask asks the agent that investigated an error, in a fork of its session, so that the investigation does not change.
// heard gets the events. It returns store.ErrNotFound for an error that was not investigated.
func (r *Run) Ask(ctx context.Context, number int, question string, heard func(agent.Event)) error {
	f := r.finding(number)
	if f == nil {
		return fmt.Errorf("error %d of run %s: %w", number, r.ID(), store.ErrNotFound)
	}
	return r.o.Investigator.Ask(ctx, f.Session, question, r.plan.Scopes[number], heard)
}

// cases returns the errors to investigate.
func (r *Run) cases() (out []investigate.Case) {
	for i := range r.plan.Report.Errors {
		if e := &r.plan.Report.Errors[i]; e.Number > 0 && !r.pass.leaves(e.Number) {
			out = append(out, e.Case)
		}
	}
	return out
}

// cluster investigates similar errors. Each learns what was found about those before it.
func (r *Run) cluster(ctx context.Context, cases []investigate.Case) (fault error) {
	var earlier []investigate.Summary
	for i := range cases {
		c := &cases[i]
		f := r.finding(c.Number)
		if f == nil {
			var err error
			if f, err = r.investigate(ctx, c, earlier); err != nil {
				fault = errors.Join(fault, err)
				if ctx.Err() != nil {
					return fault
				}
				continue
			}
		}
		if f.Cause != "" {
			earlier = append(earlier, f.Summary(c))
		}
	}
	return fault
}

func (r *Run) finding(number int) *investigate.Finding {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.findings[number]
}

// investigate investigates one error and stores the finding.
func (r *Run) investigate(ctx context.Context, c *investigate.Case, earlier []investigate.Summary) (*investigate.Finding, error) {
	heard := func(agent.Event) {}
	if r.o.Told != nil {
		heard = func(e agent.Event) { r.o.Told(c, e) }
	}
	f, err := r.o.Investigator.Investigate(ctx, fmt.Sprintf("%s-%d", r.ID(), c.Number), c, r.plan.Scopes[c.Number], earlier, heard)
	if err != nil {
		return nil, err
	}
	if err := r.write(ctx, &step{Finding: f}); err != nil {
		return nil, err
	}
	if r.o.Found != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.o.Found(c, f)
	}
	return f, nil
}
