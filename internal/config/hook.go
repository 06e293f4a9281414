package config

import (
	"fmt"
	"net/url"
	"slices"
	"time"
)

// Hooks say what to notify of events.
type Hooks struct {
	OnPour   Hook `yaml:"on_pour"`
	OnFlush  Hook `yaml:"on_flush"`
	OnBudget Hook `yaml:"on_budget"`
}

// A Hook gets events: a command on its standard input, an address in a POST.
type Hook struct {
	Command []string      `yaml:"command"` // a program with its arguments
	URL     string        `yaml:"url"`     // on a host that calls may go to, see Config.Allow
	Timeout time.Duration `yaml:"timeout"` // 0: five seconds
	Content bool          `yaml:"content"` // with text of the conversation
}

// checkHooks finds hooks that cannot be.
func (c *Config) checkHooks() error {
	for _, h := range []struct {
		key string
		Hook
	}{{"on_pour", c.Hooks.OnPour}, {"on_flush", c.Hooks.OnFlush}, {"on_budget", c.Hooks.OnBudget}} {
		if h.Timeout < 0 {
			return fmt.Errorf("hooks.%s.timeout: %v is negative", h.key, h.Timeout)
		}
		if len(h.Command) > 0 && h.Command[0] == "" {
			return fmt.Errorf("hooks.%s.command: the name of the program is empty", h.key)
		}
		if h.URL != "" && !c.allows(h.URL) {
			return fmt.Errorf("hooks.%s.url: the address is not on a host that calls may go to; add its base URL to allow", h.key)
		}
	}
	return nil
}

// allows reports whether an address is on the host of a destination.
func (c *Config) allows(address string) bool {
	u, err := url.Parse(address)
	return err == nil && slices.ContainsFunc(c.Destinations(), func(d *url.URL) bool { return d.Scheme == u.Scheme && d.Host == u.Host })
}
