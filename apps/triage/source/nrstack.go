package source

import (
	"context"
	"fmt"
	"strings"
)

// nerdException is the query for the stack of one error. New Relic's own extensions of editors send the same.
const nerdException = `query($entity: EntityGuid!, $occurrence: String!) { actor { entity(guid: $entity) { ... on ApmApplicationEntity ` +
	`{ exception(occurrenceId: $occurrence) { message stackTrace { frames { filepath formatted line name } } } } } } }`

// mostStacks is how many stacks are asked for in one stretch of time. Events of one error have one.
const mostStacks = 100

// A nerdFrame is a line of a stack.
type nerdFrame struct {
	Filepath  string
	Formatted string // as the program's language prints it
	Line      int
	Name      string
}

// fetchStack fills in the frames of an event whose row has no stack.
func (n *NewRelic) fetchStack(ctx context.Context, row object, stacks *traces, e *Event) error {
	of, ok := stacks.find(row)
	if !ok || of.entity == "" || of.occurrence == "" {
		return nil
	}
	same := strings.Join([]string{e.Service, e.Class, e.Message, e.Transaction}, "\x00")
	got, asked := stacks.asked[same]
	if !asked {
		if len(stacks.asked) == mostStacks {
			return nil
		}
		frames, err := n.exception(ctx, of.entity, of.occurrence)
		if err != nil {
			stacks.of = nil // the next events would fail the same way
			return fmt.Errorf("the stack of %s: %w", cut(e.Class, 80), err)
		}
		got.frames, got.cause = read(row, frames)
		stacks.asked[same] = got
	}
	e.Frames, e.Cause = got.frames, got.cause
	return nil
}

// exception asks for the stack of one error. One that New Relic does not have is empty.
func (n *NewRelic) exception(ctx context.Context, entity, occurrence string) (frames []nerdFrame, err error) {
	err = n.ask(ctx, nerdException, map[string]any{"entity": entity, "occurrence": occurrence}, func(_ *nerd, a *nerdAnswer) error {
		if e := a.Data.Actor.Entity; e != nil && e.Exception != nil && e.Exception.StackTrace != nil {
			frames = e.Exception.StackTrace.Frames
		}
		return nil
	})
	return frames, err
}

// read returns what the frames of a stack say: as the language prints them, else by their fields.
func read(row object, frames []nerdFrame) ([]Frame, *Event) {
	var text strings.Builder
	var fields []Frame
	for _, f := range frames[:min(len(frames), mostFrames)] {
		text.WriteString(f.Formatted + "\n")
		if f.Filepath != "" || f.Name != "" {
			fields = append(fields, Frame{File: f.Filepath, Line: max(0, f.Line), Function: f.Name, InApp: true})
		}
	}
	if e, ok := Parse(row.headed(text.String())); ok && len(e.Frames) > 0 {
		return e.Frames, e.Cause
	}
	return fields, nil
}
