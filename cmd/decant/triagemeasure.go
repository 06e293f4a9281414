package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/decantdev/decant/internal/figure"
	"github.com/decantdev/decant/internal/triage"
	"github.com/decantdev/decant/internal/triage/measure"
	"github.com/decantdev/decant/internal/triage/report"
	"github.com/decantdev/decant/internal/triage/sample"
	"github.com/decantdev/decant/token"
)

type triageMeasureCmd struct {
	Files []string `arg:"" optional:"" name:"file" help:"Logs, or files of JSON lines that hold the errors; without them those of the settings, or the sample."`

	Since       string `default:"30d" placeholder:"AGE-or-DATE" help:"Errors from then on (${default})."`
	MaxErrors   int    `default:"20" placeholder:"N" help:"Errors that are investigated at most (${default})."`
	ErrorTokens int    `placeholder:"N" help:"Tokens for each error (30000)."`
	RunTokens   int    `placeholder:"N" help:"Tokens for all errors (200000)."`
	Sample      string `placeholder:"DIR" help:"Errors of a sample, in a folder (docs/TRIAGE.md)."`
	JSON        bool   `name:"json" help:"Print the figures as JSON."`
	triageFlags
}

// Help says what the flags have no room for.
func (c *triageMeasureCmd) Help() string {
	return `Your errors are investigated about twenty times over, each time with other context layers: with none, with all, with each alone, with all but
each. What investigates is the stand-in for a model that --sandbox has, in your repositories and with your sizes: nothing leaves this machine, nothing is
kept, and it costs nothing. What a real model would need more or less of it does not say.`
}

// Run measures what the layers bring.
func (c *triageMeasureCmd) Run(s *streams) error {
	ctx, stop := interruptible()
	defer stop()
	c.Sandbox = true
	run := &triageRunCmd{Files: c.Files, Since: c.Since, MaxErrors: c.MaxErrors, ErrorTokens: c.ErrorTokens, RunTokens: c.RunTokens, Parallel: 1, Sample: c.Sample, triageFlags: c.triageFlags}
	set, err := run.chosen(s)
	if err != nil {
		return err
	}
	taken, err := run.sample(set)
	if err != nil {
		return err
	}
	catalog, err := c.models()
	if err != nil {
		return err
	}
	if catalog == nil {
		if catalog, err = token.Builtin(); err != nil {
			return err
		}
	}
	name := set.Model
	if name == "" {
		name = defaultModel
	}
	model, _ := catalog.Lookup(name)
	t, err := measure.Run(ctx, measure.Options{Model: model, At: time.Now(), Play: func(ctx context.Context, a measure.Arm) ([]*report.Report, error) {
		s.note("%s ...", a.Name)
		return run.played(ctx, *set, taken, a)
	}})
	if ctx.Err() != nil {
		return exitStatus(130)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(s.out, t)
	}
	fmt.Fprintf(s.out, "%s errors, %s for each and %s for all of them, priced as %s; investigated by a stand-in for a model.\n\n", figure.Thousands(t.Off.Errors),
		tokensText(set.PerError), tokensText(set.PerRun), model.ID)
	return t.WriteText(s.out)
}

func tokensText(n int) string { return figure.Thousands(n) + " tokens" }

// played has the errors investigated in one arm, in a database of its own.
func (c *triageRunCmd) played(ctx context.Context, set triage.Settings, taken *sample.Sample, a measure.Arm) (out []*report.Report, err error) {
	set.Off, set.Thinking = a.Off, a.Thinking
	room, err := c.open(ctx, taken, &set, true)
	defer func() { err = errors.Join(err, room.close()) }()
	if err != nil {
		return nil, err
	}
	look, err := c.look(room, taken)
	if err != nil {
		return nil, err
	}
	until := look.Window.Until
	for _, night := range []time.Time{until.AddDate(0, 0, -1), until} { // the second one knows what the first has found
		look.Window.Until = night
		r, err := c.night(ctx, room, look)
		if err != nil {
			return out, err
		}
		out = append(out, r)
	}
	return out, nil
}

// night has the errors of a time investigated.
func (c *triageRunCmd) night(ctx context.Context, room *triageRoom, look *triage.Look) (*report.Report, error) {
	seen, err := triage.Gather(ctx, room.options, look)
	if err != nil {
		return nil, inputError{err}
	}
	p, err := look.Plan(ctx, room.options, seen)
	if err != nil {
		return nil, err
	}
	r, err := triage.Start(ctx, room.options, p)
	if err != nil {
		return nil, err
	}
	if err := r.Work(ctx); err != nil {
		return nil, err
	}
	return r.Report(), r.Remember(ctx)
}
