package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/internal/config"
)

func hooked(t *testing.T, yaml string) (*config.Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "decant.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Load(config.Sources{File: file})
}

func TestHooks(t *testing.T) {
	c, err := hooked(t, `
allow: ["https://hooks.example.com"]
hooks:
  on_pour: {command: [/usr/local/bin/notify, --pour], timeout: 2s}
  on_budget: {url: "https://hooks.example.com/decant/1", content: true}
`)
	if err != nil {
		t.Fatal(err)
	}
	if h := c.Hooks.OnPour; len(h.Command) != 2 || h.Timeout != 2*time.Second || h.Content {
		t.Errorf("on_pour: %+v", h)
	}
	if h := c.Hooks.OnBudget; h.URL != "https://hooks.example.com/decant/1" || !h.Content {
		t.Errorf("on_budget: %+v", h)
	}
}

func TestHooksAreChecked(t *testing.T) {
	for yaml, want := range map[string]string{
		"hooks: {on_pour: {url: 'https://elsewhere.example.com/x'}}": "hooks.on_pour.url",
		"hooks: {on_pour: {url: 'ftp://api.anthropic.com'}}":         "hooks.on_pour.url",
		"hooks: {on_flush: {timeout: -1s}}":                          "hooks.on_flush.timeout",
		"hooks: {on_budget: {command: ['']}}":                        "hooks.on_budget.command",
		"hooks: {on_poor: {}}":                                       "on_poor",
	} {
		if _, err := hooked(t, yaml); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error that names %s", yaml, err, want)
		}
	}
}
