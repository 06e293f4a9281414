package tracing

import (
	"context"
	"log/slog"
	"sync"

	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/decantdev/decant/internal/secret"
)

// quiet is an exporter that logs once that it fails, and once that it works again. The library would log every batch.
type quiet struct {
	sdk.SpanExporter
	log *slog.Logger

	mu     sync.Mutex
	failed bool
	lost   int
}

// ExportSpans implements sdk.SpanExporter. It never fails.
func (q *quiet) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := q.SpanExporter.ExportSpans(ctx, spans)
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case err != nil:
		q.lost += len(spans)
		if !q.failed {
			q.log.Warn("traces cannot be sent; requests are not affected, and this is said once until it works again",
				"error", secret.Mask(err.Error()))
		}
	case q.failed:
		q.log.Info("traces are sent again", "lost", q.lost)
		q.lost = 0
	}
	q.failed = err != nil
	return nil
}
