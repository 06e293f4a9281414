package deliver

import (
	"errors"
	"fmt"
	"strings"
)

// Settings say where the results of runs go. Zero fields: nowhere.
type Settings struct {
	Slack       SlackSettings `yaml:"slack"`
	Issues      IssueSettings `yaml:"issues"`
	PullRequest string        `yaml:"pull_request"` // "draft" or "off"; empty: off
}

// SlackSettings say where in Slack. The token, or the address of an incoming webhook, is no setting: it is a secret.
type SlackSettings struct {
	Channel string `yaml:"channel"` // "#errors", or its id
}

// IssueSettings say where issues are opened.
type IssueSettings struct {
	Repo    string   `yaml:"repo"`     // owner/name
	Labels  []string `yaml:"labels"`   // the first one is how ours are found; empty: defaultLabel
	Most    int      `yaml:"max"`      // that a run opens; 0: defaultIssues
	MostAll int      `yaml:"max_open"` // that may be open; 0 and more: mostOpen
}

const (
	// defaultLabel is the label of issues.
	defaultLabel = "decant-triage"

	// defaultIssues is how many issues a run opens at most.
	defaultIssues = 3

	// mostOpen is how many issues of ours may be open at most, whatever the settings say.
	mostOpen = 10
)

// Check says what is wrong with settings.
func (s *Settings) Check() error {
	switch {
	case s.PullRequest != "" && s.PullRequest != "draft" && s.PullRequest != "off":
		return fmt.Errorf("pull_request: %q is neither draft nor off", s.PullRequest)
	case s.PullRequest == "draft" && s.Issues.Repo == "":
		return errors.New("pull_request: name the repository under issues, as repo: owner/name")
	case s.Issues.Repo != "" && !isRepo(s.Issues.Repo):
		return fmt.Errorf("issues: repo: %q is not of the form owner/name", s.Issues.Repo)
	case min(s.Issues.Most, s.Issues.MostAll) < 0:
		return errors.New("issues: max and max_open must not be negative")
	}
	return nil
}

func isRepo(name string) bool {
	owner, rest, ok := strings.Cut(name, "/")
	return ok && owner != "" && rest != "" && !strings.ContainsAny(rest, "/ ")
}

// fill fills in what nobody has said.
func (s *IssueSettings) fill() {
	if len(s.Labels) == 0 {
		s.Labels = []string{defaultLabel}
	}
	if s.Most == 0 {
		s.Most = defaultIssues
	}
	if s.MostAll == 0 || s.MostAll > mostOpen {
		s.MostAll = mostOpen
	}
}
