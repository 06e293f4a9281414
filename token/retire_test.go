package token_test

import (
	"testing"
	"time"

	"github.com/decantdev/decant/token"
)

func TestRetirement(t *testing.T) {
	for _, tt := range []struct{ id, at, want string }{
		{"claude-sonnet-4-5-20250929", "2026-10-01T00:00:00Z", "claude-sonnet-4-5 retires on 2026-11-30, in 60 days"},
		{"claude-sonnet-4-5", "2026-09-30T23:59:59Z", ""},
		{"claude-sonnet-4-5", "2026-11-26T09:00:00Z", "claude-sonnet-4-5 retires on 2026-11-30, in 4 days"},
		{"claude-sonnet-4-5", "2026-11-29T09:00:00Z", "claude-sonnet-4-5 retires on 2026-11-30, within a day"},
		{
			"claude-sonnet-4-5", "2026-11-30T00:00:00Z",
			"claude-sonnet-4-5 is retired since 2026-11-30: its provider refuses requests",
		},
		{"claude-opus-4-1", "2026-11-26T09:00:00Z", "claude-opus-4-1 is retired since 2026-08-05: its provider refuses requests"},
		{"claude-3-haiku", "2026-11-26T09:00:00Z", "claude-3-haiku is retired: its provider refuses requests"},
		{"claude-sonnet-5-5", "2026-11-26T09:00:00Z", ""},
		{"my-own-model", "2036-11-26T09:00:00Z", ""},
	} {
		at, err := time.Parse(time.RFC3339, tt.at)
		if err != nil {
			t.Fatal(err)
		}
		if m, _ := builtin(t).Lookup(tt.id); m.Retirement(at) != tt.want {
			t.Errorf("%s at %s: got %q, want %q", tt.id, tt.at, m.Retirement(at), tt.want)
		}
	}
}

// A file of the user's that says no date leaves the catalogue's.
func TestCatalogueKeepsItsDate(t *testing.T) {
	own, err := builtin(t).Add([]byte(`{"models":[{"id":"mine"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	later, err := own.Add([]byte(`{"as_of":"2027-01-02","models":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	if at := builtin(t).AsOf(); at.Before(time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)) || !own.AsOf().Equal(at) {
		t.Errorf("got %v, and %v with a model of one's own", at, own.AsOf())
	}
	if got := later.AsOf().Format(time.DateOnly); got != "2027-01-02" {
		t.Errorf("got %s of a file that says 2027-01-02", got)
	}
}

func TestOutdated(t *testing.T) {
	m, _ := builtin(t).Lookup("gpt-5.5")
	for at, want := range map[time.Time]string{
		m.Verified.AddDate(0, 2, 0):  "",
		m.Verified.AddDate(0, 0, 90): "the prices of gpt-5.5 were last verified on " + m.Verified.Format(time.DateOnly),
	} {
		if got := m.Outdated(at); got != want {
			t.Errorf("at %v: got %q, want %q", at, got, want)
		}
	}
	if got := (&token.Model{}).Outdated(time.Now()); got != "" {
		t.Errorf("of a model that is not known: %q", got)
	}
}
