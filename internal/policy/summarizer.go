package policy

import (
	"context"
	"errors"
	"fmt"

	"github.com/decantdev/decant/internal/summary"
	"github.com/decantdev/decant/provider"
)

// Extractive is the Summarizer that quotes the messages themselves: it needs no network, costs nothing, and writes the
// same bytes for the same messages. Every plan measures with its record, which is used where no other is.
type Extractive struct{}

// Summarize returns lines of the messages that hold the most of what must be kept.
func (Extractive) Summarize(ctx context.Context, in provider.SummaryInput) (provider.Summary, error) {
	s, err := summary.Extract(ctx, in.Messages, summary.Options{Budget: in.MaxTokens, Counter: in.Counter, NoResults: in.NoResults, Wanted: in.Wanted})
	return provider.Summary{Text: s.Text, Rung: s.Rung}, err
}

var errPanic = errors.New("panic")

// ask asks a summariser for a record. That it panics is no reason to send nothing.
func ask(ctx context.Context, s provider.Summarizer, in provider.SummaryInput) (out provider.Summary, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v", errPanic, v)
		}
	}()
	return s.Summarize(ctx, in)
}
