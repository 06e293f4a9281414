// Package hook answers the hooks of Claude Code: at the beginning of a session it says what earlier ones have left, and before
// a compaction and at the end of a session it saves a checkpoint.
//
// A hook must never be in the way: it is quick, and what fails is an error for the log, never for the agent. What takes long
// is begun by it, and goes on behind it.
// What the events are, what they are given and what they may print is Claude Code's to say
// (https://code.claude.com/docs/en/hooks).
package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Book is a notebook as hooks use it.
type Book interface {
	// Opening returns what a new session is told, in at most so many tokens; empty when there is nothing to tell.
	Opening(ctx context.Context, tokens int) (string, error)

	// CatchUp sees to what the schedules have asked for since it was called last.
	CatchUp(ctx context.Context) error

	// Checkpoint saves what a session is about, from the client's file of it, before the client compacts it.
	Checkpoint(ctx context.Context, session, transcript string) error

	// Ended takes over what a session has brought, from the client's file of it.
	Ended(ctx context.Context, session, transcript string) error

	// Completed notes that a task of the client's list is completed.
	Completed(ctx context.Context, session, task string) error
}

// Patient is how long a hook may take: a second less than what the plugin asks the client for. It takes a twentieth of a second
// where the machine is free. Where it is busy it is waited for, because a session without its rules, or a task that is never
// noted, is worse than a session that waits.
const Patient = 4 * time.Second

// mostInput is how many bytes an event may have.
const mostInput = 1 << 20

// events are the names of the events that Run answers, as Claude Code spells them.
var events = []string{"SessionStart", "PreCompact", "TaskCompleted", "Stop", "SessionEnd"}

// An input is what Claude Code says about an event.
type input struct {
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"`
	Dir        string `json:"cwd"`
	Event      string `json:"hook_event_name"`
	Task       string `json:"task_subject"` // of TaskCompleted
}

// Run answers an event whose description is read from in. open returns the notebook of a folder; it is called only for events
// that need one. Stop comes after every turn, and nothing is done then: older plugins ask all the same.
func Run(ctx context.Context, event string, in io.Reader, out io.Writer, tokens int, open func(ctx context.Context, dir string) (Book, error)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("hook %s: %v", event, r)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, Patient)
	defer cancel()
	var e input
	lenient := json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err := json.UnmarshalRead(io.LimitReader(in, mostInput), &e, lenient); err != nil {
		return fmt.Errorf("hook %s: read standard input: %w", event, err)
	}
	switch event {
	case "SessionStart":
		err = start(ctx, &e, out, tokens, open)
	case "PreCompact":
		err = save(ctx, &e, open, Book.Checkpoint)
	case "SessionEnd":
		err = save(ctx, &e, open, Book.Ended)
	case "TaskCompleted":
		err = complete(ctx, &e, open)
	case "Stop":
	default:
		err = fmt.Errorf("want one of %v", events)
	}
	if err != nil {
		return fmt.Errorf("hook %s: %w", event, err)
	}
	return nil
}

// start tells a session what earlier ones have left, and then sees to what the schedules ask for.
func start(ctx context.Context, e *input, out io.Writer, tokens int, open func(context.Context, string) (Book, error)) error {
	b, err := open(ctx, e.Dir)
	if err != nil {
		return err
	}
	text, err := b.Opening(ctx, tokens)
	if err == nil && text != "" {
		err = tell(out, text)
	}
	return errors.Join(err, b.CatchUp(ctx))
}

// tell writes what the model is to be told.
func tell(out io.Writer, text string) error {
	type specific struct {
		Event string `json:"hookEventName"`
		Text  string `json:"additionalContext"`
	}
	answer := struct {
		Specific specific `json:"hookSpecificOutput"`
	}{specific{"SessionStart", text}}
	return json.MarshalWrite(out, answer, jsontext.AllowInvalidUTF8(true))
}

// save does something about the client's file of the session.
func save(ctx context.Context, e *input, open func(context.Context, string) (Book, error), do func(Book, context.Context, string, string) error) error {
	if e.Session == "" || e.Transcript == "" {
		return errors.New("the event names no session and transcript")
	}
	b, err := open(ctx, e.Dir)
	if err != nil {
		return err
	}
	return do(b, ctx, e.Session, e.Transcript)
}

// complete notes a completed task.
func complete(ctx context.Context, e *input, open func(context.Context, string) (Book, error)) error {
	if e.Session == "" || e.Task == "" {
		return errors.New("the event names no session and task")
	}
	b, err := open(ctx, e.Dir)
	if err != nil {
		return err
	}
	return b.Completed(ctx, e.Session, e.Task)
}
