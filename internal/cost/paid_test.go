package cost_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/token"
)

// What was paid is the sum of the recorded usage, each answer once, by the model that gave it.
func TestPaidFor(t *testing.T) {
	answer := func(id, model string, u *decant.Usage, text string) decant.Message {
		return decant.Message{
			ID: id, Role: decant.RoleAssistant, Model: model, Time: day, Usage: u,
			Blocks: []decant.Block{{Kind: decant.KindText, Content: decant.Text(text)}},
		}
	}
	u := &decant.Usage{Input: 10, CacheRead: 90_000, CacheWrite: 2000, Write1h: 1500, Output: 400}
	c := &decant.Conversation{Model: "claude-opus-4-6", Messages: []decant.Message{
		{Role: decant.RoleUser},
		answer("1", "claude-opus-4-6", u, "ok"),
		answer("1", "claude-opus-4-6", u, "ok"), // the same once more
		answer("2", "claude-haiku-4-5", u, "ok"),
		answer("", "", u, "ok"), // of the model of the conversation
		answer("3", "claude-opus-4-6", nil, "nothing recorded"),
	}}
	find := func(id string) token.Model { return model(t, id) }
	got := cost.PaidFor(c, find)
	opus, _ := cost.Of(find("claude-opus-4-6"), *u, cost.Terms{At: day}).Total()
	haiku, _ := cost.Of(find("claude-haiku-4-5"), *u, cost.Terms{At: day}).Total()
	if got.Requests != 3 || math.Abs(got.USD-2*opus-haiku) > 1e-12 || got.Unpriced {
		t.Errorf("%+v, want $%.6f", got, 2*opus+haiku)
	}
	if diff := cmp.Diff(u.Add(*u).Add(*u), got.Usage); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	c.Messages = append(c.Messages, answer("4", "a-model-of-your-own", u, "ok"))
	if got := cost.PaidFor(c, find); !got.Unpriced {
		t.Errorf("a model without prices was priced: %+v", got)
	}
}

// Clients note the usage of an answer as it begins: its text is the better witness where it counts more.
func TestAnswered(t *testing.T) {
	e := token.For(model(t, "claude-opus-4-6"))
	m := decant.Message{
		Usage:  &decant.Usage{Output: 3},
		Blocks: []decant.Block{{Kind: decant.KindText, Content: decant.Text(strings.Repeat("word ", 400))}},
	}
	if n := cost.Answered(&m, e); n < 300 || n > 600 {
		t.Errorf("%d tokens for 400 words, of which 3 were recorded", n)
	}
	if m.Usage.Output = 900; cost.Answered(&m, e) != 900 {
		t.Error("what was recorded with the thinking in it is not believed")
	}
	if m.Usage = nil; cost.Answered(&m, e) < 300 {
		t.Error("an answer without usage counts nothing")
	}
}

// A prefix that another session has left in the cache is found.
func TestSeed(t *testing.T) {
	for id, want := range map[string]decant.Usage{
		"claude-sonnet-4-6": {CacheRead: 4000, CacheWrite: 6000},
		"gpt-6-sol":         {CacheRead: 4000, CacheWrite: 6000},
		"claude-opus-4-5":   {CacheWrite: 10_000}, // 4,000 are under its minimum
	} {
		c := cost.NewCache(model(t, id))
		c.Seed(after(0, many(0, 4, "5m")))
		if diff := cmp.Diff(want, c.Send(after(time.Minute, join(many(0, 4, "5m"), many(4, 6, "5m"))))); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", id, diff)
		}
		if u := c.Send(after(2*time.Hour, many(0, 4, "5m"))); u.CacheRead > 0 {
			t.Errorf("%s: %+v after two hours", id, u)
		}
	}
}
