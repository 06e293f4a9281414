package notebook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Hooked is a notebook as the hooks of Claude Code use it.
type Hooked interface {
	// Opening returns what a new session is told, in at most so many tokens. It is empty if there is nothing to tell.
	Opening(ctx context.Context, tokens int) (string, error)

	// Completed records that a task of the client's list is completed.
	Completed(ctx context.Context, session, task string) error

	// Later starts a command of the notebook that outlives the hook.
	Later(ctx context.Context, command string, args ...string) error
}

// OpenHooked returns the notebook of a folder; an empty name is the working directory.
type OpenHooked func(ctx context.Context, dir string) (Hooked, error)

// HookTime is the time limit of a hook: a second less than the plugin allows. A hook takes a twentieth of a
// second on an idle machine. On a busy one it is worth waiting for: a session without its rules, or a task
// that is never recorded, is worse.
const HookTime = 4 * time.Second

// mostEvent is the size limit of an event, in bytes.
const mostEvent = 1 << 20

// hooks are the events that RunHook answers, as Claude Code spells them (https://code.claude.com/docs/en/hooks).
var hooks = map[string]func(ctx context.Context, e *event, out io.Writer, tokens int, h Hooked) error{
	"SessionStart":  sessionStart,
	"PreCompact":    preCompact,
	"SessionEnd":    sessionEnd,
	"TaskCompleted": taskCompleted,
}

// An event is what Claude Code says about an event.
type event struct {
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"`
	Dir        string `json:"cwd"`
	Task       string `json:"task_subject"` // of TaskCompleted
}

// RunHook answers an event of Claude Code, whose description it reads from in. It calls open for the notebook
// of a folder. A hook must never get in the way of an agent: it is quick, leaves long work to a later
// process, and returns every failure, a panic too, as an error for the log.
func RunHook(ctx context.Context, name string, in io.Reader, out io.Writer, tokens int, open OpenHooked) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("hook %s: %v", name, r)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, HookTime)
	defer cancel()
	var e event
	lenient := json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err := json.UnmarshalRead(io.LimitReader(in, mostEvent), &e, lenient); err != nil {
		return fmt.Errorf("hook %s: read standard input: %w", name, err)
	}
	answer, known := hooks[name]
	if !known {
		return fmt.Errorf("hook %s: want SessionStart, PreCompact, TaskCompleted or SessionEnd", name)
	}
	if name != "SessionStart" && e.Session == "" {
		return fmt.Errorf("hook %s: the event names no session", name)
	}
	h, err := open(ctx, e.Dir)
	if err == nil {
		err = answer(ctx, &e, out, tokens, h)
	}
	if err != nil {
		return fmt.Errorf("hook %s: %w", name, err)
	}
	return nil
}

// sessionStart tells a session the rules and open tasks. Then it starts the scans that are due, which also
// read sessions that ended without a hook.
func sessionStart(ctx context.Context, _ *event, out io.Writer, tokens int, h Hooked) error {
	text, err := h.Opening(ctx, tokens)
	if err == nil && text != "" {
		err = tell(out, text)
	}
	return errors.Join(err, h.Later(ctx, "scan"))
}

// tell writes what the model is to read.
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

var errNoTranscript = errors.New("the event names no transcript")

// preCompact records the state of a session before the client compacts it.
func preCompact(ctx context.Context, e *event, _ io.Writer, _ int, h Hooked) error {
	if e.Transcript == "" {
		return errNoTranscript
	}
	return h.Later(ctx, "learn", "--checkpoint", "--", e.Transcript)
}

// sessionEnd learns from a session.
func sessionEnd(ctx context.Context, e *event, _ io.Writer, _ int, h Hooked) error {
	if e.Transcript == "" {
		return errNoTranscript
	}
	return h.Later(ctx, "learn", "--", e.Transcript)
}

// taskCompleted records a completed task.
func taskCompleted(ctx context.Context, e *event, _ io.Writer, _ int, h Hooked) error {
	if e.Task == "" {
		return errors.New("the event names no task")
	}
	return h.Completed(ctx, e.Session, e.Task)
}
