package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/config"
)

// The rows of upstreams come in their order, with the keys that they name; behind them stands that of the logins.
func TestUpstreams(t *testing.T) {
	name := file(t, `
upstreams:
  - {prefix: /openrouter, url: "https://openrouter.ai/api/v1"}
  - {model: "glm-*", url: "https://glm.example/v1", api_key_env: GLM_KEY}
`)
	c, err := config.Load(config.Sources{File: name, Environ: []string{"GLM_KEY=secret"}})
	if err != nil {
		t.Fatal(err)
	}
	rows := c.Routes()
	if len(rows) != 3 || rows[0].Prefix != "/openrouter" || rows[1].Key.Reveal() != "secret" || rows[2].Header != "chatgpt-account-id" {
		t.Errorf("rows %+v", rows)
	}
	if text := fmt.Sprintf("%+v", c); strings.Contains(text, "secret") {
		t.Error("a key is printed")
	}
	for upstream, logins := range map[string]int{"https://api.openai.com/v1": 3, "http://127.0.0.1:8000/v1": 2, "off": 2} {
		c, err := config.Load(config.Sources{File: name, Environ: []string{"GLM_KEY=secret"}, Flags: map[string]string{"openai_upstream": upstream}})
		if err != nil || len(c.Routes()) != logins || (c.OpenAIUpstream() == nil) != (upstream == "off") {
			t.Errorf("%s: %v, %v", upstream, c, err)
		}
	}
}

// An upstream that cannot be is refused, with what is wrong.
func TestUpstreamsThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"openai_upstream: api.openai.com":                                        "openai_upstream: want a base URL",
		"openai_upstream: 'https://u:hunter2@x/v1'":                              "credentials come from the client",
		"upstreams: [{url: 'https://x/v1'}]":                                     "upstreams[0]: no prefix, header or model",
		"upstreams: [{model: m}]":                                                "upstreams[0].url: want a base URL",
		"upstreams: [{model: m, url: 'https://x', api_key_env: NONE}]":           "upstreams[0].api_key_env: the environment has no key",
		"upstreams: [{model: m, url: 'https://x', api_key_env: A, key_file: b}]": "want either api_key_env or key_file",
		"upstreams: [{prefix: openrouter, url: 'https://x'}]":                    "does not look like /openrouter",
	} {
		_, err := config.Load(config.Sources{File: file(t, text)})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
