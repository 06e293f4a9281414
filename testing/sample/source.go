package sample

import (
	"context"
	"iter"

	"github.com/decantdev/decant/apps/triage/source"
)

// Source returns the errors of the sample as a source.
func (s *Sample) Source() source.Source { return told{s} }

// told is the errors of a sample.
type told struct{ *Sample }

// Name implements source.Source.
func (t told) Name() string { return "sample " + t.Sample.Name }

// Events implements source.Source.
func (t told) Events(ctx context.Context, in source.Window) iter.Seq2[source.Event, error] {
	return func(yield func(source.Event, error) bool) {
		all, err := t.Sample.Events()
		if err != nil {
			yield(source.Event{}, err)
			return
		}
		for _, e := range all {
			if in.Contains(e.Time) && !yield(e, ctx.Err()) {
				return
			}
		}
	}
}

// Check implements source.Source.
func (t told) Check(context.Context) error {
	_, err := t.Sample.Events()
	return err
}
