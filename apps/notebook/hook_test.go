package notebook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/apps/notebook"
	"github.com/decantdev/decant/memory"
)

// A hooked notes what it is asked for.
type hooked struct {
	opening string
	slow    time.Duration // of everything but the opening
	did     []string
}

func (b *hooked) Opening(_ context.Context, tokens int) (string, error) {
	b.did = append(b.did, fmt.Sprint("opening ", tokens))
	return b.opening, nil
}

func (b *hooked) Completed(ctx context.Context, session, task string) error {
	return b.wait(ctx, "completed "+session+" "+task)
}

func (b *hooked) Later(ctx context.Context, command string, args ...string) error {
	return b.wait(ctx, strings.Join(append([]string{command}, args...), " "))
}

func (b *hooked) wait(ctx context.Context, what string) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(b.slow):
		b.did = append(b.did, what)
		return nil
	}
}

// run answers an event with a book.
func runHook(t *testing.T, event, in string, b *hooked) (out string, err error) {
	t.Helper()
	var w bytes.Buffer
	err = notebook.RunHook(t.Context(), event, strings.NewReader(in), &w, 700, func(_ context.Context, dir string) (notebook.Hooked, error) {
		if dir != "/src/garden" {
			return nil, errors.New("another folder: " + dir)
		}
		return b, nil
	})
	return w.String(), err
}

// events are those that the plugin names.
var events = []string{"SessionStart", "PreCompact", "TaskCompleted", "SessionEnd"}

const event = `{"session_id":"s1","transcript_path":"/t.jsonl","cwd":"/src/garden","hook_event_name":"X","source":"clear","task_subject":"Prune the roses","new member":[1]}`

// Each event of Claude Code reaches the notebook, and the beginning of a session is told its rules.
func TestEvents(t *testing.T) {
	for name, want := range map[string][]string{
		"SessionStart": {"opening 700", "scan"}, "PreCompact": {"learn --checkpoint -- /t.jsonl"}, "SessionEnd": {"learn -- /t.jsonl"},
		"TaskCompleted": {"completed s1 Prune the roses"},
	} {
		b := &hooked{opening: "Rules:\n- \"never\" <push>"}
		out, err := runHook(t, name, event, b)
		if err != nil || !slices.Equal(b.did, want) {
			t.Errorf("%s: did %q, %v; want %q", name, b.did, err, want)
		}
		if name != "SessionStart" {
			if out != "" {
				t.Errorf("%s prints %q", name, out)
			}
			continue
		}
		var said struct {
			Output struct{ HookEventName, AdditionalContext string } `json:"hookSpecificOutput"`
		}
		if err := json.Unmarshal([]byte(out), &said, json.MatchCaseInsensitiveNames(true)); err != nil || said.Output.HookEventName != name || said.Output.AdditionalContext != b.opening {
			t.Errorf("printed %s, %v", out, err)
		}
	}
}

// Where there is nothing to tell, nothing is printed.
func TestNothingToTell(t *testing.T) {
	if out, err := runHook(t, "SessionStart", event, &hooked{}); out != "" || err != nil {
		t.Errorf("printed %q, %v", out, err)
	}
}

func TestBadEvents(t *testing.T) {
	for _, in := range []string{"", "{", "[]", `{"cwd":7}`, strings.Repeat(" ", 2<<20) + "{}", "{}", "\xff"} {
		for _, name := range events {
			if _, err := runHook(t, name, in, &hooked{}); err == nil {
				t.Errorf("%s with %.20q: no error", name, in)
			}
		}
	}
	if _, err := runHook(t, "Lunch", event, &hooked{}); err == nil || !strings.Contains(err.Error(), "SessionStart") {
		t.Errorf("an event that there is not: %v", err)
	}
}

// A busy machine loses nothing; what takes too long is given up with an error, and a session is told its rules all the same.
func TestSlowBooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, name := range []string{"SessionStart", "PreCompact", "SessionEnd", "TaskCompleted"} {
			b := &hooked{slow: notebook.HookTime - time.Second}
			if _, err := runHook(t, name, event, b); err != nil || len(b.did) == 0 || strings.HasPrefix(b.did[len(b.did)-1], "opening") {
				t.Errorf("%s on a busy machine: did %q, %v", name, b.did, err)
			}
			began := time.Now()
			b = &hooked{opening: "a rule", slow: time.Hour}
			out, err := runHook(t, name, event, b)
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != notebook.HookTime || name == "SessionStart" && !strings.Contains(out, "a rule") {
				t.Errorf("%s: printed %q, %v after %s", name, out, err, time.Since(began))
			}
		}
	})
}

// A fault of a book is an error like others.
func TestPanics(t *testing.T) {
	err := notebook.RunHook(t.Context(), "PreCompact", strings.NewReader(event), nil, 1, func(context.Context, string) (notebook.Hooked, error) { panic("fell") })
	if err == nil || !strings.Contains(err.Error(), "fell") {
		t.Errorf("error %v", err)
	}
}

// What is remembered in other scopes follows the notebook: rules come first, what does not fit is left out, and observations
// are not told.
func TestOpeningBesidesTheNotebook(t *testing.T) {
	d := newDesk(t)
	b, ctx := d.book(), t.Context()
	scope := memory.Scope{Level: memory.Project, Name: "/src/garden"}
	save := func(kind memory.Kind, text string) {
		it, err := memory.New(fmt.Sprintf("m:%012x", len(text)), kind, scope, text, memory.Source{}, time.Now())
		d.no(err)
		d.no(d.db.Revise(ctx, "", scope, memory.Save(it)))
	}
	if text, err := b.Opening(ctx, 1000, scope); text != "" || err != nil {
		t.Errorf("of nothing: %q, %v", text, err)
	}
	save(memory.KindTask, "Water the orchids.")
	save(memory.KindRule, "Never push to main.")
	save(memory.KindObservation, "The user likes tabs more.")
	text, err := b.Opening(ctx, 1000, scope)
	if err != nil || !strings.HasSuffix(text, "\n- Never push to main.\nOpen tasks:\n- Water the orchids.") {
		t.Errorf("%q, %v", text, err)
	}
	if text, _ := b.Opening(ctx, 33, scope); !strings.Contains(text, "push") || strings.Contains(text, "orchids") {
		t.Errorf("in 33 tokens: %q", text)
	}
}
