package summarize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/provider"
)

// A Summarizer writes records by asking a model. It has no state, and may be used by several goroutines at once.
type Summarizer struct{ opts Options }

var _ provider.Summarizer = (*Summarizer)(nil)

// Summarize implements provider.Summarizer. An error wraps decant.ErrSummary where the model has answered and nothing that it
// wrote can be used, ErrTooLarge where it cannot be asked, and otherwise what the Asker returned.
func (s *Summarizer) Summarize(ctx context.Context, in provider.SummaryInput) (provider.Summary, error) {
	ctx, cancel := context.WithTimeout(ctx, s.within(&in))
	defer cancel()
	start := time.Now()
	t, err := s.task(ctx, in)
	if err != nil {
		return provider.Summary{}, err
	}
	out, err := t.run(ctx)
	out.CostUSD, out.Booked, out.Model, out.Notes = t.spent.usd, true, t.model.ID, t.notes
	s.log(ctx, out, t.spent.calls, time.Since(start), err)
	return out, err
}

// within returns how long a record may take.
func (s *Summarizer) within(in *provider.SummaryInput) time.Duration {
	times := in.Form.Timeout.Settled()
	if in.Background {
		return cmp.Or(s.opts.Background, times.Background)
	}
	return cmp.Or(s.opts.Foreground, times.Foreground)
}

// log says what became of a task. Nothing that was asked or answered is logged.
func (s *Summarizer) log(ctx context.Context, out provider.Summary, calls int, took time.Duration, err error) {
	about := []any{"model", out.Model, "calls", calls, "cost_usd", out.CostUSD, "took", took.Round(time.Millisecond)}
	if err != nil {
		s.opts.Logger.WarnContext(ctx, "no record by a model", append(about, slog.Any("err", err))...)
		return
	}
	s.opts.Logger.InfoContext(ctx, "record by a model", append(about, "rung", out.Rung, "gaps", len(out.Gaps))...)
}

// ErrTooLarge means that the messages do not fit the model that summarises, and cannot be divided.
var ErrTooLarge = errors.New("the messages do not fit the model that summarises")

// run goes down the ladder: on the cached prompt where that is cheaper, one call, or one for each part.
func (t *task) run(ctx context.Context) (provider.Summary, error) {
	r, note := t.ride()
	if note != "" {
		t.notes = append(t.notes, note)
	}
	if r != nil {
		text, err := t.riding(ctx, r)
		if err == nil {
			t.model, t.gaps = r.model, nil // it has read everything
			return t.summary(text, decant.RungModel), nil
		}
		if ctx.Err() != nil {
			return provider.Summary{}, err
		}
		t.notes = append(t.notes, fmt.Sprintf("the call on the cached prompt failed: %.200s", secret.Mask(err.Error())))
	}
	if t.whole() {
		text, err := t.one(ctx)
		if err == nil {
			return t.summary(text, decant.RungModel), nil
		}
		if !overflows(err) {
			return provider.Summary{}, err
		}
	}
	return t.parts(ctx)
}

// whole reports whether everything fits one call.
func (t *task) whole() bool {
	return t.sizes.fits(t.size(0, len(t.entries))+t.brief.size(t.count), t.output(t.brief.room), t.model.Window)
}

// summary returns a record with what it says nothing about.
func (t *task) summary(text string, rung decant.Rung) provider.Summary {
	if len(t.gaps) > 0 {
		rung = decant.RungPartial
	}
	return provider.Summary{Text: text, Rung: rung, Gaps: t.gaps}
}
