package testkit

import (
	"context"
	"log/slog"
	"strings"
)

// Log returns a logger that passes every line on: its level and its text, which is the message and behind it the
// attributes as key=value. Groups are not told apart.
func Log(told func(level slog.Level, line string)) *slog.Logger {
	return slog.New(&logHandler{told: told})
}

// StrictLog returns a logger that fails a test with each error that is logged.
func StrictLog(t interface{ Errorf(string, ...any) }) *slog.Logger {
	return Log(func(level slog.Level, line string) {
		if level >= slog.LevelError {
			t.Errorf("logged: %s", line)
		}
	})
}

type logHandler struct {
	told  func(slog.Level, string)
	attrs []slog.Attr
}

// Enabled implements slog.Handler.
func (h *logHandler) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	var line strings.Builder
	line.WriteString(r.Message)
	add := func(a slog.Attr) bool {
		line.WriteString(" " + a.String())
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(add)
	h.told(r.Level, line.String())
	return nil
}

// WithAttrs implements slog.Handler.
func (h *logHandler) WithAttrs(as []slog.Attr) slog.Handler {
	return &logHandler{told: h.told, attrs: append(h.attrs[:len(h.attrs):len(h.attrs)], as...)}
}

// WithGroup implements slog.Handler.
func (h *logHandler) WithGroup(string) slog.Handler { return h }
