package deliver

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/decantdev/decant/apps/triage/code"
)

// Open returns where findings go, by the settings and the credentials of an environment. Without settings that is nowhere.
// Patches are tried in the repositories of reader. Errors say which variable is missing or wrong.
func Open(s Settings, getenv func(string) string, reader *code.Reader) (o Options, err error) {
	o.Settings = s
	if s.Slack.Channel != "" || getenv("SLACK_WEBHOOK_URL") != "" {
		if o.Slack, err = OpenSlack(getenv); err != nil {
			return o, err
		}
	}
	if s.Issues.Repo == "" {
		return o, nil
	}
	if o.Hub, err = OpenHub(getenv, s.Issues.Repo); err != nil {
		return o, err
	}
	if s.PullRequest == "draft" {
		p := &Prover{Code: reader, Repo: s.Issues.Repo}
		o.Try = p.Try
	}
	return o, nil
}

// OpenSlack returns Slack with the credential of an environment: SLACK_BOT_TOKEN or SLACK_WEBHOOK_URL.
func OpenSlack(getenv func(string) string) (*Slack, error) {
	if token := getenv("SLACK_BOT_TOKEN"); token != "" {
		return Bot(token, getenv("SLACK_API_URL"), nil)
	}
	if hook := getenv("SLACK_WEBHOOK_URL"); hook != "" {
		return Webhook(hook, nil)
	}
	return nil, errors.New("slack is in the settings, but neither SLACK_BOT_TOKEN nor SLACK_WEBHOOK_URL is set")
}

// OpenHub returns a repository (owner/name) on GitHub with the credential of an environment: GITHUB_TOKEN or GH_TOKEN.
func OpenHub(getenv func(string) string, repo string) (*Hub, error) {
	token := cmp.Or(getenv("GITHUB_TOKEN"), getenv("GH_TOKEN"))
	if token == "" {
		return nil, fmt.Errorf("issues: repo: %s is in the settings, but GITHUB_TOKEN is not set: make one with the right to write issues", repo)
	}
	client, err := code.GitHub(token, getenv("GITHUB_API_URL"), nil)
	if err != nil {
		return nil, err
	}
	return NewHub(client, repo)
}
