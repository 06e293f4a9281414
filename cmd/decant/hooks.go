package main

import (
	"io"
	"log/slog"
	"net/http"

	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/hook"
)

// hooks starts the hooks that a configuration asks for, nil when it asks for none.
func hooks(c *config.Config, out http.RoundTripper, log *slog.Logger) *hook.Hooks {
	on := map[string]hook.Hook{}
	for name, h := range map[string]config.Hook{hook.Pour: c.Hooks.OnPour, hook.Flush: c.Hooks.OnFlush, hook.Budget: c.Hooks.OnBudget} {
		if one := (hook.Hook{Command: h.Command, URL: h.URL, Timeout: h.Timeout, Content: h.Content}); one.On() {
			on[name] = one
		}
	}
	if len(on) == 0 {
		return nil
	}
	return hook.New(hook.Options{Hooks: on, Client: out, Logger: log})
}

// linesFor returns where the lines of presets go: to standard error, unless a program reads the log there.
func linesFor(c *config.Config, s *streams) io.Writer {
	if c.LogFormat == "json" {
		return nil
	}
	return s.err
}
