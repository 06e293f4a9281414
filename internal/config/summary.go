package config

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
)

// Summary says which model writes records, and with whose credential. Without a credential no model is asked, and records are
// extractive.
type Summary struct {
	Model    string `yaml:"model"`                 // id; off: none; empty: the cheapest of its provider that will do
	Provider string `yaml:"provider"`              // anthropic, or openai for whatever speaks Chat Completions; empty: anthropic
	BaseURL  string `yaml:"base_url"`              // of its API; empty: the provider's own
	KeyEnv   string `yaml:"api_key_env"`           // variable of the environment that holds the key
	KeyFile  string `yaml:"key_file" names:"file"` // or file that holds it
	Client   bool   `yaml:"use_client_credential"` // calls about a client's conversation may be made with that client's own credential
	Shared   bool   `yaml:"shared_cache"`          // the key is of the same workspace as the clients', so that the provider's cache is one
	Limits   Limits `yaml:"limits"`                // of own calls, for each tenant
	Key      Secret `yaml:"-"`                     // that was found
}

// Limits limit own calls. Zero means the default, a negative number that there is no such limit.
type Limits struct {
	Calls   int     `yaml:"calls"`           // in ten minutes; after that no calls for half an hour
	Session float64 `yaml:"usd_per_session"` // dollars for a conversation; by default there is no such limit
	Hour    float64 `yaml:"usd_per_hour"`
	Day     float64 `yaml:"usd_per_day"`
}

// off is the name that turns the model off.
const off = "off"

// The providers that a summary may name, with the base URLs of their own APIs.
var summaryBases = map[string]string{"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1"}

// Enabled reports whether a model may be asked for records.
func (s *Summary) Enabled() bool { return s.Configured() || s.Client && s.Model != off }

// Configured reports whether there is a destination for own calls besides those of the clients.
func (s *Summary) Configured() bool {
	return s.Model != off && (s.BaseURL != "" || s.KeyEnv != "" || s.KeyFile != "")
}

// Destination returns the base URL that own calls go to, empty when none is configured.
func (s *Summary) Destination() string {
	switch {
	case !s.Configured():
		return ""
	case s.BaseURL != "":
		return s.BaseURL
	}
	return summaryBases[s.Provider]
}

// resolve checks the settings, and reads the key.
func (s *Summary) resolve(environ []string) error {
	if s.Provider == "" {
		s.Provider = "anthropic"
	}
	if summaryBases[s.Provider] == "" {
		return fmt.Errorf("summary.provider: %q is not anthropic or openai", s.Provider)
	}
	if s.Model == off {
		return nil
	}
	err := checkKeySource("summary", s.KeyEnv, s.KeyFile)
	if err == nil {
		err = s.check()
	}
	if err == nil {
		s.Key, err = keyOf("summary", s.KeyEnv, s.KeyFile, environ)
	}
	return err
}

// check finds settings that do not go together.
func (s *Summary) check() error {
	switch {
	case s.Model != "" && !s.Enabled():
		return errors.New("summary.model: there is no credential to ask it with; name one in summary.api_key_env or summary.key_file, " +
			"the server in summary.base_url if it wants none, or set use_client_credential")
	case s.Provider == "openai" && s.Configured() && s.Model == "":
		return errors.New("summary.model: the server at summary.base_url may have any; name one")
	case s.Provider == "anthropic" && s.BaseURL != "" && s.KeyEnv == "" && s.KeyFile == "":
		return errors.New("summary.base_url: the Messages API wants a key; name it in summary.api_key_env or summary.key_file")
	}
	if s.BaseURL == "" {
		return nil
	}
	return checkBase("summary.base_url", s.BaseURL)
}

// checkBase says what is wrong with a base URL. It does not show a password.
func checkBase(name, s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return fmt.Errorf("%s: the address cannot be parsed; want one like http://127.0.0.1:11434/v1", name)
	case u.User != nil:
		return fmt.Errorf("%s: it holds a password; put it into summary.key_file", name)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.RawQuery != "", u.Fragment != "":
		return fmt.Errorf("%s: want a base URL like http://127.0.0.1:11434/v1", name)
	}
	return nil
}

// checkKeySource says what is wrong with the places of a key, in the settings below a name.
func checkKeySource(name, env, file string) error {
	switch {
	case env != "" && file != "":
		return fmt.Errorf("%s: want either api_key_env or key_file", name)
	case strings.HasPrefix(env, prefix):
		return fmt.Errorf("%s.api_key_env: %s: variables that begin with DECANT_ are settings; give the variable another name", name, env)
	}
	return nil
}

// keyOf reads a key from the environment or a file, empty where neither is named. Errors do not quote it.
func keyOf(name, env, file string, environ []string) (Secret, error) {
	var key string
	switch {
	case env != "":
		for _, e := range environ {
			if n, value, _ := strings.Cut(e, "="); n == env {
				key = value
			}
		}
	case file != "":
		data, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("%s.key_file: %w", name, err)
		}
		key = string(data)
	default:
		return "", nil
	}
	if key = strings.TrimSpace(key); key == "" || strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		if env != "" {
			return "", fmt.Errorf("%s.api_key_env: the environment has no key in %s", name, env)
		}
		return "", fmt.Errorf("%s.key_file: %s holds no key; want it on one line", name, file)
	}
	return Secret(key), nil
}
