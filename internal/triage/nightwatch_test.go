package triage_test

import (
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/triage"
	"github.com/decantdev/decant/internal/triage/source"
)

// Each key of Night Watch is honoured, or refused by its name and with the reason.
func TestTheKeysOfTheSeed(t *testing.T) {
	read := func(env map[string]string) (*triage.Settings, error) {
		return triage.ReadSettings(triage.File{Name: "none.yaml"}, func(name string) string { return env[name] })
	}
	s, err := read(map[string]string{"NIGHTWATCH_TOKEN_BUDGET_PER_ERROR": "31000", "NIGHTWATCH_TOTAL_TOKEN_BUDGET": "210000", "NIGHTWATCH_MODEL": "claude-opus-4-6",
		"NIGHTWATCH_MAX_ERRORS": "7", "NIGHTWATCH_USE_COMPACTION": "true", "NIGHTWATCH_NEW_RELIC_API_KEY": "NRAK-X", "NIGHTWATCH_NEW_RELIC_ACCOUNT_ID": "12",
		"NIGHTWATCH_NEW_RELIC_APP_NAME": "shop"})
	if err != nil || s.PerError != 31000 || s.PerRun != 210000 || s.Model != "claude-opus-4-6" || s.Most != 7 || len(s.Sources) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	if n, ok := s.Sources[0].(*source.NewRelic); !ok || n.Account != 12 || len(n.Apps) != 1 {
		t.Errorf("%+v", s.Sources[0])
	}
	for _, name := range []string{"NIGHTWATCH_USE_COMPACTION", "NIGHTWATCH_MAX_ITERATIONS", "NIGHTWATCH_THINKING_BUDGET", "NIGHTWATCH_TOTAL_TOKEN_BUDGET", "NIGHTWATCH_MAX_ERRORS"} {
		if _, err := read(map[string]string{name: "no"}); err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s, err = read(map[string]string{"NIGHTWATCH_USE_COMPACTION": "false"}); err != nil || s.Preset != "night-watch-manual" {
		t.Errorf("without compaction: %+v, %v", s, err)
	}
	if s, err = read(nil); err != nil {
		t.Fatal(err)
	}
	if s.Fill(); s.PerError != 30_000 || s.PerRun != 200_000 || s.Most != 5 {
		t.Errorf("its numbers: %+v", s)
	}
}
