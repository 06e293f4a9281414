package secret

import (
	"context"
	"log/slog"
)

// Handler returns a handler that masks the credentials in what it passes on: in messages, strings and errors.
func Handler(to slog.Handler) slog.Handler {
	if h, ok := to.(handler); ok {
		return h
	}
	return handler{to}
}

type handler struct{ to slog.Handler }

// Enabled implements slog.Handler.
func (h handler) Enabled(ctx context.Context, l slog.Level) bool { return h.to.Enabled(ctx, l) }

// Handle implements slog.Handler.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	masked := slog.NewRecord(r.Time, r.Level, Mask(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		masked.AddAttrs(maskAttr(a))
		return true
	})
	return h.to.Handle(ctx, masked)
}

// WithAttrs implements slog.Handler.
func (h handler) WithAttrs(as []slog.Attr) slog.Handler {
	return handler{h.to.WithAttrs(maskAttrs(as))}
}

// WithGroup implements slog.Handler.
func (h handler) WithGroup(name string) slog.Handler { return handler{h.to.WithGroup(name)} }

func maskAttrs(as []slog.Attr) []slog.Attr {
	out := make([]slog.Attr, len(as))
	for i, a := range as {
		out[i] = maskAttr(a)
	}
	return out
}

func maskAttr(a slog.Attr) slog.Attr {
	switch v := a.Value.Resolve(); v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, Mask(v.String()))
	case slog.KindGroup:
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(maskAttrs(v.Group())...)}
	case slog.KindAny:
		if err, ok := v.Any().(error); ok {
			return slog.String(a.Key, Mask(err.Error()))
		}
	}
	return a
}
