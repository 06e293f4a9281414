package humanize_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml"

	"github.com/decantdev/decant/internal/humanize"
)

type file struct {
	Name  string `yaml:"name" json:"name"`
	Limit struct {
		Tokens int      `yaml:"tokens" json:"tokens"`
		Share  float64  `yaml:"share" json:"share"`
		On     bool     `yaml:"on" json:"on"`
		Order  []string `yaml:"order" json:"order"`
	} `yaml:"limit" json:"limit"`
}

// No type of this program reaches somebody who has only a file.
func TestWords(t *testing.T) {
	for _, c := range []struct{ src, yaml, json string }{
		{`{"limit": {"tokens": "many"}}`, "want a whole number, not a text", "/limit/tokens: want a whole number, not a text"},
		{`{"limit": {"share": "much"}}`, "want a number, not a text", "/limit/share: want a number, not a text"},
		{`{"limit": {"on": 3}}`, "want true or false, not a number", "/limit/on: want true or false, not a number"},
		{`{"limit": {"order": "x"}}`, "want a list, not a text", "/limit/order: want a list, not a text"},
		{`{"limit": 5}`, "want keys with values, not a number", "/limit: want an object, not a number"},
		{`{"name": ["a"]}`, "want a text, not a list", "/name: want a text, not a list"},
	} {
		var f file
		got := humanize.YAMLError(yaml.Unmarshal([]byte(c.src), &f), false)
		if !strings.Contains(got, c.yaml) || !strings.HasPrefix(got, "[1:") || strings.Contains(got, "Go ") {
			t.Errorf("%s as YAML: %s, want %s", c.src, got, c.yaml)
		}
		if err := humanize.JSONError(json.Unmarshal([]byte(c.src), &f)); err == nil || err.Error() != c.json {
			t.Errorf("%s as JSON: %v, want %s", c.src, err, c.json)
		}
	}
	var f file
	if got := humanize.YAMLError(yaml.Unmarshal([]byte("limit: {tokens: 99999999999999999999}"), &f), false); !strings.Contains(got, "want a whole number, not 99999999999999999999") {
		t.Error(got)
	}
	broken := json.Unmarshal([]byte(`{"name": `), &f)
	if humanize.JSONError(broken) != broken {
		t.Errorf("what is no JSON: %v", humanize.JSONError(broken))
	}
}
