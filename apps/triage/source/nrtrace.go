package source

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// mostSpans is how many steps of a request are asked for.
const mostSpans = "100"

// aroundTrace is how far from an error what belongs to its trace can be.
const aroundTrace = time.Hour

// Trace returns what a request did that has failed at a time, by the id of its trace. What New Relic does not know is an empty trace.
func (n *NewRelic) Trace(ctx context.Context, id string, at time.Time) (out Trace, err error) {
	in := " WHERE traceId = " + quote(id) + during(Window{at.Add(-aroundTrace), at.Add(aroundTrace)}) + " LIMIT " + mostSpans
	rows, err := n.query(ctx, "SELECT * FROM ErrorTrace"+in)
	if err != nil {
		return out, err
	}
	stacks := stacksOf(rows)
	for _, row := range rows {
		e, err := n.event(row, stacks)
		if err != nil {
			return out, fmt.Errorf("%s: ErrorTrace: %w", n.Name(), err)
		}
		if len(e.Frames) == 0 {
			if err := n.fetchStack(ctx, row, stacks, &e); err != nil {
				return out, fmt.Errorf("%s: ErrorTrace: %w", n.Name(), err)
			}
		}
		out.Errors = append(out.Errors, e)
	}
	if rows, err = n.query(ctx, "SELECT * FROM Span"+in); err != nil {
		return out, err
	}
	for _, row := range rows {
		s, err := span(row)
		if err != nil {
			return out, fmt.Errorf("%s: Span: %w", n.Name(), err)
		}
		out.Spans = append(out.Spans, s)
	}
	slices.SortStableFunc(out.Spans, func(a, b Span) int { return a.Start.Compare(b.Start) }) // New Relic has the newest one first
	return out, nil
}

// span reads a step of a request.
func span(row object) (s Span, err error) {
	s = Span{Name: row.text([]string{"name"}), Service: row.text(rowService), Class: row.text(rowClass), Message: cut(row.text(rowMessage), mostMessage)}
	if s.Start, err = timeOf(row["timestamp"]); err != nil {
		return s, err
	}
	if d, err := time.ParseDuration(row.text([]string{"duration.ms"}) + "ms"); err == nil {
		s.Duration = d
	} else if d, err := time.ParseDuration(row.text([]string{"duration"}) + "s"); err == nil {
		s.Duration = d
	}
	return s, nil
}
