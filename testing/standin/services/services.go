// Package services serves a sample as the services would have it: New Relic and Sentry with its errors, GitHub with its repositories, Slack with one
// channel, and the Messages API with a stand-in for a model. All of them are at one address, since their paths differ.
//
// New Relic watches every other service of the sample, Sentry the ones between: together they tell each error once.
package services

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/decantdev/decant/apps/triage/source"
	"github.com/decantdev/decant/testing/sample"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/standin/github"
	"github.com/decantdev/decant/testing/standin/newrelic"
	"github.com/decantdev/decant/testing/standin/sentry"
	"github.com/decantdev/decant/testing/standin/slack"
)

// What the stand-ins let in. The credentials are no secrets.
const (
	account      = 1234567 // of New Relic
	organization = "acme"  // of Sentry
	newRelicKey  = "NRAK-SANDBOX"
	sentryToken  = "sandbox-sentry"
	slackToken   = "xoxb-sandbox"
	GitHubToken  = "sandbox-github"
	Channel      = "#errors" // of Slack
)

// Options configures the services. Sample and Dir are required.
type Options struct {
	Sample *sample.Sample
	Dir    string        // in which the repositories of the sample are made
	Model  sandbox.Model // that answers; nil: there is no model
}

// A Server is the services, an http.Handler.
type Server struct {
	NewRelic *newrelic.Server
	Sentry   *sentry.Server
	GitHub   *github.Server
	Slack    *slack.Server
	Model    *sandbox.Server // nil: there is none
}

// New returns the services of a sample. It needs git.
func New(o Options) (*Server, error) {
	events, err := o.Sample.Events()
	if err != nil {
		return nil, err
	}
	repos, err := o.Sample.Repos(o.Dir)
	if err != nil {
		return nil, err
	}
	dirs := map[string]string{}
	for _, r := range repos {
		dirs[r.Name] = r.Dir
	}
	s, now := &Server{}, func() time.Time { return o.Sample.Now }
	if s.GitHub, err = github.New(github.Options{Repos: dirs, Token: GitHubToken}); err != nil {
		return nil, fmt.Errorf("GitHub: %w", err)
	}
	first, second := split(events)
	s.NewRelic = newrelic.New(newrelic.Options{Key: newRelicKey, Account: account, Rows: newrelic.Rows(first), Now: now})
	s.Sentry = sentry.New(sentry.Options{Token: sentryToken, Organization: organization, Issues: sentry.Issues(second), PerSecond: 40})
	s.Slack = slack.New(slack.Options{Token: slackToken, Channels: map[string]string{"C01": Channel[1:]}})
	if o.Model != nil {
		s.Model = sandbox.New(sandbox.Options{Model: o.Model})
	}
	return s, nil
}

// split shares events out, by their services in the order of their names.
func split(events []source.Event) (first, second []source.Event) {
	var names []string
	for _, e := range events {
		names = append(names, e.Service)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, e := range events {
		if slices.Index(names, e.Service)%2 == 0 {
			first = append(first, e)
		} else {
			second = append(second, e)
		}
	}
	return first, second
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == "/graphql":
		s.NewRelic.ServeHTTP(w, r)
	case strings.HasPrefix(path, "/api/0/"):
		s.Sentry.ServeHTTP(w, r)
	case path == "/slack" && r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		s.Posted(w)
	case strings.HasPrefix(path, "/api/"):
		s.Slack.ServeHTTP(w, r)
	case strings.HasPrefix(path, "/v1/") && s.Model != nil:
		s.Model.ServeHTTP(w, r)
	default:
		s.GitHub.ServeHTTP(w, r)
	}
}

// Environment returns the variables by which decant triage finds services at a base URL: NAME=VALUE.
func Environment(base string) []string {
	return []string{"ANTHROPIC_BASE_URL=" + base, "ANTHROPIC_API_KEY=sandbox", "GITHUB_API_URL=" + base + "/", "GITHUB_TOKEN=" + GitHubToken,
		"NEW_RELIC_API_KEY=" + newRelicKey, "NEW_RELIC_URL=" + base, "SENTRY_AUTH_TOKEN=" + sentryToken, "SENTRY_URL=" + base, "SLACK_API_URL=" + base + "/api/", "SLACK_BOT_TOKEN=" + slackToken}
}

// Posted writes what was posted in the channel, each message with the replies of its thread.
func (s *Server) Posted(w io.Writer) {
	all := s.Slack.Messages()
	if len(all) == 0 {
		fmt.Fprintf(w, "Nothing was posted in %s.\n", Channel)
	}
	for _, m := range all {
		if m.Thread != "" {
			continue
		}
		fmt.Fprintf(w, "%s\n%s\n", Channel, m.Text)
		for _, reply := range all {
			if reply.Thread == m.TS {
				fmt.Fprintf(w, "\n    %s\n", strings.ReplaceAll(reply.Text, "\n", "\n    "))
			}
		}
	}
}

// Settings returns a settings file of decant triage for the services of a sample. Where they are says the environment.
func Settings(s *sample.Sample) string {
	var b strings.Builder
	fmt.Fprintf(&b, "sources:\n  - {type: newrelic, account: %d}\n  - {type: sentry, organization: %s}\n", account, organization)
	repos, err := yaml.Marshal(map[string]any{"repos": s.Mapped()})
	if err != nil {
		panic(err) // of words and lists of them
	}
	b.Write(repos)
	b.WriteString("services:\n")
	of := s.Services()
	for _, name := range slices.Sorted(maps.Keys(of)) {
		fmt.Fprintf(&b, "  %q: %q\n", name, of[name])
	}
	fmt.Fprintf(&b, "slack: {channel: %q}\n", Channel)
	if repos := s.Mapped(); len(repos) > 0 {
		fmt.Fprintf(&b, "# issues: {repo: %q}\n# pull_request: draft\n", repos[0].Name)
	}
	return b.String()
}
