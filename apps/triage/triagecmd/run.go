package triagecmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/triage"
	"github.com/decantdev/decant/apps/triage/internal/deliver"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/apps/triage/source"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/humanize"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/provider"
)

// lookFlags say which errors a run looks at, and how far it goes.
type lookFlags struct {
	Files []string `arg:"" optional:"" name:"file" help:"Logs, or files of JSON lines (*.jsonl, *.ndjson, *.json); - is standard input."`

	Since       string   `default:"24h" placeholder:"AGE-or-DATE" help:"Errors since then: 24h, 7d, 2026-11-23, ... (${default})."`
	MaxErrors   int      `placeholder:"N" help:"Maximum number of errors to investigate (5)."`
	Parallel    int      `placeholder:"N" help:"Investigations at the same time (3)."`
	ErrorTokens int      `placeholder:"N" help:"Tokens per error; at the limit the model must answer (30000)."`
	RunTokens   int      `placeholder:"N" help:"Tokens for the whole run (200000)."`
	Thinking    bool     `help:"Let the model think before it answers. Costs tokens, and parts of the provider's cache."`
	Layers      []string `placeholder:"LIST" help:"Context layers: all, none, some names, or -NAME for all but that one (all)."`
	flags
}

type runCmd struct {
	lookFlags
	Batch  bool   `help:"Ask the model in batches, at half the price. Repeat the command until it prints the report."`
	DryRun bool   `help:"Show what would be investigated. Sends nothing to a model."`
	Resume bool   `help:"Continue the newest run that was interrupted; with --batch, the one that waits for a batch."`
	HTML   string `name:"html" placeholder:"FILE" help:"Also write the report as a page."`
	JSON   bool   `name:"json" help:"Print the report as JSON."`
	sendFlags

	quiet bool // nothing is sent: somebody at the terminal wanted one error investigated
}

// Help describes what the flags do not.
func (c *runCmd) Help() string {
	return `Example:

    decant triage run --since 7d --html report.html app.log

Events with the same fingerprint are one error. New errors, and those that came back, are investigated first; known errors that continue as before are
one line of the report. An agent reads the code at the commit that ran (the event's release: a tag or a commit) and reports the cause. Each line that it
quotes is checked against the code. Secrets are masked before anything is sent.

Findings go to Slack and GitHub if the settings say so (slack, issues, pull_request), each once; --sandbox sends nothing.

--batch sends the model's requests as batches, which may take up to 24 hours each and cost half. The first call begins a run; later calls, for
instance by cron, continue it. A batch that is not ready is no error. With --resume no new run is begun.

Exit codes: 0 done or not ready, 1 something could not be investigated or delivered (--resume tries again), 2 wrong command line, 3 input that cannot be
read, 130 interrupted (--resume continues).`
}

// Run collects errors and has them investigated.
func (c *runCmd) Run(s *process.Process) (err error) {
	ctx, stop := s.Context()
	defer stop()
	if c.Batch && c.Sandbox && c.DB == "" {
		return exit.Usage(errors.New("with --sandbox, name a database in which the run waits for its batches: --db FILE"))
	}
	set, err := c.chosen(s)
	if err != nil {
		return err
	}
	taken, id, err := c.unfinished(s)
	if err != nil {
		return err
	}
	if c.Batch && c.Resume && id == "" {
		s.Note("no run waits for a batch: decant triage run --batch begins one")
		return nil
	}
	if id == "" {
		if taken, err = c.sample(s, set); err != nil {
			return err
		}
	}
	if !set.Given && !c.Sandbox && !c.DryRun && id == "" {
		s.Note("There are no settings yet, so this is a dry run: decant triage init writes them, --sandbox works without a model.")
		c.DryRun = true
	}
	room, err := c.open(ctx, s, taken, set, !c.DryRun)
	defer func() { err = errors.Join(err, room.close()) }()
	if err != nil {
		return err
	}
	room.options.Told, room.options.Found = progress(s)
	if id == "" {
		return c.begin(ctx, s, room, taken)
	}
	r, err := triage.Open(ctx, room.options, id)
	if err != nil {
		return noRun(err)
	}
	return c.work(ctx, s, room, r)
}

// unfinished returns the id of the run to continue, and its sample; empty: a new run is begun.
func (c *runCmd) unfinished(s *process.Process) (taken *Sample, id string, err error) {
	if !c.Batch && !c.Resume {
		return nil, "", nil
	}
	err = c.archived(s, func(ctx context.Context, room *workroom) error {
		if c.Batch {
			if id, err = triage.WaitingBatch(ctx, room.options); err != nil || id == "" {
				return err
			}
		}
		taken, id, err = c.find(ctx, s, room, id)
		return err
	})
	return taken, id, err
}

// begin plans a run and works on it, or shows the plan.
func (c *runCmd) begin(ctx context.Context, s *process.Process, room *workroom, taken *Sample) error {
	if _, ok := room.client.(provider.Batcher); c.Batch && !c.DryRun && !ok {
		return exit.Usage(fmt.Errorf("%w: --batch needs a key of Anthropic (ANTHROPIC_API_KEY), or --sandbox", triage.ErrNoBatches))
	}
	look, err := c.look(s, room, taken)
	if err != nil {
		return err
	}
	if !c.DryRun && !c.Sandbox {
		if err := room.learn(ctx, s); err != nil {
			return err
		}
	}
	p, err := room.plan(ctx, s, look, c.Batch)
	if ctx.Err() != nil {
		s.Note("interrupted before the run was planned: there is nothing to continue")
		return exit.Interrupted
	}
	if err != nil {
		c.reportFailure(ctx, s, room, look, err)
		return err
	}
	if c.DryRun {
		return c.show(s, p)
	}
	p.OnSample = taken != nil
	r, err := triage.Start(ctx, room.options, p)
	if err != nil {
		return err
	}
	return c.work(ctx, s, room, r)
}

// work works on a run as far as it can, prints the report when it is done, and sends the findings.
func (c *runCmd) work(ctx context.Context, s *process.Process, room *workroom, r *triage.Run) error {
	batcher, _ := room.client.(provider.Batcher)
	state, err := r.Advance(ctx, batcher)
	if ctx.Err() != nil {
		s.Note("interrupted: decant triage run --resume continues run %s", r.ID())
		return exit.Interrupted
	}
	if state != nil && !state.Ready {
		c.wait(s, r.ID(), state)
	}
	if state != nil && err == nil {
		return nil
	}
	if err = errors.Join(err, r.Remember(ctx)); err != nil {
		s.Warn(fmt.Errorf("%w; decant triage run --resume tries again", err))
	}
	if state != nil || err != nil && r.InBatches() {
		return exit.Status(exit.Failed)
	}
	if fault := printed(s, r.Report(), c.JSON, c.HTML); fault != nil {
		return fault
	}
	if err != nil {
		c.sendFailure(ctx, s, room, r, err)
		return exit.Status(exit.Failed)
	}
	return delivered(ctx, r, c.send(ctx, s, room, r))
}

// wait prints which batch a run waits for.
func (c *runCmd) wait(s *process.Process, id string, state *triage.BatchState) {
	fmt.Fprintf(s.Out, "run %s\nbatch %s\n", id, strings.TrimSpace(state.Batch+" "+state.Note))
	line := "Not ready: most batches take less than an hour"
	if !state.Expires.IsZero() {
		line += ", this one until " + state.Expires.UTC().Format("2006-01-02 15:04 UTC") + " at the latest"
	}
	fmt.Fprintf(s.Out, "%s. Repeat decant triage run --batch.\n", line)
}

// delivered marks a run as delivered, whether or not everything arrived: decant triage deliver sends the rest. An
// interrupted run is not marked, so that --resume delivers it.
func delivered(ctx context.Context, r *triage.Run, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return errors.Join(err, r.Told(ctx))
}

// plan reads the sources and plans a run. What programs have printed about a failure goes to standard error, and in no
// report: reports are sent.
func (r *workroom) plan(ctx context.Context, s *process.Process, look *triage.Look, batch bool) (*triage.Plan, error) {
	for _, fault := range r.faults {
		s.Warn(fault)
	}
	var b *triage.Batch
	if batch {
		b = &triage.Batch{MaxErrors: r.set.Most, PerError: r.set.PerError, PerRun: r.set.PerRun, Thinking: r.set.Thinking}
		look.Most = triage.MaxPassed
	}
	seen, err := triage.Gather(ctx, r.options, look)
	if err != nil {
		return nil, exit.Input(err)
	}
	for _, fault := range seen.Faults {
		s.Warn(fault)
	}
	seen.Notices = append(seen.Notices, r.notices...)
	p, err := look.Plan(ctx, r.options, seen)
	if err == nil {
		p.Batch = b
	}
	return p, err
}

// look returns what the run looks at.
func (c *lookFlags) look(s *process.Process, room *workroom, taken *Sample) (*triage.Look, error) {
	now := time.Now()
	if taken != nil {
		now = taken.Now
	}
	since, err := beginning(c.Since, now)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("--since: %w", err))
	}
	set := room.set
	l := &triage.Look{Window: source.Window{Since: since, Until: now}, By: set.By, Most: set.Most, Ignore: set.Ignore, Runbooks: set.Runbooks,
		Services: set.Services, Mask: room.masker.Text, Model: room.model, Simulated: c.Sandbox, Off: set.Off}
	switch {
	case taken != nil:
		l.Sources, l.Services, l.Runbooks = []source.Source{taken.Source}, taken.Services, taken.Runbooks
	case len(c.Files) > 0:
		l.Sources = source.Files(s, c.Files)
	case len(set.Sources) > 0:
		l.Sources = set.Sources
	default:
		return nil, exit.Usage(errors.New("name the files that have the errors, logs or *.jsonl; or write settings with other sources: decant triage init"))
	}
	return l, nil
}

// chosen returns the settings with those of the command line.
func (c *lookFlags) chosen(s *process.Process) (*triage.Settings, error) {
	set, err := c.settings(s)
	if err != nil {
		return nil, err
	}
	if min(c.MaxErrors, c.Parallel, c.ErrorTokens, c.RunTokens) < 0 {
		return nil, exit.Usage(errors.New("--max-errors, --parallel, --error-tokens and --run-tokens must not be negative"))
	}
	set.Most, set.Parallel = cmp.Or(c.MaxErrors, set.Most), cmp.Or(c.Parallel, set.Parallel)
	set.PerError, set.PerRun = cmp.Or(c.ErrorTokens, set.PerError), cmp.Or(c.RunTokens, set.PerRun)
	set.Thinking = c.Thinking || set.Thinking
	if len(c.Layers) > 0 {
		if set.Off, err = investigate.ParseLayers(c.Layers); err != nil {
			return nil, exit.Usage(fmt.Errorf("--layers: %w", err))
		}
	}
	return set, nil
}

// sample returns the sample that the sandbox looks at if nothing else is named; nil: another source is.
func (c *lookFlags) sample(s *process.Process, set *triage.Settings) (*Sample, error) {
	if !c.Sandbox || len(c.Files) > 0 || len(set.Sources) > 0 {
		return nil, nil
	}
	return c.sandbox.Sample(s)
}

// beginning returns the time that an age or a date names.
func beginning(text string, now time.Time) (time.Time, error) {
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(form, text, time.UTC); err == nil {
			return t, nil
		}
	}
	var a command.Age
	if err := a.UnmarshalText([]byte(text)); err != nil {
		return time.Time{}, fmt.Errorf("%q is neither an age (24h, 7d) nor a date (2026-11-23)", text)
	}
	return now.Add(-time.Duration(a)), nil
}

// show prints a plan.
func (c *runCmd) show(s *process.Process, p *triage.Plan) error {
	if c.JSON {
		return command.WriteJSON(s.Out, p)
	}
	for _, n := range p.Report.Notices {
		s.Warn(errors.New(n))
	}
	w := s.Out
	for i := range p.Report.Errors {
		e := &p.Report.Errors[i]
		fmt.Fprintf(w, "%-10s %6s times  %s\n", e.State, humanize.Thousands(e.Count), e.Name())
		if line, _, _ := strings.Cut(e.Message, "\n"); line != "" {
			fmt.Fprintf(w, "           %s\n", humanize.Clipped(line, 140))
		}
		for _, f := range e.Frames {
			if f.InApp {
				fmt.Fprintf(w, "           %s:%d %s\n", f.File, f.Line, f.Function)
				break
			}
		}
		fmt.Fprintf(w, "           %s\n", cmp.Or(e.Left, "would be investigated"))
	}
	fmt.Fprintf(w, "%s events, %d errors. Nothing was sent to a model.\n", humanize.Thousands(p.Events), len(p.Report.Errors))
	return nil
}

// progress returns functions that print on standard error what investigations do and find.
func progress(s *process.Process) (func(*investigate.Case, agent.Event), func(*investigate.Case, *investigate.Finding)) {
	told := func(c *investigate.Case, e agent.Event) {
		switch e.Kind {
		case agent.EventCall:
			s.Note("#%d %s %s", c.Number, e.Call.Tool, humanize.Clipped(string(e.Call.Arguments), 100))
		case agent.EventWarning:
			s.Note("#%d %s", c.Number, e.Text)
		}
	}
	found := func(c *investigate.Case, f *investigate.Finding) {
		state := strings.ReplaceAll(string(f.State), "_", " ")
		s.Note("#%d %s: %s (%s confidence, %s tokens)", c.Number, c.Name(), state, f.Confidence, humanize.Thousands(f.Tokens()))
	}
	return told, found
}

// printed prints a report, and writes it as a page if one is wanted.
func printed(s *process.Process, rep *deliver.Report, asJSON bool, page string) error {
	if page != "" {
		var b bytes.Buffer
		if err := rep.WriteHTML(&b); err != nil {
			return err
		}
		if err := os.WriteFile(s.Path(page), b.Bytes(), 0o600); err != nil {
			return err
		}
	}
	if asJSON {
		return command.WriteJSON(s.Out, rep)
	}
	return rep.WriteMarkdown(s.Out)
}
