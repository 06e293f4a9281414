package deliver_test

import (
	"strings"
	"testing"

	"github.com/decantdev/decant/apps/triage/internal/deliver"
)

func TestSettings(t *testing.T) {
	for want, s := range map[string]deliver.Settings{
		"neither draft nor off":      {PullRequest: "yes"},
		"name the repository":        {PullRequest: "draft"},
		"not of the form owner/name": {Issues: deliver.IssueSettings{Repo: "shop"}},
		"must not be negative":       {Issues: deliver.IssueSettings{Repo: "acme/shop", Most: -1}},
	} {
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
	ok := deliver.Settings{PullRequest: "draft", Issues: deliver.IssueSettings{Repo: "acme/shop"}}
	if err := ok.Check(); err != nil {
		t.Error(err)
	}
}
