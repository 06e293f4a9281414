package group

import (
	"fmt"
	"slices"
	"strings"

	"github.com/decantdev/decant/apps/triage/source"
)

// How much of a group's events is told.
const (
	mostErrors = 3   // messages
	mostTraces = 3   // call stacks
	mostStack  = 500 // characters of one
)

// Traces sums up the events of a group: its three most frequent messages, three call stacks that differ, each cut to 500 characters, and the causes
// behind it. What it returns is not masked.
func (g *Group) Traces() string {
	var b strings.Builder
	all := append([]source.Event{g.Newest}, g.Others...)
	messages := frequent(all, func(e *source.Event) string { return e.Message })
	if len(messages) > 1 {
		b.WriteString("Messages:\n")
		for _, m := range messages[:min(len(messages), mostErrors)] {
			fmt.Fprintf(&b, "- %s\n", m)
		}
	}
	stacks := frequent(all, func(e *source.Event) string { return stack(e.Frames) })
	if len(stacks) > 1 {
		b.WriteString("Call stacks that differ:\n")
		for _, s := range stacks[:min(len(stacks), mostTraces)] {
			fmt.Fprintf(&b, "- %s\n", s)
		}
	}
	for c, n := g.Newest.Cause, 0; c != nil && n < mostErrors; c, n = c.Cause, n+1 {
		fmt.Fprintf(&b, "Caused by %s: %s\n%s\n", c.Class, c.Message, stack(c.Frames))
	}
	return strings.TrimRight(b.String(), "\n")
}

// frequent returns the texts that are not empty, the most frequent first.
func frequent(events []source.Event, text func(*source.Event) string) (out []string) {
	count := map[string]int{}
	for i := range events {
		t := text(&events[i])
		if t == "" {
			continue
		}
		if count[t]++; count[t] == 1 {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return count[b] - count[a] })
	return out
}

// stack writes a call stack in at most 500 characters.
func stack(frames []source.Frame) string {
	var parts []string
	n := 0
	for i, f := range frames {
		p := fmt.Sprintf("%s:%d", f.File, f.Line)
		if f.Function != "" {
			p += " " + f.Function
		}
		if n += len([]rune(p)) + 3; n > mostStack-len("... and 1000 more") {
			parts = append(parts, fmt.Sprintf("... and %d more", len(frames)-i))
			break
		}
		parts = append(parts, p)
	}
	return strings.Join(parts, " < ")
}
