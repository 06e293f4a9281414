package policy

import (
	"context"
	"errors"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/summary"
)

// A Summarizer writes the record that stands for messages which are no longer sent, see Proposal.Write. It is asked for
// one record of a pour, after it was chosen which messages go.
//
// It must return when ctx is done, and may be called from several goroutines at once. What it writes is checked: where it
// fails, or its record is not good enough, the extractive record is used.
type Summarizer interface {
	Summarize(ctx context.Context, in SummaryInput) (Summary, error)
}

// A SummaryInput is what a record is made of and what it must keep to. Nothing of it may be changed.
type SummaryInput struct {
	Messages  []decant.Message // that the record stands for, with as much of tool results as the preset lets a summariser read
	MaxTokens int              // that the record may have; a longer one is not used
	Counter   decant.Counter   // counts them as the plan does
	Facts     []decant.Fact    // that it must keep; what it lacks is added behind it, as far as there is room
	NoResults bool             // the preset wants nothing quoted of what tools returned
}

// A Summary is a record as a Summarizer has written it.
type Summary struct {
	Text    string
	Rung    decant.Rung // how it was made; empty: by a model in one go, decant.RungModel
	CostUSD float64     // of the model calls made for it, those of a Summarizer that fails included
}

// Extractive is the Summarizer that quotes the messages themselves: it needs no network, costs nothing, and writes the
// same bytes for the same messages. Every plan measures with its record, which is used where no other is.
type Extractive struct{}

// Summarize returns lines of the messages that hold the most of what must be kept.
func (Extractive) Summarize(ctx context.Context, in SummaryInput) (Summary, error) {
	s, err := summary.Extract(ctx, in.Messages, summary.Options{Budget: in.MaxTokens, Counter: in.Counter, NoResults: in.NoResults})
	return Summary{Text: s.Text, Rung: s.Rung}, err
}

var errPanic = errors.New("panic")

// ask asks a summariser for a record. That it panics is no reason to send nothing.
func ask(ctx context.Context, s Summarizer, in SummaryInput) (out Summary, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v", errPanic, v)
		}
	}()
	return s.Summarize(ctx, in)
}
