package chat

import (
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/testing/sandbox"
)

// A chat with a model that will not be served much longer says so, when it begins and when it changes to one.
func TestChatSaysThatItsModelRetires(t *testing.T) {
	w := newWorld(t, sandbox.Reader{})
	c := w.chat(Options{Model: "claude-haiku-5-5", Now: func() time.Time { return time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC) }})
	if strings.Contains(w.notices.String(), "retire") {
		t.Errorf("of a model that stays: %q", w.notices.String())
	}
	if err := c.SetModel(t.Context(), "claude-sonnet-4-5"); err != nil {
		t.Fatal(err)
	}
	if want := "claude-sonnet-4-5 retires on 2026-11-30, in 4 days: choose another"; !strings.Contains(w.notices.String(), want) {
		t.Errorf("got %q, want %q", w.notices.String(), want)
	}
}
