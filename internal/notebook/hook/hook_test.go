package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store/sqlite"
)

// A book notes what it is asked for.
type book struct {
	opening string
	slow    time.Duration // of everything but the opening
	did     []string
}

func (b *book) Opening(_ context.Context, tokens int) (string, error) {
	b.did = append(b.did, fmt.Sprint("opening ", tokens))
	return b.opening, nil
}

func (b *book) CatchUp(ctx context.Context) error { return b.wait(ctx, "caught up") }

func (b *book) Checkpoint(ctx context.Context, session, transcript string) error {
	return b.wait(ctx, "checkpoint "+session+" "+transcript)
}

func (b *book) Ended(ctx context.Context, session, transcript string) error {
	return b.wait(ctx, "ended "+session+" "+transcript)
}

func (b *book) Completed(ctx context.Context, session, task string) error {
	return b.wait(ctx, "completed "+session+" "+task)
}

func (b *book) wait(ctx context.Context, what string) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(b.slow):
		b.did = append(b.did, what)
		return nil
	}
}

// run answers an event with a book.
func run(t *testing.T, event, in string, b *book) (out string, err error) {
	t.Helper()
	var w bytes.Buffer
	err = Run(t.Context(), event, strings.NewReader(in), &w, 700, func(_ context.Context, dir string) (Book, error) {
		if dir != "/src/garden" {
			return nil, errors.New("another folder: " + dir)
		}
		return b, nil
	})
	return w.String(), err
}

const event = `{"session_id":"s1","transcript_path":"/t.jsonl","cwd":"/src/garden","hook_event_name":"X","source":"clear","task_subject":"Prune the roses","new member":[1]}`

// Each event of Claude Code reaches the notebook, and the beginning of a session is told its rules.
func TestEvents(t *testing.T) {
	for name, want := range map[string][]string{
		"SessionStart": {"opening 700", "caught up"}, "PreCompact": {"checkpoint s1 /t.jsonl"}, "SessionEnd": {"ended s1 /t.jsonl"}, "TaskCompleted": {"completed s1 Prune the roses"}, "Stop": nil,
	} {
		b := &book{opening: "Rules:\n- \"never\" <push>"}
		out, err := run(t, name, event, b)
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
	if out, err := run(t, "SessionStart", event, &book{}); out != "" || err != nil {
		t.Errorf("printed %q, %v", out, err)
	}
}

func TestBadEvents(t *testing.T) {
	for _, in := range []string{"", "{", "[]", `{"cwd":7}`, strings.Repeat(" ", 2<<20) + "{}", "{}", "\xff"} {
		for _, name := range events {
			if _, err := run(t, name, in, &book{}); err == nil && (name != "Stop" || in != "{}") {
				t.Errorf("%s with %.20q: no error", name, in)
			}
		}
	}
	if _, err := run(t, "Lunch", event, &book{}); err == nil || !strings.Contains(err.Error(), "SessionStart") {
		t.Errorf("an event that there is not: %v", err)
	}
}

// A busy machine loses nothing; what takes too long is given up with an error, and a session is told its rules all the same.
func TestSlowBooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, name := range []string{"SessionStart", "PreCompact", "SessionEnd", "TaskCompleted"} {
			b := &book{slow: Patient - time.Second}
			if _, err := run(t, name, event, b); err != nil || len(b.did) == 0 || strings.HasPrefix(b.did[len(b.did)-1], "opening") {
				t.Errorf("%s on a busy machine: did %q, %v", name, b.did, err)
			}
			began := time.Now()
			b = &book{opening: "a rule", slow: time.Hour}
			out, err := run(t, name, event, b)
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != Patient || name == "SessionStart" && !strings.Contains(out, "a rule") {
				t.Errorf("%s: printed %q, %v after %s", name, out, err, time.Since(began))
			}
		}
	})
}

// A fault of a book is an error like others.
func TestPanics(t *testing.T) {
	err := Run(t.Context(), "PreCompact", strings.NewReader(event), nil, 1, func(context.Context, string) (Book, error) { panic("fell") })
	if err == nil || !strings.Contains(err.Error(), "fell") {
		t.Errorf("error %v", err)
	}
}

// Rules come first, what does not fit is left out, and observations are not told.
func TestMemories(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "decant.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	scope := memory.Scope{Level: memory.Project, Name: "/src/garden"}
	save := func(kind memory.Kind, text string) {
		id := fmt.Sprintf("m:%012x", len(text))
		it, err := memory.New(id, kind, scope, text, memory.Source{}, time.Now())
		if err == nil {
			err = db.Revise(t.Context(), "", scope, memory.Save(it))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	m := Memories{Store: db, Scopes: []memory.Scope{scope}, Count: func(s string) int { return len(strings.Fields(s)) }}
	if text, err := m.Opening(t.Context(), 1000); text != "" || err != nil {
		t.Errorf("of nothing: %q, %v", text, err)
	}
	save(memory.KindTask, "Water the orchids.")
	save(memory.KindRule, "Never push to main.")
	save(memory.KindObservation, "The user likes tabs more.")
	text, err := m.Opening(t.Context(), 1000)
	if err != nil || !strings.HasSuffix(text, "\n- Never push to main.\nOpen tasks:\n- Water the orchids.") {
		t.Errorf("%q, %v", text, err)
	}
	if text, _ := m.Opening(t.Context(), 29); !strings.Contains(text, "push") || strings.Contains(text, "orchids") || len(strings.Fields(text)) > 29 {
		t.Errorf("in 29 tokens: %q", text)
	}
}
