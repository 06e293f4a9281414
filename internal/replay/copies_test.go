package replay_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/replay"
	"github.com/decantdev/decant/token"
)

// recording returns a conversation whose messages have these ids, and usage on each answer.
func recording(named bool, ids ...string) *decant.Conversation {
	c := &decant.Conversation{Model: "claude-sonnet-4-5"}
	for i, id := range ids {
		m := decant.Message{
			Number: i + 1, Role: decant.RoleUser, Time: time.Date(2026, 6, 1, 10, i, 0, 0, time.UTC),
			Blocks: []decant.Block{{Kind: decant.KindText, Ref: decant.Ref{Message: i + 1}, Content: decant.Text(strings.Repeat(id+" ", 500))}},
		}
		if i%2 == 1 {
			m.Role, m.Model, m.Usage = decant.RoleAssistant, c.Model, &decant.Usage{Input: 10, CacheWrite: 300, CacheRead: 5000 + i*300, Output: 50}
			if named {
				m.ID = "msg_" + id
			}
		}
		c.Messages = append(c.Messages, m)
	}
	return c
}

// What forks and files that go on begin with was asked and paid for once, whether or not answers have ids.
func TestCopiesCountOnce(t *testing.T) {
	var first []string
	for i := range 12 {
		first = append(first, fmt.Sprint("word", i))
	}
	fork := append(first[:8:8], "other8", "other9", "other10", "other11")
	longer := append(first[:12:12], "more12", "more13")
	catalog, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	none, err := replay.Parse("none", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, named := range []bool{true, false} {
		all := []*decant.Conversation{recording(named, first...), recording(named, fork...), recording(named, longer...), recording(named, first...)}
		var copies replay.Copies
		for i, c := range all {
			copies.Add(i, c)
		}
		requests, paid := 0, 0.0
		for i, c := range all {
			s, err := replay.Play("x", c, replay.Options{Policies: []replay.Policy{none}, Catalog: catalog, Copied: copies.In(i)})
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Results) > 0 {
				requests += s.Results[0].Requests
				paid += s.Recorded.USD
			}
		}
		one, err := replay.Play("x", all[2], replay.Options{Policies: []replay.Policy{none}, Catalog: catalog})
		if err != nil {
			t.Fatal(err)
		}
		if requests != 6+2+1 || paid < one.Recorded.USD || paid > 1.4*one.Recorded.USD {
			t.Errorf("ids %t: %d requests for $%.4f, want 9; the longest file has 7 for $%.4f", named, requests, paid, one.Recorded.USD)
		}
		if all[1].Messages[1].Usage == nil {
			t.Error("a recording was changed")
		}
	}
}
