package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/decantdev/decant/internal/triage"
	"github.com/decantdev/decant/internal/triage/rounds"
	"github.com/decantdev/decant/internal/triage/sample"
)

// durable says what is wrong where nothing would be left for the next phase.
func (f *triageFlags) durable() error {
	if f.Sandbox && f.DB == "" {
		return usageError{errors.New("with --sandbox, name a database in which the run waits for the next phase: --db FILE")}
	}
	return nil
}

type triageSubmitCmd struct {
	triageRunCmd
}

// Help says what the flags have no room for.
func (c *triageSubmitCmd) Help() string {
	return `A cheap triage pass over all errors goes out as the first batch; then each batch has the next question of every investigation. A batch takes up to
24 hours, mostly less than one; collect goes on whenever the last one is there. The price is half of what the same requests cost at once.
With --sandbox, name a database (--db FILE), in which the run waits for collect.

Exit codes: as for run.`
}

// Run begins a run in batches.
func (c *triageSubmitCmd) Run(s *streams) (err error) {
	ctx, stop := interruptible()
	defer stop()
	if err := c.durable(); err != nil {
		return err
	}
	set, err := c.chosen(s)
	if err != nil {
		return err
	}
	taken, err := c.sample(set)
	if err != nil {
		return err
	}
	room, err := c.open(ctx, taken, set, true)
	defer func() { err = errors.Join(err, room.close()) }()
	if err != nil {
		return err
	}
	if !c.Sandbox {
		if err := room.learn(ctx, s); err != nil {
			return err
		}
	}
	r, err := c.planned(ctx, s, room, taken)
	if err != nil {
		return err
	}
	s.note("run %s", r.ID())
	return (&triageCollectCmd{JSON: c.JSON, HTML: c.HTML, sendFlags: c.sendFlags, triageFlags: c.triageFlags}).phase(ctx, s, room, r)
}

// planned begins a run whose triage pass chooses what is investigated.
func (c *triageSubmitCmd) planned(ctx context.Context, s *streams, room *triageRoom, taken *sample.Sample) (*triage.Run, error) {
	p, err := c.plan(ctx, s, room, taken)
	if err != nil {
		return nil, err
	}
	if _, err := room.batches(p.Batch); err != nil {
		return nil, err
	}
	return triage.Start(ctx, room.options, p)
}

// plan returns what a run in batches is about.
func (c *triageRunCmd) plan(ctx context.Context, s *streams, room *triageRoom, taken *sample.Sample) (*triage.Plan, error) {
	look, err := c.look(room, taken)
	if err != nil {
		return nil, err
	}
	look.Most = triage.MostPassed
	seen, err := room.gather(ctx, s, look)
	if err != nil {
		return nil, err
	}
	p, err := look.Plan(ctx, room.options, seen)
	if err != nil {
		return nil, err
	}
	p.Batch = &triage.Batch{Most: room.set.Most, PerError: room.set.PerError, PerRun: room.set.PerRun, Thinking: room.set.Thinking}
	p.Sample, err = sampleName(taken, c.Sample)
	return p, err
}

type triageCollectCmd struct {
	ID    string `arg:"" name:"run" optional:"" help:"The run, or the beginning of its id (the oldest one that waits)."`
	Batch string `placeholder:"ID" help:"Go on only if this is the batch that the run waits for."`
	HTML  string `name:"html" placeholder:"FILE" help:"Write the report as a page, too."`
	JSON  bool   `name:"json" help:"Print the report as JSON."`
	sendFlags
	triageFlags
}

// Help says what the flags have no room for.
func (c *triageCollectCmd) Help() string {
	return `Call it as often as you like, for instance every half an hour by cron. A batch that is not ready is no error: it says when to come again, and exits with 0. When
all investigations have ended it prints the report and sends what was found, as run does. It can be killed at any point: nothing is sent twice, and nothing is lost; what
was not sent yet is by the next call.

Exit codes: 0 done or not ready, 1 something could not be done (the next call tries again), 2 impossible command line, 3 there is no such run, 130 interrupted.`
}

// Run goes on with a run in batches.
func (c *triageCollectCmd) Run(s *streams) error {
	ctx, stop := interruptible()
	defer stop()
	if err := c.durable(); err != nil {
		return err
	}
	id, err := c.waiting(ctx)
	if err != nil {
		return err
	}
	if id == "" {
		s.note("no run waits for a batch: decant triage submit begins one")
		return nil
	}
	return c.kept(ctx, s, id, true, func(room *triageRoom, r *triage.Run) error { return c.phase(ctx, s, room, r) })
}

// waiting returns the id of the run that is named, or else of the oldest one that waits for a batch or for being told, empty where none does.
func (c *triageCollectCmd) waiting(ctx context.Context) (id string, err error) {
	room, err := c.archive(ctx)
	defer func() { err = errors.Join(err, room.close()) }()
	if err != nil {
		return "", err
	}
	if id = latest(c.ID); id == "" {
		all, err := triage.Runs(ctx, room.options, 1000)
		if err != nil {
			return "", err
		}
		for _, r := range all { // the newest first
			if r.Batched && (!r.Done || r.Owes) {
				id = r.Run
			}
		}
		if id == "" {
			return "", nil
		}
	}
	r, err := triage.Open(ctx, room.options, id)
	if err != nil {
		return "", noRun(err)
	}
	if r.Batch() == nil {
		return "", inputError{fmt.Errorf("run %s: %w", r.ID(), triage.ErrNotBatched)}
	}
	return r.ID(), nil
}

// phase does what can be done now.
func (c *triageCollectCmd) phase(ctx context.Context, s *streams, room *triageRoom, r *triage.Run) error {
	with, err := room.batches(r.Batch())
	if err != nil {
		return err
	}
	room.options.Told, room.options.Found = telling(s)
	if r, err = triage.Open(ctx, room.options, r.ID()); err != nil {
		return err
	}
	b, err := triage.InBatches(ctx, r, with)
	if err != nil {
		return inputError{err}
	}
	if c.Batch != "" && !b.WaitsFor(c.Batch) {
		return inputError{fmt.Errorf("run %s does not wait for batch %s", r.ID(), c.Batch)}
	}
	state, err := b.Step(ctx)
	if ctx.Err() != nil {
		s.note("interrupted: decant triage collect %s goes on", r.ID())
		return exitStatus(128 + int(syscall.SIGINT))
	}
	if state != nil && !state.Ready {
		c.wait(s, r.ID(), state)
	}
	if err != nil {
		s.warn(fmt.Errorf("%w; decant triage collect %s tries again", err, r.ID()))
		return exitStatus(exitOther)
	}
	if state != nil {
		return nil
	}
	if err := r.Remember(ctx); err != nil {
		return err
	}
	if err := printed(s, r.Report(), c.JSON, c.HTML); err != nil {
		return err
	}
	return wasTold(ctx, r, (&triageRunCmd{JSON: c.JSON, sendFlags: c.sendFlags, triageFlags: c.triageFlags}).send(ctx, s, room, r))
}

// wait says what a run waits for.
func (c *triageCollectCmd) wait(s *streams, id string, state *rounds.State) {
	fmt.Fprintf(s.out, "run %s\nbatch %s\n", id, strings.TrimSpace(state.Batch+" "+state.Note))
	line := "Not ready: most batches take less than an hour"
	if !state.Expires.IsZero() {
		line += ", this one until " + state.Expires.UTC().Format("2006-01-02 15:04 UTC") + " at the latest"
	}
	fmt.Fprintf(s.out, "%s. Come again: decant triage collect %s\n", line, id)
}
