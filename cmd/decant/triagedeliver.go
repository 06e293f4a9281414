package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/decantdev/decant/internal/triage"
	"github.com/decantdev/decant/internal/triage/code"
	"github.com/decantdev/decant/internal/triage/deliver"
	"github.com/decantdev/decant/internal/triage/group"
	"github.com/decantdev/decant/internal/triage/proof"
)

// sendFlags say what is sent.
type sendFlags struct {
	MaxIssues int  `placeholder:"N" help:"Issues that are opened at most (3)."`
	NoDeliver bool `help:"Send nothing to Slack and GitHub: print what would be sent."`
}

// services returns where results go, by the settings and the environment. Without settings it is nowhere.
func (r *triageRoom) services() (o deliver.Options, err error) {
	o.Settings = r.set.Deliver
	if s := o.Settings.Slack; s.Channel != "" || key("SLACK_WEBHOOK_URL") != "" {
		if o.Slack, err = slackService(); err != nil {
			return o, usageError{err}
		}
	}
	repo := o.Settings.Issues.Repo
	if repo == "" {
		return o, nil
	}
	token := cmp.Or(key("GITHUB_TOKEN"), key("GH_TOKEN"))
	if token == "" {
		return o, usageError{fmt.Errorf("issues: repo: %s is in the settings, and there is no GITHUB_TOKEN to write to it", repo)}
	}
	client, err := code.GitHub(token, os.Getenv("GITHUB_API_URL"), nil)
	if err != nil {
		return o, usageError{err}
	}
	if o.Hub, err = deliver.NewHub(client, repo); err != nil {
		return o, usageError{err}
	}
	if o.Settings.PullRequest == "draft" {
		p := &proof.Prover{Code: r.reader, Repo: repo}
		o.Try = p.Try
	}
	return o, nil
}

// slackService returns Slack with the credential of the environment.
func slackService() (*deliver.Slack, error) {
	if token := key("SLACK_BOT_TOKEN"); token != "" {
		return deliver.Bot(token, os.Getenv("SLACK_API_URL"), nil)
	}
	if hook := key("SLACK_WEBHOOK_URL"); hook != "" {
		return deliver.Webhook(hook, nil)
	}
	return nil, errors.New("slack is in the settings, and there is neither SLACK_BOT_TOKEN nor SLACK_WEBHOOK_URL")
}

// deliver sends what a run has found, or shows it. Something that did not arrive is told, and makes the exit status 1.
func (r *triageRoom) deliver(ctx context.Context, s *streams, run *triage.Run, f sendFlags) error {
	o, err := r.services()
	if err != nil && !f.NoDeliver {
		s.warn(err)
		return exitStatus(exitOther)
	}
	o.Settings.Issues.Most = cmp.Or(f.MaxIssues, o.Settings.Issues.Most)
	if f.NoDeliver {
		return showSent(ctx, s, run, o)
	}
	if o.Slack == nil && o.Hub == nil {
		return nil
	}
	res, err := run.Deliver(ctx, o)
	if err != nil {
		s.warn(err)
	}
	for _, e := range res.Entries {
		if e.State == deliver.Done {
			s.note("sent: %s to %s %s", e.Item.Kind, e.Item.To, e.Made.URL)
		}
	}
	for _, m := range res.Missing {
		s.warn(fmt.Errorf("not delivered: %s", m))
	}
	if len(res.Missing) > 0 || err != nil {
		s.note("decant triage deliver %s tries again what was not delivered, and sends nothing twice", run.ID())
		return exitStatus(exitOther)
	}
	return nil
}

// showSent prints what would be sent.
func showSent(ctx context.Context, s *streams, run *triage.Run, o deliver.Options) error {
	o.Settings.Issues.Repo = cmp.Or(o.Settings.Issues.Repo, "(no repository: issues: {repo: owner/name})")
	o.Settings.Slack.Channel = cmp.Or(o.Settings.Slack.Channel, "(no channel: slack: {channel: \"#name\"})")
	n := 0
	o.Show = func(it deliver.Item) {
		n++
		fmt.Fprintf(s.out, "\n=== %s to %s", it.Kind, it.To)
		if it.On > 0 {
			fmt.Fprintf(s.out, ", issue %d", it.On)
		}
		fmt.Fprintln(s.out)
		if it.Title != "" {
			fmt.Fprintf(s.out, "%s\n[%s]\n\n", it.Title, strings.Join(it.Labels, ", "))
		}
		fmt.Fprintln(s.out, it.Text)
	}
	res, err := run.Deliver(ctx, o)
	for _, m := range res.Missing {
		s.warn(fmt.Errorf("would not be delivered: %s", m))
	}
	fmt.Fprintf(s.out, "\nNothing was sent: these %d would be.\n", n)
	return err
}

// learn reads back what has become of issues and pull requests.
func (r *triageRoom) learn(ctx context.Context, s *streams) error {
	if r.set.Deliver.Issues.Repo == "" {
		return nil
	}
	o, err := r.services()
	if err != nil || o.Hub == nil {
		return nil // what is wrong is told when something is sent
	}
	all, err := o.Hub.Outcomes(ctx, o.Settings.Issues)
	if err != nil {
		s.warn(fmt.Errorf("what has become of earlier issues cannot be read: %w", err))
		return nil
	}
	news, err := triage.Learn(ctx, r.options, all)
	if news > 0 {
		s.note("%d earlier findings were judged since the last run", news)
	}
	return err
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
	case c.Sandbox && !c.NoDeliver:
		s.note("Nothing was sent anywhere. --no-deliver prints the messages and issues that would be.")
		return nil
	}
	return room.deliver(ctx, s, r, c.sendFlags)
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
	if !c.sends() || room.set.Deliver.Slack.Channel == "" && key("SLACK_WEBHOOK_URL") == "" || ctx.Err() != nil {
		return
	}
	p, err := look.Plan(ctx, room.options, &triage.Seen{})
	if err != nil {
		s.warn(err)
		return
	}
	p.Report.Failed = room.masker.Text(why.Error())
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

type triageDeliverCmd struct {
	ID        string `arg:"" name:"run" optional:"" default:"last" help:"The run, or the beginning of its id (${default})."`
	DryRun    bool   `help:"As --no-deliver."`
	Simulated bool   `help:"Send the findings of a stand-in for a model, too."`
	sendFlags
	triageFlags
}

// Help says what the flags have no room for.
func (c *triageDeliverCmd) Help() string {
	return `What was sent is not sent again: it is noted in the run, and looked for at the service where a process died while it was sent.
Where: slack, issues and pull_request in the settings; SLACK_BOT_TOKEN or SLACK_WEBHOOK_URL, and GITHUB_TOKEN, in the environment.

Exit codes: 0 all is delivered, 1 something is not (it is tried again the next time), 2 impossible command line, 3 no such run.`
}

// Run sends what a run has found, as far as it was not sent before.
func (c *triageDeliverCmd) Run(s *streams) error {
	c.NoDeliver = c.NoDeliver || c.DryRun
	return c.kept(c.ID, func(ctx context.Context, room *triageRoom, r *triage.Run) error {
		if r.Report().Simulated && !c.Simulated && !c.NoDeliver {
			return usageError{errors.New("a stand-in for a model has made these findings, so they are not sent: --dry-run shows them, --simulated sends them all the same")}
		}
		if !r.Done() && !c.NoDeliver {
			return usageError{fmt.Errorf("run %s is not finished: decant triage run --resume", r.ID())}
		}
		return room.deliver(ctx, s, r, c.sendFlags)
	})
}

// ways examines Slack and GitHub, where results go.
func (c *triageDoctorCmd) ways(ctx context.Context, set *triage.Settings, say func(string, error)) {
	if channel := set.Deliver.Slack.Channel; channel != "" || key("SLACK_WEBHOOK_URL") != "" {
		service, err := slackService()
		switch {
		case err != nil:
		case !service.Threads():
			channel = "over a webhook (only a message can tell; a run whose message is cut off cannot find out whether it has arrived)"
		default:
			err = service.Check(ctx, channel)
		}
		say("Slack "+channel, err)
	}
	repo := set.Deliver.Issues.Repo
	if repo == "" {
		return
	}
	token := cmp.Or(key("GITHUB_TOKEN"), key("GH_TOKEN"))
	if token == "" {
		say("issues of "+repo, errors.New("there is no GITHUB_TOKEN: make one with the right to write issues"))
		return
	}
	client, err := code.GitHub(token, os.Getenv("GITHUB_API_URL"), nil)
	if err == nil {
		var hub *deliver.Hub
		if hub, err = deliver.NewHub(client, repo); err == nil {
			err = hub.Check(ctx, set.Deliver.PullRequest == "draft")
		}
	}
	say("issues of "+repo, err)
}

// judgedBy says where the judgement of what was found last is known from; empty: a person has typed it, or there is none.
func judgedBy(k *group.Known) string {
	for _, j := range k.Judged {
		if j.Run == k.Found.Run && j.Number == k.Found.Number && j.By != "feedback" {
			return ": " + j.By
		}
	}
	return ""
}
