package investigate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/triage/code"
	"github.com/decantdev/decant/apps/triage/source"
)

// A Tracer is a source of errors that keeps what requests did that have failed.
type Tracer interface {
	Name() string

	// Trace returns what the request did that has failed at a time, by the id of its trace. What it does not know is an empty trace.
	Trace(ctx context.Context, id string, at time.Time) (source.Trace, error)
}

// A TraceRef names the trace of a request in which an error happened.
type TraceRef struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
}

// getTraces is the name of the tool that shows traces.
const getTraces = "get_error_traces"

// traces returns the tool that shows what the requests did in which an error happened. It shows no code, so nothing of it is evidence.
func (v *Investigator) traces(refs []TraceRef, seen *code.Seen) agent.Tool {
	t := agent.Func(getTraces, "Shows what the requests did in which this error happened, at most three of them: their errors with the whole call stacks, and their steps with the time that each took.",
		func(ctx context.Context, _ *agent.Call, _ struct{}) (agent.Result, error) {
			text, err := v.traced(ctx, refs)
			if err != nil {
				return agent.Result{}, errors.New(v.masked(err.Error()))
			}
			most := code.MostTraces
			if !v.o.Off.On(LayerCaps) {
				most = code.MostWhole
			}
			text = quote(v.masked(text))
			text = strings.TrimSuffix(text, "\n")
			short := code.Cut(text, most, "There is no way to see them.")
			seen.Add(code.Answer{Left: utf8.RuneCountInString(text) - utf8.RuneCountInString(short)})
			return agent.Result{Text: short}, nil
		})
	t.ReadOnly, t.Parallel, t.Idempotent = true, true, true
	return t
}

// traced returns what the sources know of traces. One that fails is a line of it; where all of them do, it is an error.
func (v *Investigator) traced(ctx context.Context, refs []TraceRef) (string, error) {
	var b strings.Builder
	var faults []error
	for i, ref := range refs {
		for _, from := range v.o.Traces {
			got, err := from.Trace(ctx, ref.ID, ref.At)
			if err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", from.Name(), err))
				continue
			}
			if len(got.Errors)+len(got.Spans) > 0 {
				fmt.Fprintf(&b, "Request %d, %s\n", i+1, ref.At.UTC().Format(time.RFC3339))
				writeTrace(&b, &got)
			}
		}
	}
	if b.Len() == 0 && len(faults) > 0 {
		return "", errors.Join(faults...)
	}
	for _, err := range faults {
		fmt.Fprintf(&b, "(%v)\n", err)
	}
	return cmp.Or(b.String(), "No trace is known of this error."), nil
}

// writeTrace writes what a request did.
func writeTrace(b *strings.Builder, t *source.Trace) {
	for i := range t.Errors {
		for e := &t.Errors[i]; e != nil; e = e.Cause {
			if e != &t.Errors[i] {
				b.WriteString("caused by ")
			}
			fmt.Fprintf(b, "%s: %s\n%s", cmp.Or(e.Class, "error"), e.Message, stack(e.Frames))
		}
	}
	for i := range t.Spans {
		s := &t.Spans[i]
		fmt.Fprintf(b, "step +%v", s.Start.Sub(t.Spans[0].Start).Round(time.Millisecond))
		if s.Duration > 0 {
			fmt.Fprintf(b, ", took %v", s.Duration.Round(time.Millisecond/10))
		}
		fmt.Fprintf(b, ": %s", s.Name)
		if s.Service != "" {
			fmt.Fprintf(b, " (%s)", s.Service)
		}
		if s.Class != "" || s.Message != "" {
			fmt.Fprintf(b, " failed: %s: %s", cmp.Or(s.Class, "error"), s.Message)
		}
		b.WriteByte('\n')
	}
}

// masked returns a text without what must not be seen.
func (v *Investigator) masked(text string) string {
	if v.o.Mask == nil {
		return text
	}
	return v.o.Mask(text)
}
