package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/internal/figure"
	"github.com/decantdev/decant/internal/triage"
	"github.com/decantdev/decant/internal/triage/event"
	"github.com/decantdev/decant/internal/triage/group"
	"github.com/decantdev/decant/internal/triage/investigate"
	"github.com/decantdev/decant/internal/triage/layer"
	"github.com/decantdev/decant/internal/triage/report"
	"github.com/decantdev/decant/internal/triage/sample"
	"github.com/decantdev/decant/internal/triage/source"
)

type triageRunCmd struct {
	Files []string `arg:"" optional:"" name:"file" help:"Logs, or files of JSON lines (*.jsonl, *.ndjson, *.json); - is standard input."`

	Since       string   `default:"24h" placeholder:"AGE-or-DATE" help:"Errors from then on: 24h, 7d, 2026-11-23, ... (${default})."`
	MaxErrors   int      `placeholder:"N" help:"Errors that are investigated at most (5)."`
	Parallel    int      `placeholder:"N" help:"Investigations at once (3)."`
	ErrorTokens int      `placeholder:"N" help:"Tokens for each error; at the limit the model gives its final answer (30000)."`
	RunTokens   int      `placeholder:"N" help:"Tokens for the whole run (200000)."`
	By          string   `default:"" enum:",fingerprint,transaction" placeholder:"WHAT" help:"What makes events the same error: fingerprint (class, message, code), or transaction (class and transaction)."`
	Thinking    bool     `help:"Let the model think before its answers, by the class of the error. It costs tokens, and the provider's cache."`
	Layers      []string `placeholder:"LIST" help:"Context layers: all, none, names, or -NAME for all but that one (all). decant triage measure says what each brings."`
	Ignore      string   `placeholder:"FILE" help:"YAML list of errors that nobody wants to hear of."`
	DryRun      bool     `help:"Show what would be investigated, and send nothing to a model."`
	Resume      bool     `help:"Go on with the newest run, which was interrupted."`
	HTML        string   `name:"html" placeholder:"FILE" help:"Write the report as a page, too."`
	JSON        bool     `name:"json" help:"Print the report as JSON."`
	Sample      string   `placeholder:"DIR" help:"Look at a sample: programs with their history and their errors, in a folder (docs/TRIAGE.md). Without files, --sandbox looks at the one in this program."`
	Services    bool     `help:"With --sandbox or --sample: the errors and the code come from stand-ins for New Relic, Sentry and GitHub, by the same way as from the services, and what is found goes to one for Slack, whose messages are shown."`
	sendFlags
	triageFlags

	stays bool // nothing is sent: one error was investigated for whoever sits here
}

// Help says what the flags have no room for.
func (c *triageRunCmd) Help() string {
	return `Errors with the same fingerprint are one. New ones and those that come back are investigated first; what is known and goes on as before is one line
of the report. An agent reads the code at the commit that ran (the event's release: a tag or a commit) and says what is wrong; what it quotes
must be what it was shown, else it is struck. Secrets are masked before anything is sent.

What is found goes to Slack and GitHub as the settings say (slack, issues, pull_request), each thing once; --sandbox sends nothing.

Exit codes: 0 done, 1 something could not be investigated (--resume tries again) or delivered (decant triage deliver tries again), 2 impossible command line, 3 input that cannot be read, 130
interrupted (--resume goes on).`
}

// Run looks at errors and has them investigated.
func (c *triageRunCmd) Run(s *streams) (err error) {
	ctx, stop := interruptible()
	defer stop()
	set, err := c.chosen(s)
	if err != nil {
		return err
	}
	taken, err := c.sample(set)
	if err == nil && c.Resume && taken == nil {
		taken, _, err = c.begunOn(ctx, "last")
	}
	if err != nil {
		return err
	}
	if !set.Given && !c.Sandbox && taken == nil && !c.DryRun && !c.Resume {
		s.note("There are no settings yet, so this is a dry run: decant triage init writes them, --sandbox works without a model.")
		c.DryRun = true
	}
	code := taken
	if c.Services {
		stop, err := c.play(taken, set)
		if stop != nil {
			defer stop()
		}
		if err != nil {
			return err
		}
		code = nil
	}
	room, err := c.open(ctx, code, set, !c.DryRun)
	defer func() { err = errors.Join(err, room.close()) }()
	if err != nil {
		return err
	}
	room.options.Told, room.options.Found = telling(s)
	if c.Resume {
		r, err := triage.Open(ctx, room.options, "")
		if err != nil {
			return noRun(err)
		}
		if r.Batch() != nil && !r.Done() {
			return usageError{fmt.Errorf("run %s is done in batches: decant triage collect goes on with it", r.ID())}
		}
		return c.finish(ctx, s, room, r)
	}
	return c.begin(ctx, s, room, taken)
}

// begin plans a run and works on it, or shows the plan.
func (c *triageRunCmd) begin(ctx context.Context, s *streams, room *triageRoom, taken *sample.Sample) error {
	look, err := c.look(room, taken)
	if err != nil {
		return err
	}
	if !c.DryRun && !c.Sandbox {
		if err := room.learn(ctx, s); err != nil {
			return err
		}
	}
	seen, err := room.gather(ctx, s, look)
	var p *triage.Plan
	if err == nil {
		p, err = look.Plan(ctx, room.options, seen)
	}
	if ctx.Err() != nil {
		s.note("interrupted before anything was found out: there is nothing to go on with")
		return exitStatus(128 + int(syscall.SIGINT))
	}
	if err != nil {
		c.tellFailure(ctx, s, room, look, err)
		return err
	}
	if c.DryRun {
		return c.dry(s, p)
	}
	if p.Sample, err = sampleName(taken, c.Sample); err != nil {
		return err
	}
	r, err := triage.Start(ctx, room.options, p)
	if err != nil {
		return err
	}
	return c.finish(ctx, s, room, r)
}

// look says what the run is about.
func (c *triageRunCmd) look(room *triageRoom, taken *sample.Sample) (*triage.Look, error) {
	now := time.Now()
	if taken != nil {
		now = taken.Now
	}
	since, err := beginning(c.Since, now)
	if err != nil {
		return nil, usageError{fmt.Errorf("--since: %w", err)}
	}
	set := room.set
	l := &triage.Look{Window: source.Window{Since: since, Until: now}, By: set.By, Most: set.Most, Ignore: set.Ignore, Runbooks: set.Runbooks, Services: set.Services,
		Mask: room.masker.Text, Model: room.model, Simulated: c.Sandbox, Off: set.Off}
	if taken != nil && !c.Services {
		l.Sources, l.Services = []source.Source{taken.Source()}, taken.Services()
		if l.Runbooks, err = taken.Runbooks(); err != nil {
			return nil, inputError{err}
		}
	} else if len(c.Files) == 0 {
		l.Sources = set.Sources
	}
	if len(c.Files) == 0 && len(l.Sources) == 0 {
		return nil, usageError{errors.New("name the files that hold the errors, logs or *.jsonl; or write settings with other sources: decant triage init")}
	}
	l.Sources = append(l.Sources, filed(c.Files)...)
	if c.Ignore != "" {
		src, err := os.ReadFile(c.Ignore)
		if err == nil {
			l.Ignore, err = group.ReadIgnored(c.Ignore, src)
		}
		if err != nil {
			return nil, inputError{err}
		}
	}
	return l, nil
}

// filed returns the sources that files are, by the ends of their names.
func filed(files []string) (out []source.Source) {
	var logs, lines []string
	for _, f := range files {
		switch filepath.Ext(strings.TrimSuffix(f, ".gz")) {
		case ".jsonl", ".ndjson", ".json":
			lines = append(lines, f)
		default:
			logs = append(logs, f)
		}
	}
	if len(lines) > 0 {
		out = append(out, &source.JSONL{Files: lines})
	}
	if len(logs) > 0 {
		out = append(out, &source.Log{Files: logs})
	}
	return out
}

// chosen returns the settings with what the command line says.
func (c *triageRunCmd) chosen(s *streams) (*triage.Settings, error) {
	set, err := c.settings(s)
	if err != nil {
		return nil, err
	}
	if min(c.MaxErrors, c.Parallel, c.ErrorTokens, c.RunTokens) < 0 {
		return nil, usageError{errors.New("--max-errors, --parallel, --error-tokens and --run-tokens must not be negative")}
	}
	set.Most, set.Parallel = cmp.Or(c.MaxErrors, set.Most), cmp.Or(c.Parallel, set.Parallel)
	set.PerError, set.PerRun = cmp.Or(c.ErrorTokens, set.PerError), cmp.Or(c.RunTokens, set.PerRun)
	if len(c.Layers) > 0 {
		if set.Off, err = layer.Parse(c.Layers); err != nil {
			return nil, usageError{fmt.Errorf("--layers: %w", err)}
		}
	}
	set.By, set.Thinking = cmp.Or(group.By(c.By), set.By), c.Thinking || set.Thinking
	return set, nil
}

// sample returns the sample that is looked at, nil where none is.
func (c *triageRunCmd) sample(set *triage.Settings) (s *sample.Sample, err error) {
	switch {
	case c.Sample != "" && len(c.Files) > 0:
		return nil, usageError{errors.New("want either --sample or files")}
	case c.Sample != "":
		s, err = sample.Open(c.Sample)
	case c.Sandbox && len(c.Files) == 0 && len(set.Sources) == 0 && !c.Resume:
		s, err = sample.Bundled()
	}
	if err != nil {
		return nil, inputError{err}
	}
	return s, nil
}

// sampleName returns the name by which a run keeps its sample; empty: there is none.
func sampleName(taken *sample.Sample, dir string) (string, error) {
	switch {
	case taken == nil:
		return "", nil
	case dir == "":
		return triage.BundledSample, nil
	}
	return filepath.Abs(dir)
}

// beginning returns the time that an age or a date names.
func beginning(text string, now time.Time) (time.Time, error) {
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(form, text, time.UTC); err == nil {
			return t, nil
		}
	}
	var a age
	if err := a.UnmarshalText([]byte(text)); err != nil {
		return time.Time{}, fmt.Errorf("%q is neither an age (24h, 7d) nor a date (2026-11-23)", text)
	}
	return now.Add(-time.Duration(a)), nil
}

// dry shows a plan.
func (c *triageRunCmd) dry(s *streams, p *triage.Plan) error {
	if c.JSON {
		return writeJSON(s.out, p)
	}
	for _, n := range p.Report.Notices {
		s.warn(errors.New(n))
	}
	w := s.out
	for i := range p.Report.Errors {
		e := &p.Report.Errors[i]
		what := "would be investigated"
		if e.Number == 0 {
			what = e.Left
		}
		fmt.Fprintf(w, "%-10s %6s times  %s\n", e.State, figure.Thousands(e.Count), e.Name())
		if e.Message != "" {
			fmt.Fprintf(w, "           %s\n", clipped(firstLine(e.Message), 140))
		}
		for _, f := range e.Frames {
			if f.InApp {
				fmt.Fprintf(w, "           %s:%d %s\n", f.File, f.Line, f.Function)
				break
			}
		}
		fmt.Fprintf(w, "           %s\n", what)
	}
	fmt.Fprintf(w, "%s events, %d errors. Nothing was sent to a model.\n", figure.Thousands(p.Events), len(p.Report.Errors))
	return nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// telling says on standard error what investigations do.
func telling(s *streams) (func(*investigate.Case, agent.Event), func(*investigate.Case, *investigate.Finding)) {
	told := func(c *investigate.Case, e agent.Event) {
		if e.Kind == agent.EventCall {
			s.note("#%d %s %s", c.Number, e.Call.Tool, clipped(string(e.Call.Arguments), 100))
		}
	}
	found := func(c *investigate.Case, f *investigate.Finding) {
		s.note("#%d %s: %s (%s confidence, %s tokens)", c.Number, c.Name(), strings.ReplaceAll(string(f.State), "_", " "), f.Confidence, figure.Thousands(f.Tokens()))
	}
	return told, found
}

// finish works on a run to its end, prints the report, and sends what was found.
func (c *triageRunCmd) finish(ctx context.Context, s *streams, room *triageRoom, r *triage.Run) error {
	err := r.Work(ctx)
	if ctx.Err() != nil {
		s.note("interrupted: decant triage run --resume goes on with run %s", r.ID())
		return exitStatus(128 + int(syscall.SIGINT))
	}
	if err = errors.Join(err, r.Remember(ctx)); err != nil {
		s.warn(fmt.Errorf("%w; decant triage run --resume tries again", err))
	}
	if fault := printed(s, r.Report(), c.JSON, c.HTML); fault != nil {
		return fault
	}
	if err != nil {
		c.unfinished(ctx, s, room, r, err)
		return exitStatus(exitOther)
	}
	return wasTold(ctx, r, c.send(ctx, s, room, r))
}

// wasTold keeps that a run was told, with an error where something was not delivered: that was said, and decant triage deliver tries again. Where the process
// was interrupted the run still owes it.
func wasTold(ctx context.Context, r *triage.Run, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return errors.Join(err, r.Told(ctx))
}

// printed prints a report, and writes the page where one is wanted.
func printed(s *streams, rep *report.Report, asJSON bool, page string) error {
	if page != "" {
		var b bytes.Buffer
		if err := rep.WriteHTML(&b); err != nil {
			return err
		}
		if err := os.WriteFile(page, b.Bytes(), 0o600); err != nil {
			return err
		}
	}
	if asJSON {
		return writeJSON(s.out, rep)
	}
	return rep.WriteMarkdown(s.out)
}

type triageInvestigateCmd struct {
	File string `arg:"" help:"File with a stack trace as somebody pasted it, or an address (https); - is standard input."`

	Release     string `placeholder:"TAG-or-SHA" help:"The release that ran."`
	ErrorTokens int    `placeholder:"N" help:"Tokens for the error (30000)."`
	HTML        string `name:"html" placeholder:"FILE" help:"Write the report as a page, too."`
	JSON        bool   `name:"json" help:"Print the report as JSON."`
	triageFlags
}

// mostPasted is how many bytes of a stack trace are read.
const mostPasted = 1 << 20

// Run investigates one error.
func (c *triageInvestigateCmd) Run(s *streams) (err error) {
	ctx, stop := interruptible()
	defer stop()
	text, err := pasted(ctx, s, c.File)
	if err != nil {
		return err
	}
	e, ok := source.Parse(text)
	if !ok {
		return inputError{fmt.Errorf("%s: there is no error in it: paste the message with its stack trace", c.File)}
	}
	e.Release = c.Release
	set, err := c.settings(s)
	if err != nil {
		return err
	}
	set.PerError = cmp.Or(c.ErrorTokens, set.PerError)
	room, err := c.open(ctx, nil, set, true)
	defer func() { err = errors.Join(err, room.close()) }()
	if err != nil {
		return err
	}
	room.options.Told, room.options.Found = telling(s)
	look := &triage.Look{Mask: room.masker.Text, Most: 1, Model: room.model, Simulated: c.Sandbox}
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	look.Window = source.Window{Since: e.Time, Until: time.Now()}
	p, err := look.Plan(ctx, room.options, &triage.Seen{Groups: group.Events([]event.Event{e}, group.ByFingerprint), Events: 1})
	if err != nil {
		return err
	}
	r, err := triage.Start(ctx, room.options, p)
	if err != nil {
		return err
	}
	return (&triageRunCmd{JSON: c.JSON, HTML: c.HTML, stays: true}).finish(ctx, s, room, r)
}

// sends reports whether a command sends what it finds.
func (c *triageRunCmd) sends() bool { return !c.Sandbox && !c.DryRun && !c.NoDeliver && !c.stays }

// send sends what a run has found, or says what would be sent.
func (c *triageRunCmd) send(ctx context.Context, s *streams, room *triageRoom, r *triage.Run) error {
	switch {
	case c.stays:
		return nil
	case c.NoDeliver && c.JSON: // standard output is the report
		beside := *s
		beside.out = s.err
		return room.deliver(ctx, &beside, r, c.sendFlags)
	case c.Sandbox && !c.NoDeliver && r.Report().Totals.Investigated == 0:
		return nil
	case c.acted != nil && !c.NoDeliver:
		return c.post(ctx, s, room, r)
	case c.Sandbox && !c.NoDeliver:
		s.note("Nothing was sent anywhere. --no-deliver prints the messages and issues that would be.")
		return nil
	}
	return room.deliver(ctx, s, r, c.sendFlags)
}

// post sends what a run has found to a Slack that is played, and shows what stands there then.
func (c *triageRunCmd) post(ctx context.Context, s *streams, room *triageRoom, r *triage.Run) error {
	beside := *s
	if c.JSON { // standard output is the report
		beside.out = s.err
	}
	err := room.deliver(ctx, s, r, c.sendFlags)
	fmt.Fprintln(beside.out, "\n=== what the stand-in for Slack was sent")
	c.acted.Posted(beside.out)
	return err
}

// unfinished says in Slack that a run could not do its work.
func (c *triageRunCmd) unfinished(ctx context.Context, s *streams, room *triageRoom, r *triage.Run, why error) {
	o, err := room.services()
	if !c.sends() || err != nil || o.Slack == nil {
		return
	}
	res, err := r.DeliverFailure(ctx, o, why)
	if err != nil {
		s.warn(err)
	}
	for _, m := range res.Missing {
		s.warn(fmt.Errorf("not delivered: %s", m))
	}
}

// tellFailure says in Slack that a run could not begin.
func (c *triageRunCmd) tellFailure(ctx context.Context, s *streams, room *triageRoom, look *triage.Look, why error) {
	if !c.sends() || room.set.Deliver.Slack.Channel == "" && c.variable("SLACK_WEBHOOK_URL") == "" || ctx.Err() != nil {
		return
	}
	p, err := look.Plan(ctx, room.options, &triage.Seen{})
	if err != nil {
		s.warn(err)
		return
	}
	p.Report.Failed = room.masker.Text(source.Unprinted(why))
	r, err := triage.Start(ctx, room.options, p)
	if err == nil {
		err = r.Work(ctx)
	}
	if err != nil {
		s.warn(err)
		return
	}
	c.unfinished(ctx, s, room, r, why)
}
