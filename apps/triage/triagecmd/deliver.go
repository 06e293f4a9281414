package triagecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/decantdev/decant/apps/triage"
	"github.com/decantdev/decant/apps/triage/internal/deliver"
	"github.com/decantdev/decant/apps/triage/source"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
)

// sendFlags say what is sent to Slack and GitHub.
type sendFlags struct {
	MaxIssues int  `placeholder:"N" help:"Maximum number of issues to open (3)."`
	NoDeliver bool `help:"Print what would be sent to Slack and GitHub instead of sending it."`
}

type deliverCmd struct {
	ID        string `arg:"" name:"run" optional:"" default:"last" help:"The run, or the beginning of its id (${default})."`
	DryRun    bool   `help:"Same as --no-deliver."`
	Simulated bool   `help:"Also send findings of the stand-in for a model."`
	sendFlags
	flags
}

// Help describes what the flags do not.
func (c *deliverCmd) Help() string {
	return `Example:

    decant triage deliver --dry-run last

Nothing is sent twice: the run keeps a record of what was sent, and a mark in each message and issue finds it again after a crash. The settings slack, issues
and pull_request say where things go; the credentials are SLACK_BOT_TOKEN or SLACK_WEBHOOK_URL, and GITHUB_TOKEN.

Exit codes: 0 everything is delivered, 1 something is not (repeat the command), 2 wrong command line, 3 no such run.`
}

// Run sends the findings of a run that were not sent before.
func (c *deliverCmd) Run(s *process.Process) error {
	c.NoDeliver = c.NoDeliver || c.DryRun
	ctx, stop := s.Context()
	defer stop()
	return c.kept(ctx, s, c.ID, false, func(room *workroom, r *triage.Run) error {
		if r.Report().Simulated && !c.Simulated && !c.NoDeliver {
			return exit.Usage(errors.New("these findings come from a stand-in for a model, so they are not sent: --dry-run prints them, --simulated sends them"))
		}
		if !r.Done() && !c.NoDeliver {
			return exit.Usage(fmt.Errorf("run %s is not finished: decant triage run --resume", r.ID()))
		}
		return room.deliver(ctx, s, r, c.sendFlags)
	})
}

// sends reports whether a run sends its findings.
func (c *runCmd) sends() bool { return !c.Sandbox && !c.DryRun && !c.NoDeliver && !c.quiet }

// send sends the findings of a run, or prints what would be sent.
func (c *runCmd) send(ctx context.Context, s *process.Process, room *workroom, r *triage.Run) error {
	switch {
	case c.quiet:
		return nil
	case c.NoDeliver && c.JSON: // standard output is the report
		beside := *s
		beside.Out = s.Err
		return room.deliver(ctx, &beside, r, c.sendFlags)
	case c.Sandbox && !c.NoDeliver && r.Report().Totals.Investigated == 0:
		return nil
	case c.Sandbox && !c.NoDeliver:
		s.Note("Nothing was sent anywhere. --no-deliver prints the messages and issues that would be.")
		return nil
	}
	return room.deliver(ctx, s, r, c.sendFlags)
}

// deliver sends the findings of a run, or prints them. If something did not arrive, the exit status is 1.
func (r *workroom) deliver(ctx context.Context, s *process.Process, run *triage.Run, f sendFlags) error {
	o, err := deliver.Open(r.set.Deliver, s.Key, r.reader)
	if err != nil && !f.NoDeliver {
		s.Warn(err)
		return exit.Status(exit.Failed)
	}
	o.Settings.Issues.Most = cmp.Or(f.MaxIssues, o.Settings.Issues.Most)
	if f.NoDeliver {
		return showSent(ctx, s, run, o)
	}
	if o.Slack == nil && o.Hub == nil {
		return nil
	}
	if try := o.Try; try != nil {
		o.Try = func(ctx context.Context, e *deliver.ReportedError) (*deliver.Branch, *deliver.Refusal, error) {
			s.Note("trying the patch of error %d: building and testing may take minutes", e.Number)
			b, refused, err := try(ctx, e)
			if b == nil && ctx.Err() == nil {
				s.Note("the patch of error %d does not become a pull request: decant triage runs %s prints why", e.Number, run.ID())
			}
			return b, refused, err
		}
	}
	res, err := run.Deliver(ctx, o)
	if err != nil {
		s.Warn(err)
	}
	earlier := 0
	for _, e := range res.Entries {
		switch {
		case e.Earlier:
			earlier++
		case e.State == deliver.Done:
			s.Note("sent: %s", strings.TrimSpace(fmt.Sprintf("%s to %s %s", e.Item.Kind, e.Item.To, e.Made.URL)))
		}
	}
	if earlier > 0 {
		s.Note("sent before: %d", earlier)
	}
	for _, m := range res.Missing {
		s.Warn(fmt.Errorf("not delivered: %s", m))
	}
	if len(res.Missing) > 0 || err != nil {
		s.Note("decant triage deliver %s tries again what was not delivered, and sends nothing twice", run.ID())
		return exit.Status(exit.Failed)
	}
	return nil
}

// showSent prints what would be sent.
func showSent(ctx context.Context, s *process.Process, run *triage.Run, o deliver.Options) error {
	o.Settings.Issues.Repo = cmp.Or(o.Settings.Issues.Repo, "(no repository: issues: {repo: owner/name})")
	o.Settings.Slack.Channel = cmp.Or(o.Settings.Slack.Channel, "(no channel: slack: {channel: \"#name\"})")
	n := 0
	o.Show = func(it deliver.Item) {
		n++
		fmt.Fprintf(s.Out, "\n=== %s to %s", it.Kind, it.To)
		if it.On > 0 {
			fmt.Fprintf(s.Out, ", issue %d", it.On)
		}
		fmt.Fprintln(s.Out)
		if it.Title != "" {
			fmt.Fprintf(s.Out, "%s\n[%s]\n\n", it.Title, strings.Join(it.Labels, ", "))
		}
		fmt.Fprintln(s.Out, it.Text)
	}
	res, err := run.Deliver(ctx, o)
	for _, m := range res.Missing {
		s.Warn(fmt.Errorf("would not be delivered: %s", m))
	}
	fmt.Fprintf(s.Out, "\nNothing was sent: these %d would be.\n", n)
	return err
}

// sendFailure reports in Slack that a run could not do its work.
func (c *runCmd) sendFailure(ctx context.Context, s *process.Process, room *workroom, r *triage.Run, why error) {
	o, err := deliver.Open(room.set.Deliver, s.Key, room.reader)
	if !c.sends() || err != nil || o.Slack == nil {
		return
	}
	res, err := r.DeliverFailure(ctx, o, why)
	if err != nil {
		s.Warn(err)
	}
	for _, m := range res.Missing {
		s.Warn(fmt.Errorf("not delivered: %s", m))
	}
}

// reportFailure reports in Slack that a run could not begin.
func (c *runCmd) reportFailure(ctx context.Context, s *process.Process, room *workroom, look *triage.Look, why error) {
	if !c.sends() || room.set.Deliver.Slack.Channel == "" && s.Key("SLACK_WEBHOOK_URL") == "" || ctx.Err() != nil {
		return
	}
	p, err := look.Plan(ctx, room.options, &triage.Seen{})
	if err != nil {
		s.Warn(err)
		return
	}
	p.Report.Failed = room.masker.Text(source.Unprinted(why))
	r, err := triage.Start(ctx, room.options, p)
	if err == nil {
		err = r.Work(ctx)
	}
	if err != nil {
		s.Warn(err)
		return
	}
	c.sendFailure(ctx, s, room, r, why)
}

// learn reads what has become of earlier issues and pull requests.
func (r *workroom) learn(ctx context.Context, s *process.Process) error {
	if r.set.Deliver.Issues.Repo == "" {
		return nil
	}
	o, err := deliver.Open(r.set.Deliver, s.Key, r.reader)
	if err != nil || o.Hub == nil {
		return nil // sending reports the same error
	}
	all, err := o.Hub.Outcomes(ctx, o.Settings.Issues)
	if err != nil {
		s.Warn(fmt.Errorf("cannot read what has become of earlier issues: %w", err))
		return nil
	}
	news, err := triage.Learn(ctx, r.options, all)
	if news > 0 {
		s.Note("%d earlier findings were judged since the last run", news)
	}
	return err
}
