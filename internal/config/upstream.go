package config

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// An Upstream is a server for the requests that meet all of its conditions. An empty condition is met by all.
type Upstream struct {
	URL     string `yaml:"url"`                   // base URL, as a client of its API has it
	Prefix  string `yaml:"prefix"`                // of the path; it does not go along
	Header  string `yaml:"header"`                // name of a header that the request has
	Model   string `yaml:"model"`                 // of whom an answer is asked; it may hold "*"
	KeyEnv  string `yaml:"api_key_env"`           // variable of the environment with the key that goes along
	KeyFile string `yaml:"key_file" names:"file"` // or file that holds it
	Key     Secret `yaml:"-"`                     // that was found; empty: the client's goes along, unless there is a Model
}

// The hosts of OpenAI's own APIs, for keys and for logins.
const (
	openAIHost = "api.openai.com"
	chatGPT    = "https://chatgpt.com/backend-api/codex"
)

// OpenAIUpstream returns the base URL of OpenAI's APIs, nil when their requests are refused.
func (c *Config) OpenAIUpstream() *url.URL {
	if u, err := parseBase(c.OpenAI); err == nil && c.OpenAI != off {
		return u
	}
	return nil
}

// Routes returns the rows of upstreams. Behind them stands one for the logins of ChatGPT, whose tokens are for
// another host than keys, where OpenAI's own API is the upstream.
func (c *Config) Routes() []Upstream {
	out := c.Upstreams[:len(c.Upstreams):len(c.Upstreams)]
	if u := c.OpenAIUpstream(); u != nil && u.Host == openAIHost {
		out = append(out, Upstream{URL: chatGPT, Header: "chatgpt-account-id"})
	}
	return out
}

// checkUpstreams finds upstreams that cannot be.
func (c *Config) checkUpstreams() error {
	if c.OpenAI != off {
		if err := checkServer("openai_upstream", c.OpenAI); err != nil {
			return err
		}
	}
	for i, u := range c.Upstreams {
		name := fmt.Sprintf("upstreams[%d]", i)
		switch {
		case u.Prefix == "" && u.Header == "" && u.Model == "":
			return errors.New(name + ": no prefix, header or model; use anthropic_upstream or openai_upstream for all requests")
		case u.Model != "" && (u.Prefix != "" || u.Header != ""): // what has no model would go elsewhere with the same key
			return errors.New(name + ": a row has a model, or a prefix or header, not both")
		case u.Prefix != "" && (!strings.HasPrefix(u.Prefix, "/") || strings.HasSuffix(u.Prefix, "/")):
			return fmt.Errorf("%s.prefix: %q does not look like /openrouter", name, u.Prefix)
		}
		if err := checkServer(name+".url", u.URL); err != nil {
			return err
		}
		if err := checkKeySource(name, u.KeyEnv, u.KeyFile); err != nil {
			return err
		}
	}
	return nil
}

// checkServer says what is wrong with the base URL of a server. It does not show a password.
func checkServer(name, s string) error {
	if u, err := url.Parse(s); err == nil && u.User != nil {
		const why = "it holds a password; credentials come from the client, or from key_file"
		return fmt.Errorf("%s %s: %s", name, u.Redacted(), why)
	}
	return checkBase(name, s)
}
