package token_test

import (
	"math"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func say(role decant.Role, text string, u *decant.Usage) decant.Message {
	return decant.Message{
		Role: role, Usage: u, Blocks: []decant.Block{{Kind: decant.KindText, Content: decant.Text(text)}},
	}
}

func conversation(ms ...decant.Message) *decant.Conversation {
	for i := range ms {
		ms[i].Number = i + 1
	}
	return &decant.Conversation{Messages: ms}
}

func TestMeter(t *testing.T) {
	used := func(in, out int) *decant.Usage {
		return &decant.Usage{Input: in, CacheRead: 1000, CacheWrite: 10, Output: out}
	}
	user := say(decant.RoleUser, "please look at this file", nil)
	long := say(decant.RoleUser, strings.Repeat("much more text ", 100), nil)
	summary := user
	summary.Compaction = true
	e := token.For(model(t, "claude-opus-4-6"))
	tests := []struct {
		name    string
		c       *decant.Conversation
		anchor  int
		message int
	}{
		{"NoUsage", conversation(user, say(decant.RoleAssistant, "yes", nil), user), 0, 0},
		{
			"Newest",
			conversation(user, say(decant.RoleAssistant, "yes", used(5, 100)), user,
				say(decant.RoleAssistant, "no", used(50, 200)), long),
			1260, 4,
		},
		{"NothingAfter", conversation(user, say(decant.RoleAssistant, "yes", used(5, 100))), 1115, 2},
		{
			"ZeroUsageIsNone",
			conversation(user, say(decant.RoleAssistant, "yes", used(5, 100)), user,
				say(decant.RoleAssistant, "", &decant.Usage{})),
			1115, 2,
		},
		{
			"AbortedHasNoPrompt",
			conversation(user, say(decant.RoleAssistant, "yes", used(5, 100)), user,
				say(decant.RoleAssistant, "ye", &decant.Usage{Output: 3})),
			1115, 2,
		},
		{"BeforeCompactionIsOld", conversation(user, say(decant.RoleAssistant, "yes", used(5, 100)), summary, user), 0, 0},
		{
			"AfterCompaction",
			conversation(user, say(decant.RoleAssistant, "yes", used(5, 100)), summary,
				say(decant.RoleAssistant, "yes", used(7, 100))),
			1117, 4,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := token.Meter{Estimator: e}.Read(tt.c)
			if r.Anchor != tt.anchor || r.Message != tt.message || r.Tokens != r.Anchor+r.Since {
				t.Errorf("got %+v, want anchor %d of m%d and parts that add up", r, tt.anchor, tt.message)
			}
			live := tt.c.Live()
			after := e.Messages(live)
			if tt.message > 0 {
				after = e.Messages(tt.c.Messages[tt.message:])
			}
			if r.Since != after {
				t.Errorf("got %d since the anchor, want %d", r.Since, after)
			}
		})
	}
}

func TestMeterUnfinishedOutput(t *testing.T) {
	answer := strings.Repeat("a long answer ", 500)
	e := token.For(model(t, "claude-opus-4-6"))
	r := token.Meter{Estimator: e}.Read(conversation(say(decant.RoleUser, "hi", nil), say(decant.RoleAssistant, answer, &decant.Usage{Input: 1000, Output: 1})))
	if want := 1000 + e.Count(answer); r.Tokens < want {
		t.Errorf("got %d, want at least %d: the recorded output of 1 is that of a stream's start", r.Tokens, want)
	}
}

// OpenAI's models read their reasoning until the user speaks again.
func TestMeterReasoningFallsAwayWithTheTurn(t *testing.T) {
	e := token.For(model(t, "gpt-5"))
	answer := say(decant.RoleAssistant, "done", &decant.Usage{Input: 1000, Output: 500})
	answer.Blocks = append([]decant.Block{{Kind: decant.KindThinking}}, answer.Blocks...)
	visible := e.Message(&answer)
	result := decant.Message{
		Role: decant.RoleTool, Blocks: []decant.Block{{Kind: decant.KindResult, Content: decant.Text("ok")}},
	}
	more := say(decant.RoleUser, "more", nil)

	within := token.Meter{Estimator: e}.Read(conversation(say(decant.RoleUser, "hi", nil), answer, result))
	if want := 1500 + e.Message(&result); within.Tokens != want {
		t.Errorf("within the turn: got %d, want %d", within.Tokens, want)
	}
	after := token.Meter{Estimator: e}.Read(conversation(say(decant.RoleUser, "hi", nil), answer, more))
	if want := 1000 + visible + e.Message(&more); after.Tokens != want {
		t.Errorf("after the turn: got %d, want %d", after.Tokens, want)
	}
	claude := token.Meter{Estimator: token.For(model(t, "claude-opus-4-6"))}.Read(conversation(say(decant.RoleUser, "hi", nil), answer, more))
	if claude.Tokens < 1500 {
		t.Errorf("Claude keeps its thinking: got %d, want at least 1500", claude.Tokens)
	}
}

func TestCalibration(t *testing.T) {
	t.Run("ZeroChangesNothing", func(t *testing.T) {
		e := token.For(model(t, "claude-opus-4-6"))
		if got, want := e.With(token.Calibration{}).Count("some text"), e.Count("some text"); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	})
	t.Run("Converges", func(t *testing.T) {
		var c token.Calibration
		for range 200 {
			c = c.Observe(3000, 3900)
		}
		if math.Abs(c.Factor-1.3) > 0.01 {
			t.Errorf("got %.3f, want 1.3", c.Factor)
		}
		e := token.For(model(t, "claude-opus-4-6"))
		text := strings.Repeat("words and words ", 400)
		if got, want := e.With(c).Count(text), 1.3*float64(e.Count(text)); math.Abs(float64(got)-want) > want/50 {
			t.Errorf("got %d tokens, want about %.0f", got, want)
		}
	})
	t.Run("ExactTextStaysExact", func(t *testing.T) {
		e := token.For(model(t, "gpt-5"))
		if got, want := e.With(token.Calibration{Factor: 2}).Count("some text"), e.Count("some text"); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	})
	t.Run("ResetForgets", func(t *testing.T) {
		if got := (token.Calibration{Factor: 1.4, Seen: 9}).Reset(); got != (token.Calibration{}) {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("JSON", func(t *testing.T) {
		want := token.Calibration{Factor: 1.25, Seen: 4}
		src, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got token.Calibration
		if err := json.Unmarshal(src, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", src, diff)
		}
	})
}

func TestCalibrationIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := token.Calibration{Factor: rapid.Float64().Draw(t, "factor")}
		for range rapid.IntRange(1, 50).Draw(t, "n") {
			before := c
			c = c.Observe(rapid.Int().Draw(t, "estimated"), rapid.Int().Draw(t, "reported"))
			if c == before {
				continue
			}
			if !(c.Factor >= 0.5 && c.Factor <= 2) {
				t.Fatalf("factor %v", c.Factor)
			}
			if before.Seen > 0 && math.Abs(c.Factor-before.Factor) > 0.0501 {
				t.Fatalf("step from %v to %v", before.Factor, c.Factor)
			}
		}
	})
}
