package policy

import (
	"context"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/recall"
)

// evidence measures a plan: the facts that must be kept of a conversation, and how many of them a text still
// has.
type evidence struct {
	uses  uses // what the newest messages use
	ms    []decant.Message
	quick bool          // there is no time for it: nothing is proved
	facts []decant.Fact // must-keep facts of the messages as they were, extracted once

	reader   recall.Reader
	measures map[stretch]*recall.Measure // by which texts are measured again
}

// A stretch names messages by the first one and how many they are.
type stretch struct{ from, messages int }

// mustKeep returns the facts of the conversation.
func (e *evidence) mustKeep(ctx context.Context) []decant.Fact {
	if e.facts == nil && !e.quick {
		e.facts = fact.Extract(ctx, e.ms)
	}
	return e.facts
}

// saidLast returns the must-keep facts that were said last in the messages with the given numbers.
func (e *evidence) saidLast(ctx context.Context, from, to int) []decant.Fact {
	var out []decant.Fact
	for _, f := range e.mustKeep(ctx) {
		if f.Message >= from && f.Message <= to {
			out = append(out, f)
		}
	}
	return out
}

// recalled measures the share of ms that text keeps. A quick plan is not measured.
func (e *evidence) recalled(ctx context.Context, ms []decant.Message, text string) recall.Result {
	if e.quick {
		return recall.Result{}
	}
	return e.measure(ctx, ms).HeldBy(ctx, text)
}

// measure returns what measures texts by messages.
func (e *evidence) measure(ctx context.Context, ms []decant.Message) *recall.Measure {
	if len(ms) == 0 {
		return e.reader.In(ctx, ms)
	}
	at := stretch{ms[0].Number, len(ms)}
	m := e.measures[at]
	if m == nil {
		if m = e.reader.In(ctx, ms); e.measures == nil {
			e.measures = map[stretch]*recall.Measure{}
		}
		if ctx.Err() == nil {
			e.measures[at] = m
		}
	}
	return m
}
