package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/config"
)

// loadSummary reads settings from the environment. A line of a file may be given as well.
func loadSummary(t *testing.T, file string, environ ...string) (*config.Config, error) {
	t.Helper()
	s := config.Sources{Environ: environ}
	if file != "" {
		s.File = filepath.Join(t.TempDir(), "decant.yaml")
		if err := os.WriteFile(s.File, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return config.Load(s)
}

// Without settings there is no model, whatever keys the environment has.
func TestNoSummaryModelByDefault(t *testing.T) {
	c, err := loadSummary(t, "", "ANTHROPIC_API_KEY=sk-ant-x", "OPENAI_API_KEY=sk-y")
	if err != nil || c.Summary.Enabled() || c.Summary.Destination() != "" || c.Summary.Key != "" || len(c.Destinations()) != 3 {
		t.Errorf("%+v, %v", c.Summary, err)
	}
}

// What keeps caches warm needs a credential under which the clients' cache is found; it needs no model for records.
func TestKeepWarmNeedsACredential(t *testing.T) {
	for _, tt := range []struct {
		file string
		ok   bool
	}{
		{"keep_warm: true", false},
		{"{keep_warm: true, summary: {use_client_credential: true, model: 'off'}}", true},
		{"{keep_warm: true, summary: {api_key_env: MY_KEY}}", false},
		{"{keep_warm: true, summary: {api_key_env: MY_KEY, shared_cache: true}}", true},
	} {
		c, err := loadSummary(t, tt.file, "MY_KEY=sk-mine")
		if (err == nil) != tt.ok || err == nil && !c.KeepWarm {
			t.Errorf("%s: %v", tt.file, err)
		}
	}
}

func TestSummarySettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("sk-of-the-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, file string
		environ    []string
		to, key    string
		enabled    bool
	}{
		{"a variable", "", []string{"DECANT_SUMMARY_API_KEY_ENV=MY_KEY", "MY_KEY=sk-mine"}, "https://api.anthropic.com", "sk-mine", true},
		{"a file", "summary: {key_file: " + file + ", base_url: 'https://proxy/x'}", nil, "https://proxy/x", "sk-of-the-file", true},
		{"a local server", "summary: {provider: openai, model: 'qwen3:8b', base_url: 'http://127.0.0.1:11434/v1'}", nil, "http://127.0.0.1:11434/v1", "", true},
		{"the client's own", "summary: {use_client_credential: true}", nil, "", "", true},
		{"off", "summary: {key_file: " + file + ", use_client_credential: true}", []string{"DECANT_SUMMARY_MODEL=off"}, "", "", false},
	} {
		c, err := loadSummary(t, tt.file, tt.environ...)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		s := &c.Summary
		if s.Enabled() != tt.enabled || s.Destination() != tt.to || s.Key.Reveal() != tt.key {
			t.Errorf("%s: enabled %v, to %q, key %q", tt.name, s.Enabled(), s.Destination(), s.Key.Reveal())
		}
		if n := len(c.Destinations()); n != 3+min(1, len(tt.to)) {
			t.Errorf("%s: %d destinations", tt.name, n)
		}
		if out := fmt.Sprintf("%v %+v %#v", c, *c, c.Summary); tt.key != "" && strings.Contains(out, tt.key) {
			t.Errorf("%s: the key is in %s", tt.name, out)
		}
	}
}

// What cannot be is an error that names the setting and no key.
func TestSummarySettingsThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"{model: x}":         "summary.model",
		"{provider: google}": "summary.provider",
		"{provider: openai, base_url: 'http://x'}":                     "summary.model",
		"{base_url: 'http://x'}":                                       "summary.base_url",
		"{provider: openai, model: m, base_url: 'http://u:hunter2@x'}": "summary.base_url",
		"{provider: openai, model: m, base_url: 'x'}":                  "summary.base_url",
		"{api_key_env: NOT_SET}":                                       "NOT_SET",
		"{key_file: /does/not/exist}":                                  "summary.key_file",
		"{api_key_env: DECANT_KEY}":                                    "another name",
		"{api_key_env: A, key_file: b}":                                "either",
		"{modle: x}":                                                   "modle",
	} {
		if _, err := loadSummary(t, "summary: "+text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
