package provider

import (
	"context"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// A Summarizer writes segments: what the record of a checkpoint quotes beside the lines of the messages themselves. It is asked
// once about a stretch of messages, and never about what was written.
//
// It must return when ctx is done, and may be called from several goroutines at once. What it writes is checked line by
// line: where it fails, or a record with its lines is no better, the extractive record is used.
type Summarizer interface {
	Summarize(ctx context.Context, in SummaryInput) (Summary, error)
}

// A SummaryInput is what a segment is made of and what it must keep to. Nothing of it may be changed.
type SummaryInput struct {
	Messages  []decant.Message // that it is about, with as much of tool results as the preset lets a summariser read
	MaxTokens int              // that it may have; one that is much longer is not used
	Counter   decant.Counter   // counts them as the plan does
	Wanted    []string         // exact strings that the agent uses now, the newest first
	Facts     []decant.Fact    // that it should keep; what the record lacks of them is added behind it, as far as there is room
	NoResults bool             // the preset wants nothing quoted of what tools returned
	Form      preset.Summary   // what the preset says of summaries: of model, parts, times and instructions

	Conversation store.Key   // that the messages are of, zero when it is not stored
	Model        token.Model // that the conversation is held with
	Upstream     string      // base URL of its provider, empty when there is none
	Instructions string      // what to keep and what to leave out, in place of the preset's; not to be trusted
	Focus        string      // what somebody wants it to be about; not to be trusted
	Background   bool        // nobody waits for it
	Sent         []byte      // the request whose prompt the provider has in its cache, and which begins with the messages; nil: none
}

// A Summary is what a Summarizer has written.
type Summary struct {
	Text    string
	Rung    decant.Rung  // how it was made; empty: by a model in one go, decant.RungModel
	CostUSD float64      // of the model calls made for it, those of a Summarizer that fails included
	Booked  bool         // they are in the ledger already
	Model   string       // that wrote it, empty when it is not known
	Gaps    []decant.Gap // messages that it says nothing about
	Notes   []string     // how it was asked for, for people
}
