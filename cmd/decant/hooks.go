package main

import (
	"io"
	"log/slog"
	"net/http"

	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/notice"
	"github.com/decantdev/decant/internal/process"
)

// hooks starts the hooks that a configuration asks for, nil when it asks for none.
func hooks(c *config.Config, out http.RoundTripper, log *slog.Logger) *notice.Hooks {
	on := map[string]notice.Hook{}
	for name, h := range map[string]config.Hook{notice.OnPour: c.Hooks.OnPour, notice.OnFlush: c.Hooks.OnFlush, notice.OnBudget: c.Hooks.OnBudget} {
		if one := (notice.Hook{Command: h.Command, URL: h.URL, Timeout: h.Timeout, Content: h.Content}); one.On() {
			on[name] = one
		}
	}
	if len(on) == 0 {
		return nil
	}
	return notice.NewHooks(notice.HookOptions{Hooks: on, Client: out, Logger: log})
}

// linesFor returns where the lines of presets go: to standard error, unless a program reads the log there.
func linesFor(c *config.Config, s *process.Process) io.Writer {
	if c.LogFormat == "json" {
		return nil
	}
	return s.Err
}
