package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/decantdev/decant/internal/triage"
	"github.com/decantdev/decant/internal/triage/code"
	"github.com/decantdev/decant/internal/triage/deliver"
	"github.com/decantdev/decant/internal/triage/proof"
	"github.com/decantdev/decant/internal/triage/report"
)

// sendFlags say what is sent.
type sendFlags struct {
	MaxIssues int  `placeholder:"N" help:"Issues that are opened at most (3)."`
	NoDeliver bool `help:"Send nothing to Slack and GitHub: print what would be sent."`
}

// services returns where results go, by the settings and the environment. Without settings it is nowhere.
func (r *triageRoom) services() (o deliver.Options, err error) {
	o.Settings = r.set.Deliver
	if s := o.Settings.Slack; s.Channel != "" || r.variable("SLACK_WEBHOOK_URL") != "" {
		if o.Slack, err = slackService(r.variable); err != nil {
			return o, usageError{err}
		}
	}
	repo := o.Settings.Issues.Repo
	if repo == "" {
		return o, nil
	}
	token := cmp.Or(r.variable("GITHUB_TOKEN"), r.variable("GH_TOKEN"))
	if token == "" {
		return o, usageError{fmt.Errorf("issues: repo: %s is in the settings, and there is no GITHUB_TOKEN to write to it", repo)}
	}
	client, err := code.GitHub(token, r.variable("GITHUB_API_URL"), nil)
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

// slackService returns Slack with the credential of an environment.
func slackService(variable func(string) string) (*deliver.Slack, error) {
	if token := variable("SLACK_BOT_TOKEN"); token != "" {
		return deliver.Bot(token, variable("SLACK_API_URL"), nil)
	}
	if hook := variable("SLACK_WEBHOOK_URL"); hook != "" {
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
	if try := o.Try; try != nil {
		o.Try = func(ctx context.Context, e *report.Error) (*deliver.Branch, *deliver.Refusal, error) {
			s.note("trying the patch of error %d: building and testing may take minutes", e.Number)
			b, refused, err := try(ctx, e)
			if b == nil && ctx.Err() == nil {
				s.note("the patch of error %d is no pull request: decant triage report %s says why, with what was printed", e.Number, run.ID())
			}
			return b, refused, err
		}
	}
	res, err := run.Deliver(ctx, o)
	if err != nil {
		s.warn(err)
	}
	earlier := 0
	for _, e := range res.Entries {
		switch {
		case e.Earlier:
			earlier++
		case e.State == deliver.Done:
			s.note("sent: %s", strings.TrimSpace(fmt.Sprintf("%s to %s %s", e.Item.Kind, e.Item.To, e.Made.URL)))
		}
	}
	if earlier > 0 {
		s.note("sent before: %d, and not again", earlier)
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
