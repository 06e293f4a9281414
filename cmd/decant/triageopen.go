package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/chat"
	"github.com/decantdev/decant/internal/pace"
	"github.com/decantdev/decant/internal/project"
	"github.com/decantdev/decant/internal/triage"
	"github.com/decantdev/decant/internal/triage/analyst"
	"github.com/decantdev/decant/internal/triage/investigate"
	"github.com/decantdev/decant/internal/triage/sample"
	"github.com/decantdev/decant/internal/triage/source"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/sandbox"
	"github.com/decantdev/decant/token"
)

// open opens the database and the repositories and, where talks is set, finds out which model there is. The caller closes what it returns, also beside
// an error.
func (f *triageFlags) open(ctx context.Context, taken *sample.Sample, set *triage.Settings, talks bool) (*triageRoom, error) {
	r := &triageRoom{set: set, variable: f.variable, pacer: pace.New(pace.Options{})}
	source.Through(r.pacer, set.Sources...)
	o := &chat.Options{Project: &project.Project{}}
	o.Project.Settings.Model = set.Model
	var err error
	if o.Catalog, err = f.models(); err != nil {
		return r, err
	}
	if talks {
		if err := r.talk(o, f.Sandbox, f.keptBatches()); err != nil {
			return r, err
		}
	}
	if err := f.store(ctx, r, o); err != nil {
		return r, err
	}
	if r.reader, err = f.reader(taken, r); err != nil {
		return r, err
	}
	if talks {
		if err := r.serve(ctx); err != nil {
			return r, err
		}
	}
	return r, r.arrange(o)
}

// store opens the database.
func (f *triageFlags) store(ctx context.Context, r *triageRoom, o *chat.Options) error {
	remove, err := (&chatCmd{Sandbox: f.Sandbox, DB: f.DB, keyFileFlag: f.keyFileFlag}).database(o)
	if remove != nil {
		r.clean = append(r.clean, remove)
	}
	if err != nil {
		return err
	}
	if r.db, err = o.Database(ctx, &embedded.Options{Account: o.Account, NoMarkers: true, Engine: engine.Options{Catalog: o.Catalog}}); err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	r.clean = append(r.clean, r.db.Close)
	return nil
}

// talk finds out which model there is.
func (r *triageRoom) talk(o *chat.Options, sandboxed bool, kept string) error {
	if !sandboxed {
		end, err := talkTo(o, false, r.pacer)
		if end != nil {
			r.clean = append(r.clean, end)
		}
		if err == nil {
			r.model = o.Model
		}
		if errors.Is(err, errNoModel) {
			err = usageError{errors.New("there is no key for a model. Either set ANTHROPIC_API_KEY (or OPENAI_API_KEY, or OPENAI_BASE_URL with --model), or look at what there is without one: --dry-run, or --sandbox")}
		}
		return err
	}
	client, stop, err := withinOptions(sandbox.Options{Model: analyst.Analyst{}, Batches: kept})
	if err != nil {
		return err
	}
	r.clean = append(r.clean, func() error { stop(); return nil })
	if o.Project.Settings.Model == "" {
		o.Project.Settings.Model = defaultModel
	}
	r.model, o.Model, o.Client = o.Project.Settings.Model, o.Project.Settings.Model, client
	o.Account = &provider.Account{Client: client, Upstream: standBase, Model: o.Model}
	return nil
}

// arrange says how runs work.
func (r *triageRoom) arrange(o *chat.Options) error {
	p, err := preset.Load(cmp.Or(r.set.Preset, "night-watch"))
	if err != nil {
		return inputError{fmt.Errorf("preset: %w", err)}
	}
	if m, _ := o.Catalog.Lookup(r.model); m.Retirement(time.Now()) != "" {
		r.notices = append(r.notices, m.Retirement(time.Now())+": choose another with --model or model: in the settings.")
	}
	r.client = o.Client
	r.options = triage.Options{Journals: r.db.Store(), Code: r.reader, Parallel: r.set.Parallel}
	with := investigate.Options{Client: o.Client, Model: r.model, Engine: r.db.Engine(), Journals: r.db.Store(), Preset: p, Code: r.reader, Tools: r.tools, Mask: r.masker.Text,
		Budget: r.set.PerError, Allowance: agent.NewAllowance(agent.Budget{Tokens: r.set.PerRun}), Thinking: r.set.Thinking, LongFixed: o.Client != nil && longCache(o.Catalog, r.model), Off: r.set.Off, Catalog: o.Catalog}
	for _, s := range r.set.Sources {
		if t, ok := s.(investigate.Tracer); ok {
			with.Traces = append(with.Traces, t)
		}
	}
	r.options.Investigator = investigate.New(with)
	r.batches = func(b *triage.Batch) (triage.BatchOptions, error) { return r.inBatches(o, with, b) }
	return nil
}

// longCache reports whether a provider keeps for an hour what it is asked to: what all investigations of a run begin with, since the limits of a
// provider may put minutes between them. The messages of one follow each other closely, and an hour of them would cost more than it brings.
func longCache(c *token.Catalog, model string) bool {
	m, known := c.Lookup(model)
	return known && m.Provider == token.Anthropic
}
